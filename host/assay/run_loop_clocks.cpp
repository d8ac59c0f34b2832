// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that notes what the devices' clocks are before and after it.
#include <algorithm>

#include "collected_run.hpp"
#include "environment_record.hpp"
#include "result_record.hpp"
#include "run_loop.hpp"

namespace assay {

using nlohmann::json;

void run_loop::write_clocks(const char* when, const std::vector<planned_check>& checks) {
  std::vector<std::string> devices;
  for (const planned_check& check : checks) {
    if (std::find(devices.begin(), devices.end(), check.device) == devices.end()) {
      devices.push_back(check.device);
    }
  }
  const bool nvidia = text_of(engine_, "build") == "cuda" &&
                      std::any_of(devices.begin(), devices.end(), [](const std::string& device) {
                        return device.starts_with("cuda");
                      });
  write(clocks_record(when, devices, engine_, nvidia ? ask_management() : json()));
}

json run_loop::ask_management() {
  if (!worker_) {
    return {{"why", "no worker was left to ask NVIDIA's management library"}};
  }
  std::string failure;
  json record =
      ask_worker({{"do", "clocks"}}, "clocks", "asking NVIDIA's management library", failure);
  if (failure.empty()) {
    return record;
  }
  return {{"why", "NVIDIA's management library: " + failure}};
}

}  // namespace assay
