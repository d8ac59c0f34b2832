// SPDX-License-Identifier: Apache-2.0
#include "evidence/reference.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/gather.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "dtypes.hpp"

namespace assay::engine {

namespace {

using nlohmann::json;

bool is_inexact(const at::Tensor& t) { return t.is_floating_point(); }

at::Tensor as_doubles(const at::Tensor& t) {
  return t.detach().to(at::Device(at::kCPU), at::kDouble).contiguous();
}

constexpr std::int64_t grain = 1 << 15;  // elements a thread takes at least

bool all_same(const double* values, std::int64_t count) {
  std::int64_t i = 1;
  while (i < count && values[i] == values[0]) {
    ++i;
  }
  return count > 0 && i >= count;
}

struct difference {
  double squared_error = 0.0;
  double max_error = 0.0;
  double scaled_max_error = 0.0;
  std::int64_t nan_mismatched = 0;
  std::int64_t inf_mismatched = 0;
  std::int64_t mismatched = 0;

  void add(const difference& other) {
    squared_error += other.squared_error;
    max_error = std::max(max_error, other.max_error);
    scaled_max_error = std::max(scaled_max_error, other.scaled_max_error);
    nan_mismatched += other.nan_mismatched;
    inf_mismatched += other.inf_mismatched;
    mismatched += other.mismatched;
  }

  // `rounded`: the reference in the output's dtype.
  void add(double out, double ref, double rounded, double rms) {
    mismatched += out == rounded || (std::isnan(out) && std::isnan(rounded)) ? 0 : 1;
    if (std::isnan(out) || std::isnan(ref)) {
      nan_mismatched += std::isnan(out) != std::isnan(ref) ? 1 : 0;
      return;
    }
    // An infinity that the dtype's range makes of a large value is no error of the operator.
    if (std::isinf(out) || std::isinf(ref)) {
      inf_mismatched += out != ref && out != rounded ? 1 : 0;
      return;
    }
    const double error = std::abs(out - ref);
    squared_error += error * error;
    max_error = std::max(max_error, error);
    if (error > 0.0) {
      scaled_max_error = std::max(scaled_max_error, error / (std::abs(ref) + rms));
    }
  }
};

// Folds `part(begin, end)` over all elements, on all threads.
template <typename Result, typename Part>
Result in_parts(std::int64_t count, Part&& part) {
  Result whole{};
  std::mutex mutex;
  at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    const Result mine = part(begin, end);
    const std::scoped_lock lock(mutex);
    whole.add(mine);
  });
  return whole;
}

struct finite_sum {
  double squares = 0.0;
  std::int64_t count = 0;
  void add(const finite_sum& other) {
    squares += other.squares;
    count += other.count;
  }
};

finite_sum sum_of_squares(const double* values, std::int64_t count) {
  return in_parts<finite_sum>(count, [&](std::int64_t begin, std::int64_t end) {
    finite_sum sum;
    for (std::int64_t i = begin; i < end; ++i) {
      if (std::isfinite(values[i])) {
        sum.squares += values[i] * values[i];
        ++sum.count;
      }
    }
    return sum;
  });
}

difference difference_of(const double* out, const double* ref, const double* rounded,
                         std::int64_t count, double rms) {
  return in_parts<difference>(count, [&](std::int64_t begin, std::int64_t end) {
    difference d;
    for (std::int64_t i = begin; i < end; ++i) {
      d.add(out[i], ref[i], rounded[i], rms);
    }
    return d;
  });
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
    const at::Tensor out = values_at(output).contiguous();
    const at::Tensor ref = values_at(reference).contiguous();
    const auto* values = ref.const_data_ptr<double>();
    return difference_of(out.const_data_ptr<double>(), values, values, out.numel(), 0.0).mismatched;
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

bound_plan bind_reference(const assay_check& check) {
  assay_check wanted = check;
  if (check.reference_call_count > 0) {
    wanted.calls = check.reference_calls;
    wanted.call_count = check.reference_call_count;
    return bound_plan(wanted, {at::kCPU, at::kDouble, "reference call"});
  }
  return bound_plan(wanted, {at::kCPU, at::kDouble});
}

}  // namespace

json compare_output(const at::Tensor& output, const at::Tensor& reference, const c10::Device& asked,
                    const std::vector<c10::ScalarType>& types,
                    const std::optional<picked_input>& picked) {
  const bool any_of_types = reference.scalar_type() == at::kDouble;
  const c10::ScalarType expected_type = any_of_types ? types.front() : reference.scalar_type();
  const bool same_shape = output.sizes() == reference.sizes();
  const bool same_type =
      any_of_types ? std::find(types.begin(), types.end(), output.scalar_type()) != types.end()
                   : output.scalar_type() == expected_type;
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
  const at::Tensor rounded = as_doubles(reference.to(output.scalar_type()));
  const auto* ref_values = ref.const_data_ptr<double>();
  record["reference_constant"] = all_same(ref_values, ref.numel());
  const finite_sum squares = sum_of_squares(ref_values, ref.numel());
  const double rms =
      squares.count > 0 ? std::sqrt(squares.squares / static_cast<double>(squares.count)) : 0.0;
  const difference d =
      difference_of(out_values, ref_values, rounded.const_data_ptr<double>(), out.numel(), rms);
  record["nan_mismatched"] = d.nan_mismatched;
  record["inf_mismatched"] = d.inf_mismatched;
  record["max_error"] = d.max_error;
  record["mismatched"] = d.mismatched;
  if (is_inexact(output)) {
    record["normalised_error"] = squares.squares > 0.0
                                     ? std::sqrt(d.squared_error / squares.squares)
                                     : std::sqrt(d.squared_error);
    record["scaled_max_error"] = d.scaled_max_error;
  } else if (picked) {
    record["mismatched_picks"] = mismatched_picks(output, reference, *picked);
  }
  return record;
}

void check_reference(const assay_check& check) {
  if (check.reference_call_count == 0) {
    return;
  }
  try {
    bind_reference(check);
  } catch (const missing_operator&) {
    // The correctness is unknown then, and says so.
  }
}

std::vector<at::Tensor> reference_outputs(const assay_check& check,
                                          const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> precise;
  for (const at::Tensor& input : inputs) {
    precise.push_back(is_inexact(input) ? as_doubles(input) : input.to(at::kCPU));
  }
  bound_plan plan = bind_reference(check);
  for (std::size_t i = 0; i < precise.size(); ++i) {
    if (plan.writes_to(i)) {
      precise[i] = precise[i].clone();  // on the CPU it may be the input itself
    }
  }
  plan.set_inputs(std::move(precise));
  try {
    plan.run();
  } catch (const c10::Error& e) {
    throw std::runtime_error(plan.failed_call() + e.what_without_backtrace());
  }
  return plan.outputs();
}

std::vector<at::Tensor> on_cpu(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& t : tensors) {
    const at::Tensor here = t.detach().to(at::kCPU);
    // On the CPU to() copies nothing.
    copies.push_back(t.is_cpu() ? here.clone().contiguous() : here.contiguous());
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
