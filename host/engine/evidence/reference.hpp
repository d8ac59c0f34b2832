// SPDX-License-Identifier: Apache-2.0
//
// Whether a plan's output is right: against the same work on the CPU in float64, against itself,
// and against writing outside its bounds.
#pragma once

#include <ATen/core/Tensor.h>
#include <assay/abi.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bind.hpp"

namespace assay::engine {

/// Of an index output: the input that it picks from (on the CPU, float64) and the dimension.
struct picked_input {
  at::Tensor values;
  std::int64_t dimension = 0;
};

/// One output, on whatever device, against its reference on the CPU; see docs/evidence-format.md,
/// `correct.outputs[]`. The reference's float64 stands for one of `types`, the first of which is
/// the check's.
nlohmann::json compare_output(const at::Tensor& output, const at::Tensor& reference,
                              const c10::Device& asked, const std::vector<c10::ScalarType>& types,
                              const std::optional<picked_input>& picked);

/// The outputs of the check's reference: its own plan, or else the plan itself, on the CPU from
/// these inputs with floating-point ones in float64. Throws what LibTorch throws.
std::vector<at::Tensor> reference_outputs(const assay_check& check,
                                          const std::vector<at::Tensor>& inputs);

/// A reference of the check's own that can be bound to no LibTorch is a fault of the op pack, and
/// would leave the check without a judgement: throws plan_error. An operator that this LibTorch
/// lacks is none.
void check_reference(const assay_check& check);

/// Whether the plan's last operator, called as its out= overload, keeps to the memory it was given.
struct margin_result {
  std::string state;  // "intact", "overwritten", "unknown"
  std::string why;
};
margin_result examine_margins(bound_plan& plan);

/// The same bytes, element by element.
bool bitwise_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);

/// Copies on the CPU, contiguous.
std::vector<at::Tensor> on_cpu(const std::vector<at::Tensor>& tensors);

}  // namespace assay::engine
