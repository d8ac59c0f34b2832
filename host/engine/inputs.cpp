// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include "bind.hpp"
#include "dtypes.hpp"
#include "host/common/generator.hpp"

namespace assay::engine {

namespace {

// LibTorch's own parallel_for runs in parallel only where it is compiled with its OpenMP flag.
template <typename Range>
void in_parallel(std::int64_t count, Range&& range) {
  constexpr std::int64_t worth_a_thread = 131072;
  const std::int64_t most = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, 8);
  const std::int64_t parts = std::clamp<std::int64_t>(count / worth_a_thread, 1, most);
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&range, part, parts, count] { range(part * count / parts, (part + 1) * count / parts); });
  }
  range(0, count / parts);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

template <typename Scalar, typename Make>
void fill(const at::Tensor& tensor, std::uint64_t h, Make&& make) {
  auto* data = tensor.data_ptr<Scalar>();
  in_parallel(tensor.numel(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      data[i] = static_cast<Scalar>(make(draw(h, static_cast<std::uint64_t>(i))));
    }
  });
}

// Contiguous: the sum of an element's indices follows from counting them up.
void fill_distinct(const at::Tensor& tensor, const assay_input& wanted, std::uint64_t h) {
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, tensor.scalar_type(), "assay_fill", [&] {
    auto* data = tensor.data_ptr<scalar_t>();
    std::vector<std::int64_t> index(wanted.dimensions, 0);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      data[i] = static_cast<scalar_t>(distinct_value(draw(h, 0), sum, wanted.low, wanted.high));
      for (std::size_t d = wanted.dimensions; d-- > 0;) {
        ++sum;
        if (++index[d] < wanted.sizes[d]) {
          break;
        }
        sum -= index[d];
        index[d] = 0;
      }
    }
  });
}

void fill_as_asked(const at::Tensor& tensor, const assay_input& wanted, std::uint64_t h) {
  if (wanted.fill == ASSAY_FILL_DISTINCT) {
    fill_distinct(tensor, wanted, h);
    return;
  }
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

// Host memory for one input on its way to a device, used again for the next: fresh pages cost more
// than the values in them.
at::Tensor staged(at::IntArrayRef sizes, c10::ScalarType type) {
  static at::Tensor memory;
  const std::int64_t bytes =
      c10::multiply_integers(sizes) * static_cast<std::int64_t>(c10::elementSize(type));
  if (!memory.defined() || memory.numel() < bytes) {
    memory = at::empty({bytes}, at::dtype(at::kByte));
  }
  return at::from_blob(memory.data_ptr(), sizes, at::dtype(type));
}

// These values in memory laid out as asked. The memory between them is 0.
at::Tensor with_strides(const at::Tensor& values, const assay_input& wanted,
                        const at::Device& device) {
  const at::IntArrayRef sizes(wanted.sizes, wanted.dimensions);
  const at::IntArrayRef strides(wanted.strides, wanted.dimensions);
  std::int64_t reach = values.numel() == 0 ? 0 : 1;
  at::Tensor first = values;
  for (std::uint32_t d = 0; d < wanted.dimensions && reach > 0; ++d) {
    reach += (sizes[d] - 1) * strides[d];
    if (strides[d] == 0) {
      first = first.narrow(d, 0, 1);
    }
  }
  const at::Tensor memory = at::zeros({reach}, values.options());
  memory.as_strided(first.sizes(), strides).copy_(first);
  return memory.to(device).as_strided(sizes, strides);
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
    const at::IntArrayRef sizes(wanted.sizes, wanted.dimensions);
    const at::Tensor made =
        device.is_cpu() ? at::empty(sizes, at::dtype(type)) : staged(sizes, type);
    fill_as_asked(made, wanted, input_seed(id, i, run_seed));
    if (wanted.strides != nullptr) {
      inputs.push_back(with_strides(made, wanted, device));
    } else {
      inputs.push_back(device.is_cpu() ? made : made.to(device));
    }
  }
  return inputs;
}

}  // namespace assay::engine
