// SPDX-License-Identifier: Apache-2.0
#include "requirements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collected_run.hpp"
#include "host/common/architecture.hpp"
#include "host/diagnosis/knowledge.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const auto first = part.find_first_not_of(' ');
    if (first != std::string::npos) {
      parts.push_back(part.substr(first, part.find_last_not_of(' ') + 1 - first));
    }
    begin = end + 1;
  }
  return parts;
}

std::string alternatives(const std::string& list) {
  return fmt::format("{}", fmt::join(split(list), " or "));
}

std::string bytes_text(double bytes) {
  constexpr double kib = 1024.0;
  return bytes < kib * kib         ? fmt::format("{:.0f} bytes", bytes)
         : bytes < kib * kib * kib ? fmt::format("{:.1f} MiB", bytes / kib / kib)
                                   : fmt::format("{:.1f} GiB", bytes / kib / kib / kib);
}

std::string accelerator_unmet(const std::string& needed, const run_site& here) {
  const bool on_cpu = here.device == "cpu";
  const std::string have = on_cpu ? "cpu" : here.build;
  const auto any = split(needed);
  if (std::find(any.begin(), any.end(), have) != any.end()) {
    return "";
  }
  return fmt::format("it needs {}, and {}", alternatives(needed),
                     on_cpu         ? "the device is the cpu"
                     : have.empty() ? "which build this LibTorch is, is not known"
                                    : fmt::format("{} is of a {} build", here.device, have));
}

std::string architecture_unmet(const std::string& needed, const run_site& here) {
  const auto globs = split(needed);
  if (!here.architecture.empty() && any_names_architecture(globs, here.architecture)) {
    return "";
  }
  return fmt::format("it needs the architecture {}, and {}", alternatives(needed),
                     here.architecture.empty()
                         ? fmt::format("that of {} is not known", here.device)
                         : fmt::format("{} is {}", here.device, here.architecture));
}

/// `sign`: ">=" or "<".
std::string version_unmet(const std::string& needed, const char* sign, const char* words,
                          const run_site& here) {
  if (!here.torch_version.empty() && version_in(here.torch_version, sign + needed)) {
    return "";
  }
  return fmt::format("it needs LibTorch {}, and {}", fmt::format(fmt::runtime(words), needed),
                     here.torch_version.empty() ? "the version of this one is not known"
                                                : "this is " + here.torch_version);
}

constexpr const char* at_least = "{} or newer";
constexpr const char* below = "older than {}";

void add(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) {
    list.push_back(text);
  }
}

}  // namespace

run_site site_of(const json& engine, const std::string& device) {
  run_site here{device, text_of(engine, "build"), text_of(engine, "torch_version"), ""};
  for (const json& known : list_of(engine, "devices")) {
    if (text_of(known, "device") == device) {
      here.architecture = text_of(known, "architecture");
    }
  }
  return here;
}

std::vector<json> requirements_of(const json& check, const json& plugin) {
  std::vector<json> all;
  const std::string stamped = text_of(plugin, "accelerator");
  if (!stamped.empty() && stamped != "any") {
    all.push_back({{"accelerator", stamped}});
  }
  for (const json& needs : list_of(plugin, "needs")) {
    all.push_back(needs);
  }
  if (const json& own = member_of(check, "needs"); own.is_object()) {
    all.push_back(own);
  }
  return all;
}

std::string unmet(const std::vector<json>& needs, const run_site& here) {
  std::vector<std::string> missing;
  const auto examine = [&](const json& one, const char* member, const auto& judge) {
    if (const std::string needed = text_of(one, member); !needed.empty()) {
      add(missing, judge(needed));
    }
  };
  for (const json& one : needs) {
    examine(one, "accelerator", [&](const auto& n) { return accelerator_unmet(n, here); });
    examine(one, "architectures", [&](const auto& n) { return architecture_unmet(n, here); });
    examine(one, "torch_at_least",
            [&](const auto& n) { return version_unmet(n, ">=", at_least, here); });
    examine(one, "torch_below", [&](const auto& n) { return version_unmet(n, "<", below, here); });
  }
  return fmt::format("{}", fmt::join(missing, "; "));
}

asked_requirements to_ask(const std::vector<json>& needs) {
  asked_requirements ask;
  for (const json& one : needs) {
    const json& bytes = member_of(one, "free_memory_bytes");
    if (bytes.is_number_integer()) {
      ask.free_memory_bytes = std::max(ask.free_memory_bytes, bytes.get<std::uint64_t>());
    }
    ask.dtype_arithmetic = ask.dtype_arithmetic || flag_is(one, "dtype_arithmetic", true);
  }
  return ask;
}

std::string memory_unmet(std::uint64_t needed, const std::string& device, const json& state) {
  const json& free = member_of(state, "free_bytes");
  if (free.is_number_integer() && free.get<std::uint64_t>() >= needed) {
    return "";
  }
  const std::string why = text_of(state, "why");
  return fmt::format(
      "it needs {} of free memory, and {}", bytes_text(static_cast<double>(needed)),
      free.is_number_integer()
          ? fmt::format("{} has {}", device, bytes_text(free.get<double>()))
          : fmt::format("how much {} has is not known{}{}", device, why.empty() ? "" : ": ", why));
}

std::string arithmetic_unmet(const std::string& dtype, const std::string& device,
                             const json& state) {
  if (flag_is(state, "adds", true)) {
    return "";
  }
  const std::string why = text_of(state, "why");
  return fmt::format("it needs arithmetic in {}, and {}{}{}", dtype,
                     flag_is(state, "adds", false)
                         ? fmt::format("{} cannot add in it", device)
                         : fmt::format("whether {} has it is not known", device),
                     why.empty() ? "" : ": ", why);
}

std::string requirements_text(const std::vector<json>& needs) {
  std::vector<std::string> parts;
  for (const json& one : needs) {
    add(parts, alternatives(text_of(one, "accelerator")));
    add(parts, alternatives(text_of(one, "architectures")));
    if (const std::string version = text_of(one, "torch_at_least"); !version.empty()) {
      add(parts, "LibTorch " + fmt::format(fmt::runtime(at_least), version));
    }
    if (const std::string version = text_of(one, "torch_below"); !version.empty()) {
      add(parts, "LibTorch " + fmt::format(fmt::runtime(below), version));
    }
    if (const double bytes = number_of(one, "free_memory_bytes"); bytes > 0.0) {
      add(parts, bytes_text(bytes) + " of free memory");
    }
    if (flag_is(one, "dtype_arithmetic", true)) {
      add(parts, "arithmetic in its dtype");
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace assay
