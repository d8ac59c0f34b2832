// SPDX-License-Identifier: Apache-2.0
#include "collected_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

using nlohmann::json;

std::string indented(const std::string& text, std::string_view indent) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    out += line.empty() ? "\n" : fmt::format("{}{}\n", indent, line);
    begin = end + 1;
  }
  return out;
}

std::string block(const std::string& title, const std::string& text) {
  return fmt::format("{}:\n{}", title, indented(printable(text), "  "));
}

std::string warning_text(const json& warning) {
  const auto count = static_cast<long>(number_of(warning, "count"));
  std::string title = "warning";
  if (count > 1) {
    title += fmt::format(", {} times", count);
  }
  if (const std::string source = text_of(warning, "source"); !source.empty()) {
    title += fmt::format(", from {}", printable(source));
  }
  return block(title, text_of(warning, "text"));
}

std::string all_of(const json& result) {
  return warnings_text(result) + fault_text(result) +
         printed_text(result, "stderr", "standard error") +
         printed_text(result, "stdout", "standard output");
}

}  // namespace

std::string text_of(const json& object, std::string_view member) {
  if (object.is_object()) {
    const auto found = object.find(std::string(member));
    if (found != object.end() && found->is_string()) {
      return found->get<std::string>();
    }
  }
  return "";
}

std::string trusted_text(const json& plugin) {
  const std::string why = text_of(plugin, "trusted_in_spite_of");
  return why.empty() || text_of(plugin, "status") != "loaded"
             ? ""
             : fmt::format("loaded although {} (--trust-plugins)", why);
}

const json& member_of(const json& object, std::string_view member) {
  static const json none = nullptr;
  if (!object.is_object()) {
    return none;
  }
  const auto found = object.find(std::string(member));
  return found == object.end() ? none : *found;
}

std::optional<double> number_if_any(const json& object, std::string_view member) {
  const json& found = member_of(object, member);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

double number_of(const json& object, std::string_view member) {
  return number_if_any(object, member).value_or(0.0);
}

const json& list_of(const json& object, std::string_view member) {
  static const json none = json::array();
  if (object.is_object()) {
    const auto found = object.find(std::string(member));
    if (found != object.end() && found->is_array()) {
      return *found;
    }
  }
  return none;
}

bool flag_is(const json& object, std::string_view member, bool wanted) {
  const std::string name(member);
  return object.is_object() && object.contains(name) && object[name] == json(wanted);
}

std::string valid_utf8(const std::string& text) {
  const std::string escaped = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(escaped).get<std::string>();
}

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7F) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c;
    }
  }
  return out;
}

std::string output_devices(const json& result) {
  std::vector<std::string> devices;
  for (const json& output : list_of(result, "outputs")) {
    std::string device = text_of(output, "device");
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(std::move(device));
    }
  }
  return fmt::format("{}", fmt::join(devices, ","));
}

std::string outcome(const json& result) {
  const std::string status = text_of(result, "status");
  if (flag_is(result, "on_device", false)) {
    return fmt::format("{}, output on {}", status, output_devices(result));
  }
  return status;
}

bool has_failed(const collected_run::entry& entry) {
  const std::string status = entry.result.is_null() ? "" : text_of(entry.result, "status");
  return status == "error" || status == "crash" || status == "timeout" ||
         text_of(member_of(entry.evidence, "verdict"), "verdict") == "fail";
}

std::string end_of_process(const json& result) {
  if (const auto signal = result.find("signal"); signal != result.end() && signal->is_object()) {
    return fmt::format("{} ({:.0f})", text_of(*signal, "name"), number_of(*signal, "number"));
  }
  if (const auto code = result.find("exit_code"); code != result.end() && code->is_number()) {
    return fmt::format("exit code {:.0f}", code->get<double>());
  }
  return "";
}

std::string printed_text(const json& record, std::string_view stream, std::string_view title) {
  const std::string text = text_of(record, stream);
  if (text.empty()) {
    return "";
  }
  const double bytes = number_of(record, std::string(stream) + "_bytes");
  const bool shortened = bytes > static_cast<double>(text.size());
  return block(shortened ? fmt::format("{}, {:.0f} bytes, the middle left out", title, bytes)
                         : std::string(title),
               text);
}

std::string warnings_text(const json& result) {
  std::string out;
  for (const json& warning : list_of(result, "warnings")) {
    out += warning_text(warning);
  }
  return out;
}

