// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::benchmarks {

/// harness/*: what bound_plan and time_batch() add to the boxed calls themselves.
void register_harness_benchmarks();

}  // namespace assay::benchmarks
