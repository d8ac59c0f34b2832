// SPDX-License-Identifier: Apache-2.0
#include "selftest_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "collected_run.hpp"

namespace assay {
namespace {

using nlohmann::json;

/// What the chain said of one planted fault.
struct finding {
  bool detected = false;
  std::string how;
};

struct planted_check {
  std::string device;
  json result;
  json evidence;  // the whole line: evidence and verdict
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

finding by_link(const planted_check& seen, const char* link, std::string_view wanted) {
  const json& verdict = member_of(seen.evidence, "verdict");
  const json& judged = member_of(member_of(verdict, "links"), link);
  return {text_of(judged, "state") == wanted,
          fmt::format("{}: {}{}{}", link, text_of(judged, "state"),
                      text_of(judged, "why").empty() ? "" : ", ", text_of(judged, "why"))};
}

finding by_status(const planted_check& seen, std::string_view wanted) {
  const std::string status = text_of(seen.result, "status");
  const std::string message = first_line(text_of(member_of(seen.result, "error"), "message"));
  return {status == wanted,
          fmt::format("status: {}{}{}", status, message.empty() ? "" : ", ", message)};
}

finding no_alarm(const planted_check& seen) {
  for (const char* link : {"ran", "on_device", "no_fallback", "correct"}) {
    finding judged = by_link(seen, link, "pass");
    // Where a link could not look, the faults that it must find tell so.
    if (!judged.detected && !judged.how.starts_with(std::string(link) + ": unknown")) {
      return {false, "false alarm: " + judged.how};
    }
  }
  return {true, "no alarm"};
}

finding by_warning(const planted_check& seen) {
  for (const json& warning : list_of(seen.result, "warnings")) {
    if (text_of(warning, "text").find("planted warning") != std::string::npos) {
      return {true, "warnings: " + first_line(text_of(warning, "text"))};
    }
  }
  return {false, "no warning was caught"};
}

finding by_bound(const planted_check& seen) {
  const std::string bound = text_of(member_of(seen.evidence, "verdict"), "bound");
  if (bound.empty()) {
    finding judged = by_link(seen, "speed", "");
    return {false, "bound: not known; " + judged.how};
  }
  return {bound == "host sync", "bound: " + bound};
}

finding by_repetition(const planted_check& seen) {
  const json& correct = member_of(member_of(seen.evidence, "evidence"), "correct");
  const bool differs = flag_is(correct, "repeatable", false);
  return {differs, differs ? "repeatable: no" : "repeatable: not found to differ"};
}

finding by_margins(const planted_check& seen) {
  const json& correct = member_of(member_of(seen.evidence, "evidence"), "correct");
  const std::string state = text_of(member_of(correct, "margins"), "state");
  finding judged = by_link(seen, "correct", "fail");
  judged.detected = judged.detected && state == "overwritten";
  return judged;
}

/// One planted fault: the check that has it, what it does, and how it shows.
struct fault {
  std::string_view check;
  std::string_view planted;
  bool on_cpu;  // it can be planted there too
  finding (*look)(const planted_check&);
};

constexpr fault nothing{"good", "nothing", true, no_alarm};

constexpr fault faults[] = {
    {"cpu_output", "output left on the CPU", false,
     [](const planted_check& s) { return by_link(s, "on_device", "fail"); }},
    {"round_trip", "hidden round trip through the host", false,
     [](const planted_check& s) { return by_link(s, "no_fallback", "fail"); }},
    {"host_sync", "waits for the device inside the call", false, by_bound},
    {"wrong_value", "one element is wrong", true,
     [](const planted_check& s) { return by_link(s, "correct", "fail"); }},
    {"nan", "one element is NaN", true,
     [](const planted_check& s) { return by_link(s, "correct", "fail"); }},
    {"zeros", "all elements are 0", true,
     [](const planted_check& s) { return by_link(s, "correct", "fail"); }},
    {"overrun", "writes behind its result", true, by_margins},
    {"unrepeatable", "last digits change from call to call", true, by_repetition},
    {"slow_path", "right, but by a slow path", true,
     [](const planted_check& s) { return by_link(s, "path", "warn"); }},
    {"warn", "gives a warning", true, by_warning},
    {"throws", "throws", true, [](const planted_check& s) { return by_status(s, "error"); }},
    {"out_of_memory", "asks for more memory than there is", true,
     [](const planted_check& s) { return by_status(s, "error"); }},
    {"device_assert", "asserts on the device", true,
     [](const planted_check& s) { return by_status(s, "error"); }},
    {"aborts", "ends the process", true,
     [](const planted_check& s) { return by_status(s, "crash"); }},
    {"hang", "never returns", true, [](const planted_check& s) { return by_status(s, "timeout"); }},
};

class report final : public selftest_report {
 public:
  report(std::ostream& out, bool color) : out_(out), color_(color) {}

