// SPDX-License-Identifier: Apache-2.0
//
// Operators that these tests register in LibTorch, in the namespace assay_test.
#pragma once

#include <cstdint>

namespace assay::tests {

/// How often one of assay_test's operators has run since the process began.
std::int64_t operator_calls();

}  // namespace assay::tests
