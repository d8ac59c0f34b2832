// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include <limits>
#include <string>

#include "bind.hpp"
#include "dtypes.hpp"
#include "host/common/generator.hpp"

namespace assay::engine {

namespace {

template <typename Scalar, typename Make>
void fill(const at::Tensor& tensor, std::uint64_t h, Make&& make) {
  auto* data = tensor.data_ptr<Scalar>();
  const std::int64_t count = tensor.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    data[i] = static_cast<Scalar>(make(draw(h, static_cast<std::uint64_t>(i))));
  }
}

void fill_as_asked(const at::Tensor& tensor, const assay_input& wanted, std::uint64_t h) {
  const bool floating = tensor.is_floating_point();
  if (wanted.fill == ASSAY_FILL_MASK) {
    fill<bool>(tensor, h, [&](std::uint64_t z) { return mask_value(z, wanted.low); });
    return;
  }
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, tensor.scalar_type(), "assay_fill", [&] {
    if (wanted.fill == ASSAY_FILL_NORMAL) {
      fill<scalar_t>(tensor, h, [](std::uint64_t z) { return normal_value(z); });
    } else if (wanted.fill == ASSAY_FILL_UNIFORM && floating) {
      fill<scalar_t>(tensor, h, [&](std::uint64_t z) {
        return uniform_value(z, wanted.low, wanted.high, true);
      });
    } else {
      fill<scalar_t>(tensor, h,
                     [&](std::uint64_t z) { return index_value(z, wanted.low, wanted.high); });
    }
  });
}

}  // namespace

std::vector<at::Tensor> make_inputs(const assay_check& check, std::int32_t dtype,
                                    const at::Device& device, std::uint64_t run_seed) {
  const std::string id = std::string(check.category) + "/" + check.name;
  std::vector<at::Tensor> inputs;
  for (std::uint32_t i = 0; i < check.input_count; ++i) {
    const assay_input& wanted = *check.inputs[i];
    const auto type = scalar_type(wanted.dtype == ASSAY_DTYPE_OF_CHECK ? dtype : wanted.dtype);
    const bool floating = c10::isFloatingType(type);
    if ((wanted.fill == ASSAY_FILL_NORMAL && !floating) ||
        (wanted.fill == ASSAY_FILL_MASK) != (type == c10::ScalarType::Bool)) {
      throw plan_error("input " + std::to_string(i) + " cannot be filled as asked in " +
                       c10::toString(type));
    }
    const at::Tensor made =
        at::empty(at::IntArrayRef(wanted.sizes, wanted.dimensions), at::dtype(type));
    fill_as_asked(made, wanted, input_seed(id, i, run_seed));
    inputs.push_back(device.is_cpu() ? made : made.to(device));
  }
  return inputs;
}

}  // namespace assay::engine
