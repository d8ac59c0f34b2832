// SPDX-License-Identifier: Apache-2.0
// Planted faults that change a result after it was computed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "switches.h"

namespace assay_simulated {

// On host aliases. The first `written` results are arguments that the operator wrote to; `call`
// counts the calls of the kernel.
void spoil(const std::vector<at::Tensor>& results, size_t written, const Faults& faults,
           uint64_t call);

}  // namespace assay_simulated
