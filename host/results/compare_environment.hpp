// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "compare.hpp"

namespace assay {

/// What the two sides say of themselves and differ in, in the order of environment_groups. Ceilings
/// are there where they moved by more than runs of one machine differ.
std::vector<environment_change> compare_environments(const std::vector<saved_run>& before,
                                                     const std::vector<saved_run>& after);

}  // namespace assay
