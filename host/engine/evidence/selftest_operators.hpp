// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

namespace assay::engine {

/// Registers the operators of `assay selftest`, namespace assay_selftest, when a plan names one:
/// each has one fault that a link of the chain of evidence must find. Never part of another run.
void register_selftest_operators(const assay_check& check);

}  // namespace assay::engine
