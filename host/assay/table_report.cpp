// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "collected_run.hpp"
#include "diagnosis_text.hpp"
#include "known_issues.hpp"
#include "report_paper.hpp"
#include "reports.hpp"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> time_members{"submit_us", "wall_us", "device_us",
                                                       "first_call_us"};
constexpr std::array<std::string_view, 4> time_titles{"submit", "wall", "device", "first"};

struct row {
  std::string id;
  std::string status;
  std::string_view color;  // escape sequence for the status
  std::string output;
  std::array<std::string, 4> times;
  std::string note;
};

bool is_span(const json& timing) { return text_of(timing, "device_basis") == "span"; }

row make_row(const collected_run::entry& entry) {
  const json& result = entry.result;
  row r;
  r.id = entry.id;
  r.status = is_known(entry) ? "known" : text_of(result, "status");
  const bool warned = !list_of(result, "warnings").empty();
  const bool off_device = flag_is(result, "on_device", false);
  const bool fine = r.status == "ok" && !off_device;
  const bool yellow = fine || r.status == "skipped" || r.status == "known";
  r.color = fine && !warned ? "\x1b[32m" : yellow ? "\x1b[33m" : "\x1b[31m";
  r.output = output_devices(result) + (off_device ? "!" : "");
  if (r.output.empty()) {
    r.output = "-";
  }
  const json timing = result.value("timing", json());
  for (std::size_t i = 0; i < r.times.size(); ++i) {
    r.times[i] = microseconds(timing, time_members[i]);
  }
  if (is_span(timing) && r.times[2] != "-") {
    r.times[2].insert(0, "<=");
  }
  const std::string known = known_text(entry);
  r.note =
      printable((known.empty() ? "" : "known issue: " + known + "; ") + text_of(result, "note"));
  return r;
}

class table_report final : public record_sink {
 public:
  table_report(std::ostream& out, bool color, int width)
      : out_(out), color_(color), paper_(out, color, width), width_(paper_.width()) {}

  void on_record(const json& record) override {
    run_.add(record);
    if (text_of(record, "record") == "summary") {
      print_head();
      print_rows();
      print_models(paper_, run_);
      print_details();
      print_diagnoses(paper_, run_);
      print_known_issues();
      print_interruption();
      out_ << text_of(run_.summary, "text") << '\n' << std::flush;
    }
  }

 private:
  void line(const std::string& text) { paper_.line(text); }

  void wrapped_line(const std::string& text, std::size_t indent) {
    paper_.wrapped_line(text, indent);
  }

  // In the order of the schedule; of the engine when nothing was scheduled.
  [[nodiscard]] std::vector<std::string> devices() const {
    std::vector<std::string> names;
    const auto add = [&names](const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    };
    for (const collected_run::entry& entry : run_.entries) {
      if (!entry.baseline) {
        add(entry.device);
      }
    }
    if (names.empty()) {
      for (const json& device : list_of(run_.engine, "devices")) {
        add(text_of(device, "device"));
      }
    }
    return names;
  }

  [[nodiscard]] std::string described(const std::string& device) const {
    for (const json& known : list_of(run_.engine, "devices")) {
      if (text_of(known, "device") == device) {
        const std::string name = text_of(known, "name");
        const std::string architecture = text_of(known, "architecture");
        return fmt::format("{}{}{}{}", device, name.empty() ? "" : ": ", name,
                           architecture.empty() ? "" : " (" + architecture + ")");
      }
    }
    return device;
  }

  void print_head() {
    line(fmt::format("assay {}, profile {}, seed {}", text_of(run_.run, "assay_version"),
                     text_of(run_.run, "profile"),
                     run_.run.is_object() ? run_.run.value("seed", json()).dump() : "-"));
    const std::string dir = text_of(run_.run, "torch_dir");
    if (text_of(run_.engine, "status") == "ready") {
      const std::string package = text_of(run_.engine, "torch_package");
      line(fmt::format("LibTorch {}, {} build{}{}",
                       package.empty() ? text_of(run_.engine, "torch_version") : package,
                       text_of(run_.engine, "build"), dir.empty() ? "" : ", ", dir));
    } else if (!run_.engine.is_null()) {
      wrapped_line("LibTorch: " + text_of(run_.engine, "reason"), 0);
    }
    for (const std::string& device : devices()) {
      line(described(device));
    }
    if (std::any_of(run_.entries.begin(), run_.entries.end(),
                    [](const auto& entry) { return entry.baseline; })) {
      line("compared with " + described("cpu"));
    }
    for (const json& ceilings : run_.ceilings) {
      wrapped_line(ceilings_text(ceilings), 0);
    }
    print_why_cpu();
    print_not_selected();
    line("");
  }

