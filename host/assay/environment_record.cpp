// SPDX-License-Identifier: Apache-2.0
#include "environment_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "collected_run.hpp"
#include "host/platform/machine.hpp"

namespace assay {

namespace {

using nlohmann::json;

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

template <typename Number>
json or_null(const std::optional<Number>& number) {
  return number ? json(*number) : json();
}

/// What stands behind a beginning among the lines of LibTorch's settings: "CUDA Runtime 13.0".
json version_behind(const json& settings, std::string_view beginning) {
  for (const json& one : settings) {
    const auto line = one.get<std::string>();
    if (line.starts_with(beginning)) {
      const std::string rest = line.substr(beginning.size());
      return rest.substr(0, rest.find_first_of(" ,("));
    }
  }
  return nullptr;
}

/// What the build settings give a key: "CUDA_VERSION=13.0, ".
json setting_of(const json& settings, const std::string& key) {
  for (const json& one : settings) {
    const auto line = one.get<std::string>();
    const auto at = line.find(" " + key + "=");
    if (line.starts_with("Build settings:") && at != std::string::npos) {
      const std::string rest = line.substr(at + key.size() + 2);
      return or_null(rest.substr(0, rest.find_first_of(", ")));
    }
  }
  return nullptr;
}

json first_of(json one, json other) { return one.is_null() ? std::move(other) : std::move(one); }

// Lines such as "  - CuDNN 91.9" below a title.
json lines_of_settings(const std::string& text) {
  json lines = json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    line.erase(0, line.find_first_not_of(" -"));
    if (!line.empty() && begin > 0) {
      lines.push_back(line);
    }
    begin = end + 1;
  }
  return lines;
}

// LibTorch writes cuDNN's number (91900 for 9.19) as if it were one of before 9 (8907 for 8.9): as
// "91.9". That digit behind the point is one of two: the number is taken apart again.
json cudnn_version(const json& written) {
  if (!written.is_string()) {
    return written;
  }
  const std::string text = written.get<std::string>();
  int major = 0;
  int minor = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.' ||
      std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) {
    return written;
  }
  constexpr int first_of_new_numbers = 90;
  if (major < first_of_new_numbers) {
    return written;
  }
  const int number = major * 1000 + minor * 100;
  return fmt::format("{}.{}", number / 10000, number % 10000 / 100);
}

json libtorch_of(const json& engine, const torch_install* torch) {
  const json settings = lines_of_settings(text_of(engine, "config"));
  return {{"version", or_null(text_of(engine, "torch_version"))},
          {"package", or_null(torch == nullptr ? "" : torch->version)},
          {"git_hash", or_null(torch == nullptr ? "" : torch->git_hash)},
          {"build", or_null(text_of(engine, "build"))},
          // What is loaded; on the CPU, where no GPU part is opened, what it was built with.
          {"cuda", first_of(version_behind(settings, "CUDA Runtime "),
                            setting_of(settings, "CUDA_VERSION"))},
          {"cudnn", first_of(cudnn_version(version_behind(settings, "CuDNN ")),
                             setting_of(settings, "CUDNN_VERSION"))},
          {"hip", version_behind(settings, "HIP Runtime ")},
          {"miopen", version_behind(settings, "MIOpen ")},
          {"settings", settings}};
}

const platform::graphics_card* card_at(const std::vector<platform::graphics_card>& cards,
                                       const std::string& pci) {
  const auto found =
      std::find_if(cards.begin(), cards.end(),
                   [&](const platform::graphics_card& card) { return card.pci == pci; });
  return pci.empty() || found == cards.end() ? nullptr : &*found;
}

json devices_of(const json& engine, const std::vector<platform::graphics_card>& cards,
                const std::optional<std::uint64_t>& main_memory) {
  json devices = json::array();
  for (const json& device : list_of(engine, "devices")) {
    const std::string pci = text_of(device, "pci");
    const platform::graphics_card* card = card_at(cards, pci);
    json memory = member_of(device, "memory_bytes");
    if (memory.is_null() && card != nullptr) {
      memory = or_null(card->memory_bytes);
    }
    const bool is_cpu = text_of(device, "device") == "cpu";
    devices.push_back({{"device", text_of(device, "device")},
                       {"name", member_of(device, "name")},
                       {"architecture", member_of(device, "architecture")},
                       {"pci", or_null(pci)},
                       {"driver", or_null(card == nullptr ? "" : card->driver)},
                       {"memory_bytes", is_cpu ? or_null(main_memory) : std::move(memory)}});
  }
  return devices;
}

json as_json(const platform::device_clocks& clocks) {
  return {{"clock_mhz", or_null(clocks.clock_mhz)},
          {"clock_max_mhz", or_null(clocks.clock_max_mhz)},
          {"memory_clock_mhz", or_null(clocks.memory_clock_mhz)},
          {"memory_clock_max_mhz", or_null(clocks.memory_clock_max_mhz)},
          {"power_w", or_null(clocks.power_w)},
          {"power_cap_w", or_null(clocks.power_cap_w)},
          {"temperature_c", or_null(clocks.temperature_c)},
          {"throttled", clocks.throttled ? json(*clocks.throttled) : json()},
          {"throttle_count", or_null(clocks.throttle_count)},
          {"governor", or_null(clocks.governor)}};
}

json managed_card(const json& management, const std::string& pci) {
  for (const json& card : list_of(management, "cards")) {
    if (!pci.empty() && text_of(card, "pci") == pci) {
      return card;
    }
  }
  return nullptr;
}

}  // namespace

json environment_record(json& engine, const torch_install* torch, const known_variables& variables,
                        const std::filesystem::path& root) {
  const platform::machine_facts machine = platform::look_at_machine(root);
  json drivers = json::array();
  for (const platform::gpu_driver& driver : platform::gpu_drivers(root)) {
    drivers.push_back({{"name", driver.name}, {"version", or_null(driver.version)}});
  }
  json record{{"record", "environment"},
              {"libtorch", libtorch_of(engine, torch)},
              {"drivers", std::move(drivers)},
              {"devices", devices_of(engine, platform::graphics_cards(root), machine.memory_bytes)},
              {"system",
               {{"os", or_null(machine.os)},
                {"kernel", or_null(machine.kernel)},
                {"c_library", or_null(machine.c_library)},
                {"cpu", or_null(machine.cpu)},
                {"processors", or_null(machine.processors)},
                {"memory_bytes", or_null(machine.memory_bytes)}}},
              {"variables", variables.set},
              {"watched_variables", variables.watched}};
  engine.erase("config");
  return record;
}

json clocks_record(const std::string& when, const std::vector<std::string>& devices,
                   const json& engine, const json& management, const std::filesystem::path& root) {
  const std::vector<platform::graphics_card> cards = platform::graphics_cards(root);
  json list = json::array();
  for (const std::string& name : devices) {
    std::string pci;
    for (const json& device : list_of(engine, "devices")) {
      pci = text_of(device, "device") == name ? text_of(device, "pci") : pci;
    }
    json one = as_json(platform::device_clocks());
    if (name == "cpu") {
      one = as_json(platform::cpu_clocks(root));
    } else if (const auto* card = card_at(cards, pci)) {
      one = as_json(card->clocks);
    }
    if (const json managed = managed_card(management, pci); managed.is_object()) {
      one.update(managed);
      one.erase("pci");
    }
    one["device"] = name;
    list.push_back(std::move(one));
  }
  return {{"record", "clocks"},
          {"when", when},
          {"driver", member_of(management, "driver")},
          {"why", text_of(management, "why")},
          {"devices", std::move(list)}};
}

}  // namespace assay
