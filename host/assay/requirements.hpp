// SPDX-License-Identifier: Apache-2.0
//
// What checks and plugins require (assay_requirements in the SDK's abi.h), and whether it is there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay {

/// Where a check would run. An empty text: not known.
struct run_site {
  std::string device;  // "cpu", "cuda:0"
  std::string build;   // of LibTorch: "rocm", "cuda", "cpu"
  std::string torch_version;
  std::string architecture;
};

/// As the `engine` record tells it.
run_site site_of(const nlohmann::json& engine, const std::string& device);

/// All that must hold for one check: of its plugin's stamp, of its plugin, of itself. Each has the
/// members of `needs` in docs/architecture.md.
std::vector<nlohmann::json> requirements_of(const nlohmann::json& check,
                                            const nlohmann::json& plugin);

/// What can be told without asking the device, and is not there, or is not known to be: "it needs
/// rocm, and cuda:0 is of a cuda build; ...". "": all of it is there.
std::string unmet(const std::vector<nlohmann::json>& needs, const run_site& here);

/// What is asked of the device when the check is about to run.
struct asked_requirements {
  std::uint64_t free_memory_bytes = 0;
  bool dtype_arithmetic = false;
};
asked_requirements to_ask(const std::vector<nlohmann::json>& needs);

/// "it needs 2.0 GiB of free memory, and cuda:0 has 1.2 GiB"; "": it has. `state` is the record
/// `device_state` of docs/architecture.md.
std::string memory_unmet(std::uint64_t needed, const std::string& device,
                         const nlohmann::json& state);
std::string arithmetic_unmet(const std::string& dtype, const std::string& device,
                             const nlohmann::json& state);

/// For people: "rocm or cuda; gfx9*; LibTorch 2.7 or newer; 2.0 GiB free".
std::string requirements_text(const std::vector<nlohmann::json>& needs);

}  // namespace assay
