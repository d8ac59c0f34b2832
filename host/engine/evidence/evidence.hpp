// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bind.hpp"

namespace assay::engine {

struct evidence_request {
  const assay_check* check = nullptr;  // at its classic sizes: what is compared with the reference
  std::int32_t dtype = 0;
  c10::Device device{c10::DeviceType::CPU};
  std::uint64_t seed = 0;
  bool large = false;  // `plan` is the check's large form
  std::string trace_file;
};

/// Gathers what docs/evidence-format.md calls `evidence` of a plan that has run and whose inputs
/// are these. A part that cannot be gathered says so; nothing is thrown for it.
nlohmann::json gather_evidence(bound_plan& plan, const std::vector<at::Tensor>& inputs,
                               const evidence_request& request);

}  // namespace assay::engine
