// SPDX-License-Identifier: Apache-2.0
#include "trace_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "trace_rules.hpp"

namespace assay::worker {

namespace {

using form = log_value::form;
using sizes_of = std::vector<std::int64_t>;

double elements(const sizes_of& sizes) {
  double product = 1.0;
  for (const std::int64_t size : sizes) {
    product *= static_cast<double>(size);
  }
  return product;
}

double size_at(const sizes_of& sizes, std::ptrdiff_t dimension) {
  const auto count = static_cast<std::ptrdiff_t>(sizes.size());
  const std::ptrdiff_t at = dimension < 0 ? dimension + count : dimension;
  return at >= 0 && at < count ? static_cast<double>(sizes[static_cast<std::size_t>(at)]) : 1.0;
}

const sizes_of* tensor_sizes(const log_entry& entry, std::size_t position) {
  const log_value* v = argument_of(entry, position);
  return v != nullptr && v->is == form::tensor ? &v->sizes : nullptr;
}

double largest_tensor(const std::vector<log_value>& values) {
  double most = 0.0;
  for (const log_value& v : values) {
    most = std::max({most, v.is == form::tensor ? elements(v.sizes) : 0.0,
                     v.is == form::list ? largest_tensor(v.items) : 0.0});
  }
  return most;
}

/// A product of matrices.
struct contraction {
  double flops = 0.0;     // a multiply-add counts as 2
  double elements = 0.0;  // read and written, of the check's dtype
  double terms = 1.0;     // of the longest sum
};

// a [.., m, k] times b [.., k, n]: 2 m n k for each of the batches (LAPACK working note 41, GEMM).
std::optional<contraction> product(const sizes_of* a, const sizes_of* b) {
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) {
    return std::nullopt;
  }
  const double k = size_at(*a, -1);
  const double n = b->size() == 1 ? 1.0 : size_at(*b, -1);
  const double rows = elements(*a) / std::max(k, 1.0);
  return contraction{2.0 * rows * n * k, elements(*a) + elements(*b) + rows * n, k};
}

// The input times the weight, whose rows are the outputs: [out, in].
std::optional<contraction> linear(const sizes_of* input, const sizes_of* weight) {
  if (input == nullptr || weight == nullptr || input->empty() || weight->size() != 2) {
    return std::nullopt;
  }
  const double k = size_at(*weight, 1);
  const double out = elements(*input) / std::max(k, 1.0) * size_at(*weight, 0);
  return contraction{2.0 * out * k, elements(*input) + elements(*weight) + out, k};
}

std::int64_t listed(const log_value* list, std::size_t i, std::int64_t otherwise) {
  if (list == nullptr || list->items.empty()) {
    return otherwise;
  }
  return list->items[std::min(i, list->items.size() - 1)].integer;
}

// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups).
// Each output element is a sum over the channels of its group and the kernel's window; transposed,
// each input element is spread over as many. (Output sizes: PyTorch's documentation of Conv2d.)
struct convolution_sizes {
  double input = 0.0, weight = 0.0, output = 0.0;  // elements
  double window = 0.0;                             // channels of a group x kernel
  double outputs_per_channel = 0.0;                // batch x output plane
  double flops = 0.0;
};

std::optional<convolution_sizes> convolution(const log_entry& entry, std::size_t first,
                                             std::size_t parameters) {
  const sizes_of* input = tensor_sizes(entry, first);
  const sizes_of* weight = tensor_sizes(entry, first + 1);
  const log_value* transposed = argument_of(entry, parameters + 3);
  if (input == nullptr || weight == nullptr || input->size() < 3 ||
      weight->size() != input->size() || transposed == nullptr) {
    return std::nullopt;
  }
  const bool backwards = transposed->integer != 0;
  const log_value* groups_given = argument_of(entry, parameters + 5);
  const double groups = groups_given == nullptr ? 1.0 : static_cast<double>(groups_given->integer);
  convolution_sizes c;
  c.input = elements(*input);
  c.weight = elements(*weight);
  double plane = 1.0;
  double kernel = 1.0;
  for (std::size_t d = 2; d < input->size(); ++d) {
    const std::int64_t width = (*weight)[d];
    const std::int64_t stride =
        std::max<std::int64_t>(1, listed(argument_of(entry, parameters), d - 2, 1));
    const std::int64_t padding = listed(argument_of(entry, parameters + 1), d - 2, 0);
    const std::int64_t dilation = listed(argument_of(entry, parameters + 2), d - 2, 1);
    const std::int64_t more = listed(argument_of(entry, parameters + 4), d - 2, 0);
    const std::int64_t reach = dilation * (width - 1);
    const std::int64_t size = backwards
                                  ? ((*input)[d] - 1) * stride - 2 * padding + reach + more + 1
                                  : ((*input)[d] + 2 * padding - reach - 1) / stride + 1;
    plane *= static_cast<double>(std::max<std::int64_t>(size, 0));
    kernel *= static_cast<double>(width);
  }
  const double channels = backwards ? size_at(*weight, 1) * groups : size_at(*weight, 0);
  c.outputs_per_channel = size_at(*input, 0) * plane;
  c.output = c.outputs_per_channel * channels;
  c.window =
      kernel * (backwards ? size_at(*weight, 0) / std::max(groups, 1.0) : size_at(*weight, 1));
  // Transposed: the forward product with input and output exchanged.
  c.flops = 2.0 * (backwards ? c.input * kernel * size_at(*weight, 1) : c.output * c.window);
  return c;
}

// Two products of queries x keys x head size for each head, forward; five of them backward (T. Dao
// et al., "FlashAttention-2", section 4: the backward pass has 2.5 times the FLOPs).
std::optional<contraction> attention(const sizes_of* query, const sizes_of* key, bool backward) {
  if (query == nullptr || key == nullptr || query->size() < 2 || key->size() < 2) {
    return std::nullopt;
  }
  const double keys = size_at(*key, -2);
  const double read = elements(*query) + 2.0 * elements(*key);
  const double forward = 4.0 * elements(*query) * keys;
  return contraction{backward ? 2.5 * forward : forward,
                     backward ? 2.0 * (read + elements(*query)) : read + elements(*query), keys};
}

std::optional<contraction> contraction_of(const log_entry& entry) {
  const std::string_view op = base_name(entry.op);
  const auto at = [&](std::size_t position) { return tensor_sizes(entry, position); };
  if (op == "mm" || op == "bmm" || op == "matmul" || op == "mv" || op == "dot") {
    return product(at(0), at(1));
  }
  if (op == "addmm" || op == "baddbmm" || op == "addmv" || op == "addbmm" ||
      op == "_addmm_activation") {
    return product(at(1), at(2));
  }
  if (op == "linear") {
    return linear(at(0), at(1));
  }
  if (op.find("scaled_dot_product") != std::string_view::npos) {
    const bool backward = op.ends_with("_backward");
    return attention(at(backward ? 1 : 0), at(backward ? 2 : 1), backward);
  }
  if (op == "convolution" || op == "_convolution" || op == "convolution_overrideable") {
    if (const auto c = convolution(entry, 0, 3)) {
      return contraction{c->flops, c->input + c->weight + c->output, c->window};
    }
  }
  if (op == "convolution_backward") {  // (grad_output, input, weight, bias_sizes, stride, ...)
    if (const auto c = convolution(entry, 1, 4)) {
      // The products for the input's and the weight's gradient are as large as the forward one.
      const log_value* mask = argument_of(entry, 10);
      double products = 0.0;
      for (std::size_t i = 0; i < 2; ++i) {
        products += listed(mask, i, 1) != 0 ? 1.0 : 0.0;
      }
      return contraction{products * c->flops, c->output + 2.0 * (c->input + c->weight),
                         std::max(c->window, c->outputs_per_channel)};
    }
  }
  return std::nullopt;
}

// Operators that touch a part of a tensor: what they read of it, not all of it.
void describe_picking(const log_entry& entry, check& made) {
  const std::string_view op = base_name(entry.op);
  const sizes_of* self = tensor_sizes(entry, 0);
  if (self == nullptr) {
    return;
  }
  constexpr double index_bytes = 8.0;
  if (op == "embedding") {
    if (const sizes_of* index = tensor_sizes(entry, 1)) {
      made.moves(2.0 * elements(*index) * size_at(*self, -1), index_bytes * elements(*index));
    }
  } else if (op == "gather") {
    if (const sizes_of* index = tensor_sizes(entry, 2)) {
      made.moves(2.0 * elements(*index), index_bytes * elements(*index));
    }
  } else if (op == "index_select") {
    const log_value* dimension = argument_of(entry, 1);
    const sizes_of* index = tensor_sizes(entry, 2);
    if (dimension != nullptr && index != nullptr) {
      const double row = elements(*self) / std::max(1.0, size_at(*self, dimension->integer));
      made.moves(2.0 * row * elements(*index), index_bytes * elements(*index));
    }
  }
}

constexpr std::string_view elementwise =
    " abs add addcmul alias bitwise_and bitwise_not cat ceil clamp clamp_max clamp_min clone copy "
    "cos detach div elu embedding eq erf exp expm1 fill floor ge gelu gather gt hardsigmoid "
    "hardswish hardtanh index index_select le leaky_relu lerp log lt masked_fill maximum minimum "
    "mul ne neg reciprocal relu round rsqrt rsub sigmoid sign silu sin slice_backward split sqrt "
    "stack sub tanh threshold_backward unfold where zero _to_copy _unsafe_view ";

// Their integer outputs are indices of values: where values are equal, either will do.
struct picking_op {
  std::string_view op;
  std::size_t dimension;      // the argument that names it
  bool gives_values = false;  // without a dimension
};
constexpr std::array picking{
    picking_op{"max", 1, true}, picking_op{"min", 1, true}, picking_op{"median", 1, true},
    picking_op{"argmax", 1},    picking_op{"argmin", 1},    picking_op{"topk", 2},
    picking_op{"sort", 1},      picking_op{"cummax", 1},    picking_op{"cummin", 1}};

// Gradients of a pooling take indices that its forward pass found, which no input that is made has;
// and what batch norm returns besides its output, when it does not train, is each backend's own.
bool is_incomparable(const log_entry& entry) {
  const std::string_view op = base_name(entry.op);
  if (op.find("max_pool") != std::string_view::npos && op.ends_with("_backward")) {
    return true;
  }
  constexpr std::size_t training_argument = 5;
  const log_value* training = argument_of(entry, training_argument, "training");
  return op == "native_batch_norm" && training != nullptr && training->is == form::boolean &&
         training->integer == 0;
}

void describe_accuracy(const log_entry& entry, check& made) {
  if (is_incomparable(entry)) {
    made.incomparable();
    return;
  }
  constexpr double roundings = 16.0;
  const std::string_view op = base_name(entry.op);
  const bool sums = elementwise.find(" " + std::string(op) + " ") == std::string_view::npos;
  // How long the sums of an operator are that is not known: no longer than its largest tensor.
  made.rounds(roundings, sums ? std::max(1.0, largest_tensor(entry.arguments)) : 1.0);
  const auto picks =
      std::find_if(picking.begin(), picking.end(), [&](const picking_op& p) { return p.op == op; });
  if (picks == picking.end()) {
    return;
  }
  const log_value* dimension = argument_of(entry, picks->dimension, "dim");
  if (dimension != nullptr && dimension->is == form::integer) {
    made.picks(0, static_cast<std::int32_t>(dimension->integer));
  } else if (!picks->gives_values) {
    made.picks(0, -1);
  }
}

}  // namespace

void describe_work(const log_entry& entry, check& made) {
  if (const auto c = contraction_of(entry)) {
    // One rounding of the result, and one to spare; attention rounds its scores, too. Winograd's
    // transforms cost a convolution accuracy (plugins/conv).
    const bool convolved = base_name(entry.op).find("convolution") != std::string_view::npos;
    const bool attends = base_name(entry.op).find("attention") != std::string_view::npos;
    const double terms = std::max(1.0, c->terms);
    const double lost = convolved ? std::pow(14.0 + 2.0 * std::sqrt(terms), 2) : terms;
    made.moves(c->elements).matrix_flops(c->flops).contracts(attends ? 8.0 : 2.0, lost);
    return;
  }
  describe_picking(entry, made);
  describe_accuracy(entry, made);
}

}  // namespace assay::worker
