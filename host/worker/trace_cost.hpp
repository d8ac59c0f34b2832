// SPDX-License-Identifier: Apache-2.0
//
// The work of a traced call, from its shapes, and how near its output must be to the reference.
#pragma once

#include <assay/plugin.hpp>

#include "trace_log.hpp"

namespace assay::worker {

/// Gives a check its accuracy, and its cost where the operator is known: products of matrices,
/// convolutions, attention, and what touches a part of a tensor. Others move all their inputs and
/// outputs once.
void describe_work(const log_entry& entry, check& made);

}  // namespace assay::worker
