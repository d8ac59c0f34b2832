// SPDX-License-Identifier: Apache-2.0
#include "spoil.h"

#include <ATen/ops/logical_not.h>

#include <limits>

namespace assay_simulated {
namespace {

void make_wrong(const at::Tensor& result) {
  if (result.scalar_type() == at::kBool) {
    result.copy_(at::logical_not(result));
  } else if (at::isIntegralType(result.scalar_type(), false)) {
    result.add_(1);
  } else {
    result.mul_(1.25).add_(0.5);
  }
}

void make_one_wrong(const at::Tensor& result) {
  at::Tensor element = result;
  while (element.dim() > 0) element = element.select(0, element.size(0) / 2);
  if (element.scalar_type() == at::kBool) {
    element.copy_(at::logical_not(element));
  } else {
    element.add_(1);
  }
}

double epsilon(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return 0x1p-52;
    case at::kHalf:
      return 0x1p-10;
    case at::kBFloat16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

// One unit in the last place on a slice that wanders: two calls differ, however many lie between
// them (up to the longest dimension), and the result stays right within any tolerance.
void make_unrepeatable(const at::Tensor& result, uint64_t call) {
  if (!at::isFloatingType(result.scalar_type())) return;
  const double last_place = epsilon(result.scalar_type());
  int64_t longest = 0;
  for (int64_t i = 0; i < result.dim(); ++i) {
    if (result.size(i) > result.size(longest)) longest = i;
  }
  if (result.dim() == 0 || result.size(longest) < 3) {
    result.mul_(1 + last_place * static_cast<double>(call % 3));
  } else {
    const auto size = static_cast<uint64_t>(result.size(longest));
    result.select(longest, static_cast<int64_t>(call % size)).mul_(1 + last_place);
  }
}

// Only memory that belongs to the tensor's storage.
void overrun(const at::Tensor& tensor) {
  int64_t end = tensor.storage_offset() + 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) end += (tensor.size(i) - 1) * tensor.stride(i);
  const size_t item = tensor.itemsize();
  const size_t position = static_cast<size_t>(end) * item;
  if (position + item > tensor.storage().nbytes()) return;
  auto* bytes = static_cast<unsigned char*>(tensor.storage().mutable_data()) + position;
  for (size_t i = 0; i < item; ++i) bytes[i] = static_cast<unsigned char>(~bytes[i]);
}

}  // namespace

void spoil(const std::vector<at::Tensor>& results, size_t written, const Faults& faults,
           uint64_t call) {
  bool first = true;
  for (const auto& result : results) {
    if (result.numel() == 0) continue;
    if (faults.wrong) make_wrong(result);
    if (faults.nan && at::isFloatingType(result.scalar_type())) {
      result.fill_(std::numeric_limits<double>::quiet_NaN());
    }
    if (faults.zeros) result.zero_();
    if (faults.constant) result.fill_(1);
    if (faults.one_wrong && first) make_one_wrong(result);
    if (faults.unrepeatable) make_unrepeatable(result, call);
    first = false;
  }
  for (size_t i = 0; i < written && faults.overrun; ++i) {
    if (results[i].numel() > 0) overrun(results[i]);
  }
}

}  // namespace assay_simulated