  void on_record(const json& record) override {
    const std::string kind = text_of(record, "record");
    if (kind == "engine" && text_of(record, "status") != "ready") {
      out_ << "LibTorch: " << printable(text_of(record, "reason")) << '\n';
    } else if (kind == "plugin" && text_of(record, "status") == "refused") {
      out_ << "plugin " << printable(text_of(record, "file")) << ": "
           << printable(text_of(record, "reason")) << '\n';
    } else if (kind == "result" && text_of(record, "repeat_of").empty()) {
      const std::string device = text_of(record, "device");
      if (std::find(devices_.begin(), devices_.end(), device) == devices_.end()) {
        devices_.push_back(device);
      }
      planted_check& seen = checks_[device][text_of(record, "name")];
      seen.device = device;
      seen.result = record;
    } else if (kind == "evidence") {
      const std::string id = text_of(record, "id");
      const auto slash = id.find('/');
      const std::string name = id.substr(slash + 1, id.find('[') - slash - 1);
      checks_[text_of(record, "device")][name].evidence = record;
    } else if (kind == "summary") {
      interrupted_ = flag_is(record, "interrupted", true);
      for (const std::string& device : devices_) {
        print(device);
      }
      print_end();
    }
  }

  [[nodiscard]] bool all_detected() const override {
    return planted_ > 0 && detected_ == planted_ && false_alarms_ == 0 && !interrupted_;
  }

 private:
  void print(const std::string& device) {
    out_ << fmt::format("{}\n\n{:<38}  {:<8}  {}\n", device, "planted", "detected", "how");
    const finding clean = looked_at(device, nothing);
    false_alarms_ += clean.detected ? 0 : 1;
    row(nothing.planted, clean.detected ? "nothing" : "ALARM", clean.detected, clean.how);
    for (const fault& f : faults) {
      if (!f.on_cpu && device == "cpu") {
        out_ << fmt::format("{:<38}  {}{:<8}{}  {}\n", f.planted, color_ ? "\x1b[33m" : "", "-",
                            color_ ? "\x1b[0m" : "", "cannot be planted on the CPU");
        continue;
      }
      ++planted_;
      const finding judged = looked_at(device, f);
      detected_ += judged.detected ? 1 : 0;
      row(f.planted, judged.detected ? "yes" : "NO", judged.detected, judged.how);
    }
    out_ << '\n';
  }

  finding looked_at(const std::string& device, const fault& f) {
    const planted_check& seen = checks_[device][std::string(f.check)];
    return seen.result.is_null() ? finding{false, "it did not run"} : f.look(seen);
  }

  void row(std::string_view planted, std::string_view word, bool as_it_should_be,
           const std::string& how) {
    const std::string_view color = as_it_should_be ? "\x1b[32m" : "\x1b[31m";
    out_ << fmt::format("{:<38}  {}{:<8}{}  {}\n", planted, color_ ? color : "", word,
                        color_ ? "\x1b[0m" : "", printable(how));
  }

  void print_end() {
    if (planted_ == 0) {
      out_ << "Selftest: nothing ran\n" << std::flush;
      return;
    }
    out_ << fmt::format("Selftest: {}/{} faults detected, {} false alarm{}{}\n", detected_,
                        planted_, false_alarms_ == 0 ? "no" : std::to_string(false_alarms_),
                        false_alarms_ > 1 ? "s" : "", interrupted_ ? " | interrupted" : "")
         << std::flush;
  }

  std::ostream& out_;
  bool color_;
  bool interrupted_ = false;
  int planted_ = 0;
  int detected_ = 0;
  int false_alarms_ = 0;
  std::vector<std::string> devices_;
  std::map<std::string, std::map<std::string, planted_check>> checks_;
};

}  // namespace

std::unique_ptr<selftest_report> make_selftest_report(std::ostream& out, bool color) {
  return std::make_unique<report>(out, color);
}

}  // namespace assay