  void print_not_selected() {
    left_out not_selected, off;
    for (const json& check : run_.not_selected) {
      not_selected.add(text_of(check, "id"), text_of(check, "reason"));
    }
    for (const json& plugin : run_.plugins) {
      if (text_of(plugin, "status") == "off") {
        off.add(text_of(plugin, "id"), printable(text_of(plugin, "reason")));
      }
    }
    not_selected.print(*this, "Not selected", "checks");
    off.print(*this, "Not opened", "plugins");
  }

  // By name where they are few: "Not selected: linear/linear_fp16[float16] (...)".
  struct left_out {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;

    void add(const std::string& id, const std::string& reason) {
      auto known = std::find_if(reasons.begin(), reasons.end(),
                                [&](const auto& r) { return r.first == reason; });
      if (known == reasons.end()) {
        known = reasons.insert(reasons.end(), {reason, {}});
      }
      known->second.push_back(id);
    }

    template <typename Report>
    void print(Report& report, const char* title, const char* things) const {
      constexpr std::size_t most_named = 3;
      for (const auto& [reason, ids] : reasons) {
        report.wrapped_line(
            fmt::format("{}: {} ({})", title,
                        ids.size() <= most_named ? fmt::format("{}", fmt::join(ids, ", "))
                                                 : fmt::format("{} {}", ids.size(), things),
                        reason),
            0);
      }
    }
  };

  void print_why_cpu() {
    const std::string backend_error = text_of(run_.engine, "backend_error");
    const std::vector<std::string> used = devices();
    const bool on_cpu = used.size() == 1 && used.front() == "cpu";
    if (text_of(run_.engine, "status") == "ready" && text_of(run_.run, "device_asked") == "auto" &&
        on_cpu) {
      const std::string reason = !backend_error.empty() ? backend_error
                                 : text_of(run_.engine, "build") == "cpu"
                                     ? "this LibTorch is a build without a GPU"
                                     : "LibTorch sees no GPU";
      wrapped_line("The CPU was used (--device auto): " + reason +
                       ". With a GPU in the machine, assay doctor looks for the cause.",
                   0);
    } else if (!backend_error.empty()) {
      wrapped_line("LibTorch's GPU part: " + backend_error, 0);
    }
  }

  void print_rows() {
    const std::vector<std::string> groups = devices();
    const bool chain = has_verdicts(run_);
    bool datasheet = false;
    for (const std::string& device : groups) {
      std::vector<const collected_run::entry*> entries;
      for (const collected_run::entry& entry : run_.entries) {
        if (entry.device == device && !entry.baseline && !entry.result.is_null()) {
          entries.push_back(&entry);
        }
      }
      if (entries.empty()) {
        continue;
      }
      if (groups.size() > 1) {
        line(described(device));
      }
      if (chain) {
        datasheet = print_chain(paper_, run_, entries) || datasheet;
      } else {
        print_plain(entries);
      }
      line("");
    }
    if (!chain) {
      print_legend();
      print_served(paper_, run_);
      return;
    }
    print_chain_legend(paper_, run_, datasheet);
    print_served(paper_, run_);
    if (text_of(member_of(member_of(run_.run, "options"), "split"), "value") == "true") {
      print_split(paper_, run_);
    }
    print_totals(paper_, run_);
  }

  void print_plain(const std::vector<const collected_run::entry*>& entries) {
    std::vector<row> rows;
    for (const collected_run::entry* entry : entries) {
      rows.push_back(make_row(*entry));
    }
    print_table(rows);
  }

  void print_table(const std::vector<row>& rows) {
    std::size_t id_width = 5;
    std::size_t status_width = 6;
    std::size_t output_width = 6;
    std::array<std::size_t, 4> time_widths{};
    std::size_t rest = 0;
    for (const row& r : rows) {
      id_width = std::max(id_width, r.id.size());
      status_width = std::max(status_width, r.status.size());
      output_width = std::max(output_width, r.output.size());
    }
    for (std::size_t i = 0; i < time_widths.size(); ++i) {
      time_widths[i] = time_titles[i].size();
      for (const row& r : rows) {
        time_widths[i] = std::max(time_widths[i], r.times[i].size());
      }
      rest += 2 + time_widths[i];
    }
    rest += 2 + status_width + 2 + output_width;
    id_width = std::min(id_width, std::max<std::size_t>(width_ - std::min(width_, rest), 20));

    std::string head = fmt::format("{:<{}}  {:<{}}  {:<{}}", "check", id_width, "status",
                                   status_width, "output", output_width);
    for (std::size_t i = 0; i < time_widths.size(); ++i) {
      head += fmt::format("  {:>{}}", time_titles[i], time_widths[i]);
    }
    line(head);
    for (const row& r : rows) {
      std::string id = r.id;
      if (id.size() > id_width) {
        line(id);
        id.clear();
      }
      out_ << fmt::format("{:<{}}  ", id, id_width);
      out_ << (color_ ? r.color : "") << r.status << (color_ ? "\x1b[0m" : "");
      std::string cells = fmt::format(
          "{}  {:<{}}", std::string(status_width - r.status.size(), ' '), r.output, output_width);
      for (std::size_t i = 0; i < time_widths.size(); ++i) {
        cells += fmt::format("  {:>{}}", r.times[i], time_widths[i]);
      }
      const bool fits = id_width + rest + 2 + r.note.size() <= width_;
      line(cells + (fits && !r.note.empty() ? "  " + r.note : ""));
      if (!fits && !r.note.empty()) {
        wrapped_line(r.note, 4);
      }
    }
  }

