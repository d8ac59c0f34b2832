// SPDX-License-Identifier: Apache-2.0
#include "visibility.hpp"

#include <algorithm>
#include <optional>

#include "text.hpp"

namespace diag_rocm {

namespace {

/// "GPU-" and the unique id in hexadecimal, or the beginning of it.
bool is_uuid_of(std::string_view text, const gpu& g) {
  const std::string id = hex(g.unique_id, 16);
  const std::string wanted = lower(text.substr(std::string_view("GPU-").size()));
  return g.unique_id != 0 && !wanted.empty() && id.rfind(wanted, 0) == 0;
}

std::optional<std::size_t> place_of(std::string_view token, const std::vector<gpu>& among) {
  if (token.substr(0, 4) == "GPU-") {
    const auto at = std::find_if(among.begin(), among.end(),
                                 [&](const gpu& g) { return is_uuid_of(token, g); });
    return at == among.end() ? std::nullopt : std::optional<std::size_t>(at - among.begin());
  }
  const auto index = number(token);
  return index && *index < among.size() ? std::optional<std::size_t>(*index) : std::nullopt;
}

std::string what_is_wrong(std::string_view token, std::size_t among) {
  if (token == "-1") {
    return " hides every GPU from there on";
  }
  if (among == 0) {
    return " chooses among no GPUs";
  }
  return ": \"" + std::string(token) + "\" is none of the GPUs there (" +
         (among == 1 ? "the only one is 0" : "0 to " + std::to_string(among - 1)) +
         "), and the list ends there";
}

/// One filter. The runtimes stop at the first entry that is no device.
std::vector<gpu> filtered(const std::string& name, const std::string& value,
                          const std::vector<gpu>& among, std::vector<std::string>& problems) {
  std::vector<gpu> left;
  std::vector<std::size_t> taken;
  for (const std::string_view token : split(value, ',')) {
    const auto place = place_of(token, among);
    if (!place) {
      problems.push_back(name + "=" + value + what_is_wrong(token, among.size()));
      break;
    }
    if (std::find(taken.begin(), taken.end(), *place) != taken.end()) {
      problems.push_back(name + "=" + value + " names a GPU twice: PyTorch then sees none");
      return {};
    }
    taken.push_back(*place);
    left.push_back(among[*place]);
  }
  return left;
}

}  // namespace

visibility visible_gpus(const std::vector<gpu>& gpus, const environment& variables,
                        system_kind system) {
  visibility seen;
  std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(seen.left),
               [](const gpu& g) { return g.readable; });
  const std::string rocr = value_of(variables, "ROCR_VISIBLE_DEVICES");
  const std::string hip = value_of(variables, "HIP_VISIBLE_DEVICES");
  const std::string cuda = value_of(variables, "CUDA_VISIBLE_DEVICES");
  for (const char* const name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                 "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
    if (is_set(variables, name)) {
      seen.settings.push_back(std::string(name) + "=" + value_of(variables, name));
    }
  }
  const auto empty = [&](const std::string& name) {
    if (is_set(variables, name) && value_of(variables, name).empty()) {
      seen.problems.push_back(name +
                              " is set but empty: HIP takes that for unset, PyTorch for \"no "
                              "GPU\"");
    }
  };
  if (is_set(variables, "GPU_DEVICE_ORDINAL")) {
    seen.ignored.emplace_back("GPU_DEVICE_ORDINAL is for OpenCL only");
  }
  if (system == system_kind::windows && !rocr.empty()) {
    seen.ignored.emplace_back("ROCR_VISIBLE_DEVICES is not read on Windows");
  }
  if (system != system_kind::windows && !rocr.empty()) {
    seen.left = filtered("ROCR_VISIBLE_DEVICES", rocr, seen.left, seen.problems);
  }
  empty("HIP_VISIBLE_DEVICES");
  if (!hip.empty()) {
    if (system != system_kind::windows && !rocr.empty() &&
        split(hip, ',').size() > split(rocr, ',').size()) {
      seen.problems.emplace_back(
          "HIP_VISIBLE_DEVICES lists more GPUs than ROCR_VISIBLE_DEVICES leaves: PyTorch refuses "
          "to start");
    }
    seen.left = filtered("HIP_VISIBLE_DEVICES", hip, seen.left, seen.problems);
  } else if (!cuda.empty()) {
    seen.left = filtered("CUDA_VISIBLE_DEVICES", cuda, seen.left, seen.problems);
  } else if (!is_set(variables, "HIP_VISIBLE_DEVICES")) {
    empty("CUDA_VISIBLE_DEVICES");
  }
  return seen;
}

}  // namespace diag_rocm
