// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "markup.hpp"
#include "report_command.hpp"

namespace assay {

namespace {

using nlohmann::json;
using entry = collected_run::entry;

/// A fence that the text itself does not hold.
std::string fenced(const std::string& text, const char* language = "") {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) {
    fence += '`';
  }
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text,
                     text.empty() || text.back() == '\n' ? "" : "\n", fence);
}

/// The middle left out, whole lines kept where there are any.
std::string at_most(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) {
    return text;
  }
  const std::size_t half = bytes / 2;
  std::size_t head = text.rfind('\n', half);
  head = head == std::string::npos ? half : head + 1;
  std::size_t tail = text.find('\n', text.size() - half);
  tail = tail == std::string::npos ? text.size() - half : tail + 1;
  return fmt::format("{}[... {} bytes left out ...]\n{}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

bool is_troubled(const entry& e) {
  const std::string verdict = text_of(member_of(e.evidence, "verdict"), "verdict");
  return !e.baseline &&
         (has_failed(e) || verdict == "warn" || !list_of(e.result, "warnings").empty());
}

class markdown_page {
 public:
  markdown_page(const collected_run& run, const std::vector<std::string>& remarks,
                const redaction& names, std::size_t most_bytes)
      : run_(run), remarks_(remarks), names_(names), most_bytes_(most_bytes) {}

  std::string write() {
    std::vector<const entry*> troubled;
    for (const entry& e : run_.entries) {
      if (is_troubled(e)) {
        troubled.push_back(&e);
      }
    }
    std::stable_sort(troubled.begin(), troubled.end(), [](const entry* a, const entry* b) {
      return has_failed(*a) && !has_failed(*b);
    });
    const std::string head = names_.of(head_text()) + "\n";
    const std::string tail = names_.of(markdown_folded("Environment", environment_text())) +
                             names_.of(markdown_folded("All checks", table_text()));
    std::string text = head + diagnoses_text();
    // What is left goes to the checks, each at most its share; a large table gives way first.
    constexpr std::size_t reserve = 400;
    std::size_t shown = 0;
    std::string last = tail;
    if (tail.size() > most_bytes_ / 3) {
      last =
          names_.of(markdown_folded("Environment", at_most(environment_text(), most_bytes_ / 6))) +
          "The table of all checks was left out; assay report --csv has it.\n\n";
    }
    for (const entry* e : troubled) {
      const std::string one = names_.of(check_text(*e));
      if (text.size() + one.size() + last.size() + reserve > most_bytes_) {
        break;
      }
      text += one;
      ++shown;
    }
    if (shown < troubled.size()) {
      text += fmt::format(
          "{} of {} checks with a failure or warning were left out, to fit {} bytes; "
          "the result file has them all.\n\n",
          troubled.size() - shown, troubled.size(), most_bytes_);
    }
    text += last;
    return text.size() <= most_bytes_ ? text : at_most(text, most_bytes_ - reserve);
  }

 private:
  [[nodiscard]] std::string head_text() const {
    std::string text = fmt::format("### {}\n\n", markdown_cell(text_of(run_.summary, "text")));
    for (const json& device : list_of(run_.engine, "devices")) {
      const std::string name = text_of(device, "device");
      const bool used = std::any_of(run_.entries.begin(), run_.entries.end(),
                                    [&](const entry& e) { return e.device == name; });
      if (used) {
        text += fmt::format("- {}: {} ({})\n", name, markdown_cell(text_of(device, "name")),
                            markdown_cell(text_of(device, "architecture")));
      }
    }
    text += fmt::format("- LibTorch {}, {} build\n- assay {}, profile {}, seed {}\n",
                        markdown_cell(text_of(run_.engine, "torch_package")),
                        text_of(run_.engine, "build"), text_of(run_.run, "assay_version"),
                        text_of(run_.run, "profile"), number_of(run_.run, "seed"));
    for (const std::string& remark : remarks_) {
      text += fmt::format("- {}\n", markdown_cell(remark));
    }
    return text;
  }

  [[nodiscard]] std::string diagnoses_text() const {
    std::string text;
    for (const json& d : run_.diagnoses) {
      if (flag_is(d, "withdrawn", true) || !text_of(d, "consequence_of").empty()) {
        continue;
      }
      std::vector<std::string> ids;
      for (const json& check : list_of(d, "checks")) {
        ids.push_back(text_of(check, "id"));
      }
      text += fmt::format("**{}** ({}): {}\n\n", markdown_cell(text_of(d, "code")),
                          text_of(d, "confidence"), markdown_cell(text_of(d, "title")));
      text += fmt::format("{}\n\n", markdown_cell(text_of(d, "cause")));
      constexpr std::size_t most_named = 10;
      const std::size_t named = std::min(ids.size(), most_named);
      text += fmt::format(
          "Checks: {}{}\n\n",
          fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(named), ", "),
          ids.size() > named ? fmt::format(" and {} more", ids.size() - named) : "");
      std::string lines;
      for (const json& line : list_of(d, "evidence")) {
        lines += (line.is_string() ? printable(line.get<std::string>()) : line.dump()) + "\n";
      }
      for (const json& line : list_of(d, "probes")) {
        lines += "probe: " + (line.is_string() ? printable(line.get<std::string>()) : line.dump()) +
                 "\n";
      }
      text += lines.empty() ? "" : fenced(at_most(lines, 2000)) + "\n";
    }
    return text.empty() ? "" : names_.of("#### Diagnoses\n\n" + at_most(text, most_bytes_ / 4));
  }

  [[nodiscard]] std::string check_text(const entry& e) const {
    const json& verdict = member_of(e.evidence, "verdict");
    std::string text = fmt::format("#### {} on {}: {}\n\n", markdown_cell(e.id), e.device,
                                   markdown_cell(outcome(e.result)));
    for (const auto& [name, link] : member_of(verdict, "links").items()) {
      const std::string state = text_of(link, "state");
      if (state == "fail" || state == "warn") {
        text += fmt::format("- {}: **{}**, {}\n", name, state, markdown_cell(text_of(link, "why")));
      }
    }
    text += "\nRepeat it alone:\n\n" + fenced(repeat_text(e), "sh");
    const std::string found = details(e);
    if (!found.empty()) {
      text += "\n" + markdown_folded("what was captured", fenced(at_most(printable(found), 6000)));
    }
    std::string served;
    for (const json& one : list_of(e.library_trace, "served")) {
      served += fmt::format("{} {} {}\n", text_of(one, "library"), text_of(one, "what"),
                            text_of(one, "detail"));
    }
    if (!served.empty()) {
      text += markdown_folded("library log", fenced(at_most(printable(served), 3000)));
    }
    return text + "\n";
  }

  [[nodiscard]] std::string repeat_text(const entry& e) const {
    const std::string profile = text_of(run_.run, "profile");
    return fmt::format(
        "assay run --device {} --enable '{}'{}{}\nassay show '{}' --python  # the same without "
        "assay\n",
        e.device, e.id, profile == "classic" || profile.empty() ? "" : " --profile " + profile,
        number_of(run_.run, "seed") == 0.0
            ? ""
            : fmt::format(" --seed {:.0f}", number_of(run_.run, "seed")),
        e.id);
  }

  [[nodiscard]] std::string environment_text() const {
    std::string text;
    const auto add = [&text](const std::string& name, const std::string& value) {
      text += value.empty() ? "" : fmt::format("{}: {}\n", name, printable(value));
    };
    add("started", text_of(run_.run, "started"));
    add("LibTorch", text_of(run_.engine, "torch_package"));
    add("LibTorch's folder", text_of(run_.run, "torch_dir"));
    add("GPU part of LibTorch", text_of(run_.engine, "backend_error"));
    const json& libtorch = member_of(run_.environment, "libtorch");
    for (const char* part : {"git_hash", "cuda", "cudnn", "hip", "miopen"}) {
      add(fmt::format("LibTorch's {}", part), text_of(libtorch, part));
    }
    for (const json& driver : list_of(run_.environment, "drivers")) {
      add("driver " + text_of(driver, "name"), text_of(driver, "version"));
    }
    for (const char* part : {"os", "kernel", "c_library", "cpu"}) {
      add(part, text_of(member_of(run_.environment, "system"), part));
    }
    for (const auto& [name, value] : member_of(run_.environment, "variables").items()) {
      add(name, value.is_string() ? value.get<std::string>() : "");
    }
    for (const auto& [name, setting] : member_of(run_.run, "options").items()) {
      if (text_of(setting, "source") != "built in") {
        add("--" + name, text_of(setting, "value") + " (" + text_of(setting, "source") + ")");
      }
    }
    for (const json& plugin : run_.plugins) {
      const std::string status = text_of(plugin, "status");
      if (status != "not_a_plugin") {
        add("plugin " + text_of(plugin, "id"),
            fmt::format("{}{}{}", text_of(plugin, "version"),
                        status == "loaded" ? "" : ", " + status,
                        text_of(plugin, "reason").empty() ? "" : ": " + text_of(plugin, "reason")));
      }
    }
    for (const json& ceilings : run_.ceilings) {
      text += printable(ceilings_text(ceilings)) + "\n";
    }
    for (const json& probe : run_.probes) {
      add("probe " + text_of(probe, "id"), text_of(probe, "state") + ": " + text_of(probe, "fact"));
    }
    return fenced(text);
  }

  [[nodiscard]] std::string table_text() const {
    std::string text =
        "| check | device | status | verdict | path | wall us | device us |\n"
        "| --- | --- | --- | --- | --- | ---: | ---: |\n";
    for (const entry& e : run_.entries) {
      const json& verdict = member_of(e.evidence, "verdict");
      const json& timing = member_of(e.result, "timing");
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_cell(e.id), e.device,
                          e.result.is_null() ? "not run" : markdown_cell(outcome(e.result)),
                          text_of(verdict, "verdict"), markdown_cell(text_of(verdict, "path")),
                          microseconds(timing, "wall_us"), microseconds(timing, "device_us"));
    }
    return text;
  }

  const collected_run& run_;
  const std::vector<std::string>& remarks_;
  const redaction& names_;
  std::size_t most_bytes_;
};

}  // namespace

std::string markdown_report(const collected_run& run, const std::vector<std::string>& remarks,
                            const redaction& private_names, std::size_t most_bytes) {
  return markdown_page(run, remarks, private_names, most_bytes).write();
}

}  // namespace assay
