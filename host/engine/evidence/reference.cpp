// SPDX-License-Identifier: Apache-2.0
#include "evidence/reference.hpp"

#include <ATen/ops/gather.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "dtypes.hpp"

namespace assay::engine {

namespace {

using nlohmann::json;

bool is_inexact(const at::Tensor& t) { return t.is_floating_point(); }

at::Tensor as_doubles(const at::Tensor& t) {
  return t.detach().to(at::Device(at::kCPU), at::kDouble).contiguous();
}

bool all_same(const double* values, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i) {
    if (values[i] != values[0]) {
      return false;
    }
  }
  return count > 0;
}

struct difference {
  double squared_error = 0.0;
  double squared_reference = 0.0;
  double max_error = 0.0;
  double scaled_max_error = 0.0;
  std::int64_t nan_mismatched = 0;
  std::int64_t inf_mismatched = 0;
};

difference difference_of(const double* out, const double* ref, std::int64_t count) {
  difference d;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isfinite(ref[i])) {
      d.squared_reference += ref[i] * ref[i];
      ++finite;
    }
  }
  const double rms =
      finite > 0 ? std::sqrt(d.squared_reference / static_cast<double>(finite)) : 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(out[i]) || std::isnan(ref[i])) {
      d.nan_mismatched += std::isnan(out[i]) != std::isnan(ref[i]) ? 1 : 0;
      continue;
    }
    if (std::isinf(out[i]) || std::isinf(ref[i])) {
      d.inf_mismatched += out[i] != ref[i] ? 1 : 0;
      continue;
    }
    const double error = std::abs(out[i] - ref[i]);
    d.squared_error += error * error;
    d.max_error = std::max(d.max_error, error);
    if (error > 0.0) {
      d.scaled_max_error = std::max(d.scaled_max_error, error / (std::abs(ref[i]) + rms));
    }
  }
  return d;
}

// Elements that are not the reference rounded to the output's dtype.
std::int64_t count_mismatched(const at::Tensor& output, const at::Tensor& reference) {
  const at::Tensor rounded = as_doubles(reference.to(output.scalar_type()));
  const at::Tensor values = as_doubles(output);
  const auto* out = values.const_data_ptr<double>();
  const auto* ref = rounded.const_data_ptr<double>();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    count += out[i] == ref[i] || (std::isnan(out[i]) && std::isnan(ref[i])) ? 0 : 1;
  }
  return count;
}

// Indices may differ where the values that they pick are equal.
json mismatched_picks(const at::Tensor& output, const at::Tensor& reference,
                      const picked_input& picked) {
  const auto values_at = [&](const at::Tensor& indices) {
    at::Tensor at = indices.to(at::kCPU, at::kLong);
    if (at.dim() == 0) {
      return picked.values.flatten().gather(0, at.reshape({1}));
    }
    if (at.dim() + 1 == picked.values.dim()) {
      at = at.unsqueeze(picked.dimension);
    }
    return at::gather(picked.values, picked.dimension, at);
  };
  try {
    return count_mismatched(values_at(output), values_at(reference));
  } catch (const std::exception&) {
    return output.numel();  // an index out of range picks nothing
  }
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  if (a.layout() != b.layout() || a.dim() != b.dim()) {
    return false;
  }
  for (std::int64_t i = 0; i < a.dim(); ++i) {
    if (a.size(i) > 1 && a.stride(i) != b.stride(i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

json compare_output(const at::Tensor& output, const at::Tensor& reference, const c10::Device& asked,
                    c10::ScalarType check_type, const std::optional<picked_input>& picked) {
  const c10::ScalarType expected_type =
      reference.scalar_type() == at::kDouble ? check_type : reference.scalar_type();
  const bool same_shape = output.sizes() == reference.sizes();
  const bool same_type = output.scalar_type() == expected_type;
  const bool layout = same_shape && same_layout(output, reference);
  json record{{"elements", output.numel()},
              {"kind", is_inexact(output) ? "floating" : "exact"},
              {"normalised_error", nullptr},
              {"scaled_max_error", nullptr},
              {"max_error", nullptr},
              {"mismatched", nullptr},
              {"mismatched_picks", nullptr},
              {"nan_mismatched", nullptr},
              {"inf_mismatched", nullptr},
              {"constant", nullptr},
              {"all_zero", nullptr},
              {"reference_constant", nullptr},
              {"device_as_asked", output.device() == asked},
              {"shape_as_reference", same_shape},
              {"dtype_as_reference", same_type},
              {"layout_as_reference", layout},
              {"expected", nullptr}};
  if (!same_shape || !same_type || !layout) {
    record["expected"] = {
        {"shape", reference.sizes().vec()},
        {"dtype", name_of(expected_type)},
        {"strides", reference.layout() == at::kStrided ? json(reference.strides().vec()) : json()}};
  }
  const at::Tensor out = as_doubles(output);
  const auto* out_values = out.const_data_ptr<double>();
  const bool constant = all_same(out_values, out.numel());
  record["constant"] = constant && out.numel() > 1;
  record["all_zero"] = constant && out_values[0] == 0.0;
  if (!same_shape) {
    return record;
  }
  const at::Tensor ref = as_doubles(reference);
  const auto* ref_values = ref.const_data_ptr<double>();
  record["reference_constant"] = all_same(ref_values, ref.numel());
  const difference d = difference_of(out_values, ref_values, out.numel());
  record["nan_mismatched"] = d.nan_mismatched;
  record["inf_mismatched"] = d.inf_mismatched;
  record["max_error"] = d.max_error;
  record["mismatched"] = count_mismatched(output, reference);
  if (is_inexact(output)) {
    record["normalised_error"] = d.squared_reference > 0.0
                                     ? std::sqrt(d.squared_error / d.squared_reference)
                                     : std::sqrt(d.squared_error);
    record["scaled_max_error"] = d.scaled_max_error;
  } else if (picked) {
    record["mismatched_picks"] = mismatched_picks(output, reference, *picked);
  }
  return record;
}

std::vector<at::Tensor> reference_outputs(const assay_check& check,
                                          const std::vector<at::Tensor>& inputs) {
  assay_check wanted = check;
  if (check.reference_call_count > 0) {
    wanted.calls = check.reference_calls;
    wanted.call_count = check.reference_call_count;
  }
  std::vector<at::Tensor> precise;
  for (const at::Tensor& input : inputs) {
    precise.push_back(is_inexact(input) ? as_doubles(input) : input.to(at::kCPU));
  }
  bound_plan plan(wanted);
  plan.set_inputs(std::move(precise));
  plan.run();
  return plan.outputs();
}

std::vector<at::Tensor> on_cpu(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& t : tensors) {
    copies.push_back(t.detach().to(at::kCPU).clone().contiguous());
  }
  return copies;
}

bool bitwise_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].sizes() != b[i].sizes() || a[i].scalar_type() != b[i].scalar_type() ||
        std::memcmp(a[i].const_data_ptr(), b[i].const_data_ptr(), a[i].nbytes()) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace assay::engine
