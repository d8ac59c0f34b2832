// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

namespace assay_simulated {

// A CPU generator: random operators of the device are the CPU's.
const at::Generator& default_generator();

}  // namespace assay_simulated