std::string fault_text(const json& result) {
  const std::string status = text_of(result, "status");
  const std::string phase = text_of(result, "phase");
  const std::string where = phase.empty() ? "" : fmt::format(" in phase {}", phase);
  std::string out;
  if (status == "crash") {
    const std::string end = end_of_process(result);
    out += fmt::format("crash{}{}{}\n", where, end.empty() ? "" : ": ", end);
  } else if (status == "timeout") {
    out += fmt::format("timeout{} after {:.1f} s\n", where, number_of(result, "elapsed_s"));
  }
  if (const auto error = result.find("error"); error != result.end() && error->is_object()) {
    out += block(fmt::format("{} {}{}", status == "skipped" ? "skipped," : "error",
                             text_of(*error, "type"), where),
                 text_of(*error, "message"));
  }
  if (flag_is(result, "poisoned", true)) {
    out += "the device no longer worked in this process after the error\n";
  }
  return out;
}

std::string repeats_text(const collected_run::entry& entry) {
  std::string out;
  for (const json& repeat : entry.repeats) {
    out += fmt::format("repeated: {} on {}: {} ({})\n", text_of(repeat, "id"),
                       text_of(repeat, "device"), outcome(repeat),
                       printable(text_of(repeat, "repeat_of")));
    out += indented(all_of(repeat), "  ");
  }
  return out;
}

std::string evidence_fault_text(const collected_run::entry& entry) {
  const std::string status = text_of(entry.evidence, "status");
  if (status.empty() || status == "ok") {
    return "";
  }
  return "when it was run again for its evidence:\n" +
         indented(
             fault_text(entry.evidence) + printed_text(entry.evidence, "stderr", "standard error"),
             "  ");
}

std::string details(const collected_run::entry& entry) {
  return all_of(entry.result) + evidence_fault_text(entry) + repeats_text(entry);
}

collected_run::entry* collected_run::find(const std::string& id, const std::string& device) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const entry& e) { return e.id == id && e.device == device; });
  return found == entries.end() ? nullptr : &*found;
}

void collected_run::add(const json& record) {
  const std::string kind = text_of(record, "record");
  if (kind == "run") {
    run = record;
  } else if (kind == "engine") {
    (engine.is_null() ? engine : engine_failure) = record;
  } else if (kind == "environment") {
    environment = record;
  } else if (kind == "plugin") {
    plugins.push_back(record);
  } else if (kind == "schedule") {
    for (const json& check : list_of(record, "checks")) {
      entries.push_back({text_of(check, "id"),
                         text_of(check, "device"),
                         nullptr,
                         {},
                         flag_is(check, "baseline", true),
                         nullptr,
                         nullptr});
    }
    not_selected = list_of(record, "not_selected").get<std::vector<json>>();
  } else if (kind == "summary") {
    summary = record;
  } else if (kind == "ceilings") {
    // A device that is measured again has a second line, which counts.
    std::erase_if(ceilings, [&](const json& known) {
      return text_of(known, "device") == text_of(record, "device");
    });
    ceilings.push_back(record);
  } else if (kind == "probe") {
    probes.push_back(record);
  } else if (kind == "diagnosis") {
    diagnoses.push_back(record);
  } else if (kind == "known_issue") {
    known_issues.push_back(record);
  } else if (kind == "model") {
    models.push_back(record);
  } else if (kind == "starting") {
    running = text_of(record, "id") + " on " + text_of(record, "device");
  } else if (kind == "evidence") {
    running.clear();
    if (entry* target = find(text_of(record, "id"), text_of(record, "device"))) {
      target->evidence = record;
    }
  } else if (kind == "library_trace") {
    running.clear();
    if (entry* target = find(text_of(record, "id"), text_of(record, "device"))) {
      target->library_trace = record;
    }
  } else if (kind == "result" && !text_of(record, "repeat_of").empty()) {
    running.clear();
    if (last_fault_ < entries.size()) {
      entries[last_fault_].repeats.push_back(record);
    }
  } else if (kind == "result") {
    running.clear();
    const std::string id = text_of(record, "id");
    const std::string device = text_of(record, "device");
    entry* target = find(id, device);
    if (target == nullptr) {
      target = &entries.emplace_back(
          entry{id, device, nullptr, {}, flag_is(record, "baseline", true), nullptr, nullptr});
    }
    target->result = record;
    const std::string status = text_of(record, "status");
    if (status == "crash" || status == "timeout" || flag_is(record, "poisoned", true)) {
      last_fault_ = static_cast<std::size_t>(target - entries.data());
    }
  }
}

std::size_t collected_run::not_run() const {
  return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [](const entry& e) {
    return e.result.is_null() && !e.baseline;
  }));
}

}  // namespace assay