  void print_legend() {
    bool any = false;
    bool any_span = false;
    bool any_off = false;
    for (const collected_run::entry& entry : run_.entries) {
      const json timing = entry.result.is_null() ? json() : entry.result.value("timing", json());
      any = any || timing.is_object();
      any_span = any_span || (is_span(timing) && microseconds(timing, "device_us") != "-");
      any_off = any_off || flag_is(entry.result, "on_device", false);
    }
    if (any) {
      line("Microseconds per call. submit: until the call returned; wall: synchronised;");
      line("device: on the device; first: the first call, once.");
    }
    if (any_span) {
      line("<=: an upper bound, since the host did not get ahead of the device.");
    }
    if (any_off) {
      line("!: the output is not on the device that was asked for.");
    }
    if (any || any_off) {
      line("");
    }
  }

  void print_details() {
    bool titled = false;
    const auto section = [&](const std::string& title, const std::string& text) {
      if (text.empty()) {
        return;
      }
      if (!titled) {
        line("Warnings and errors\n");
        titled = true;
      }
      line(title);
      std::size_t begin = 0;
      while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        line(end == begin ? "" : "  " + text.substr(begin, end - begin));
        begin = end + 1;
      }
      line("");
    };
    for (const json& plugin : run_.plugins) {
      const bool refused = text_of(plugin, "status") == "refused";
      const std::string trusted = printable(trusted_text(plugin));
      section("plugin " + text_of(plugin, "file"),
              (refused ? "refused: " + printable(text_of(plugin, "reason")) + "\n" : "") +
                  (trusted.empty() ? "" : trusted + "\n") +
                  printed_text(plugin, "stderr", "standard error"));
    }
    section("LibTorch and its engine", printed_text(run_.engine, "stderr", "standard error"));
    if (!run_.engine_failure.is_null()) {
      section("a fresh worker could not be started",
              printable(text_of(run_.engine_failure, "reason")) + "\n" +
                  printed_text(run_.engine_failure, "stderr", "standard error"));
    }
    for (const collected_run::entry& entry : run_.entries) {
      // A baseline is there for its time; only why it has none is worth a word.
      if (!entry.baseline || (!entry.result.is_null() && text_of(entry.result, "status") != "ok")) {
        const std::string known = best_diagnosis(run_, entry);
        section(entry.id + " on " + entry.device,
                details(entry) + (known.empty() ? "" : "diagnosis: " + known + ", see below\n"));
      }
    }
  }

  // The entries that need a look; the failures that they excuse stand in their rows.
  void print_known_issues() {
    bool titled = false;
    for (const json& issue : run_.known_issues) {
      if (!needs_a_look(issue)) {
        continue;
      }
      if (!std::exchange(titled, true)) {
        line("Known issues to look at\n");
      }
      wrapped_line(text_of(issue, "text"), 2);
    }
    if (titled) {
      line("");
    }
  }

  void print_interruption() {
    const std::size_t missing = run_.not_run();
    const bool interrupted = flag_is(run_.summary, "interrupted", true);
    const auto scheduled =
        std::count_if(run_.entries.begin(), run_.entries.end(),
                      [](const collected_run::entry& entry) { return !entry.baseline; });
    if (interrupted && run_.entries.empty()) {
      line("Interrupted before the first check.");
    } else if (interrupted || missing > 0) {
      const bool cut_short = interrupted && !run_.running.empty();
      line(fmt::format("{}{} of {} checks did not run.{}", interrupted ? "Interrupted: " : "",
                       missing, scheduled, cut_short ? " " + run_.running + " was running." : ""));
    }
  }

  std::ostream& out_;
  bool color_;
  report_paper paper_;
  std::size_t width_;
  collected_run run_;
};

}  // namespace

std::unique_ptr<record_sink> make_table_report(std::ostream& out, bool color, int width) {
  return std::make_unique<table_report>(out, color, width);
}

}  // namespace assay
