// SPDX-License-Identifier: Apache-2.0
#include "trace_rules.hpp"

#include <algorithm>
#include <array>

namespace assay::worker {

namespace {

using form = log_value::form;

// What a rule asks for; `a` and `b` are the rule's numbers.
enum class want {
  below_size,      // indices below size b of the tensor at a (b < 0: from its last dimension)
  below_size_by,   // indices below the size that the integer at b names, of the tensor at a
  below_integer,   // indices below the integer at a
  below_elements,  // indices below the number of elements of the tensor at a
  below_plane,     // indices below the product of the last b sizes of the tensor at a
  below_product,   // indices below the product of the integers in the list at a
  below_classes,   // indices below size 1 of the tensor at a (size 0 where it has one dimension)
  below_item,      // of a list: the item's place is the dimension of the tensor at a
  whole,           // whole numbers in [a, b)
  evenly           // evenly in [a, b)
};

struct rule {
  std::string_view op;   // without namespace; with ".overload": of that one alone
  std::size_t argument;  // its place in the schema
  want values;
  double a = 0.0, b = 0.0;
  bool distinct = false;  // no place may be written twice
};

// One line a tensor. A new operator whose values matter gets a line here, and nothing else.
constexpr std::array rules{
    // ---- indices
    rule{"embedding", 1, want::below_size, 0, 0},
    rule{"embedding_dense_backward", 1, want::below_integer, 2},
    rule{"embedding_backward", 1, want::below_integer, 2},
    rule{"embedding_renorm", 1, want::below_size, 0, 0},
    rule{"_embedding_bag", 1, want::below_size, 0, 0},
    rule{"_embedding_bag_forward_only", 1, want::below_size, 0, 0},
    rule{"embedding_bag", 1, want::below_size, 0, 0},
    rule{"_embedding_bag", 2, want::whole, 0, 1},  // offsets rise from 0: all in the last bag
    rule{"_embedding_bag_forward_only", 2, want::whole, 0, 1},
    rule{"embedding_bag", 2, want::whole, 0, 1},
    rule{"_embedding_bag_dense_backward", 1, want::below_integer, 5},
    rule{"_embedding_bag_dense_backward", 2, want::below_size, 0, 0},
    rule{"_embedding_bag_dense_backward", 3, want::whole, 1, 2},
    rule{"_embedding_bag_dense_backward", 4, want::whole, 0, 1},
    rule{"_embedding_bag_backward", 1, want::below_integer, 6},
    rule{"_embedding_bag_backward", 2, want::whole, 0, 1},
    rule{"_embedding_bag_backward", 3, want::below_size, 0, 0},
    rule{"_embedding_bag_backward", 4, want::whole, 1, 2},
    rule{"_embedding_bag_backward", 5, want::whole, 0, 1},
    rule{"gather", 2, want::below_size_by, 0, 1},
    rule{"gather_backward", 3, want::below_size_by, 1, 2},
    rule{"take_along_dim", 1, want::below_size_by, 0, 2},
    rule{"index_select", 2, want::below_size_by, 0, 1},
    rule{"index_add", 2, want::below_size_by, 0, 1},
    rule{"index_fill", 2, want::below_size_by, 0, 1},
    rule{"index_reduce", 2, want::below_size_by, 0, 1},
    rule{"index_copy", 2, want::below_size_by, 0, 1, true},
    rule{"scatter", 2, want::below_size_by, 0, 1, true},
    rule{"scatter_add", 2, want::below_size_by, 0, 1},
    rule{"scatter_reduce", 2, want::below_size_by, 0, 1},
    rule{"index", 1, want::below_item, 0},
    rule{"_unsafe_index", 1, want::below_item, 0},
    rule{"index_put", 1, want::below_item, 0},
    rule{"_unsafe_index_put", 1, want::below_item, 0},
    rule{"_index_put_impl", 1, want::below_item, 0},
    rule{"take", 1, want::below_elements, 0},
    rule{"put", 1, want::below_elements, 0, 0, true},
    rule{"unfold_backward", 9, want::whole, 0, 1},
    // ---- classes
    rule{"nll_loss", 1, want::below_classes, 0},
    rule{"nll_loss_nd", 1, want::below_classes, 0},
    rule{"nll_loss_forward", 1, want::below_classes, 0},
    rule{"nll_loss2d", 1, want::below_classes, 0},
    rule{"nll_loss2d_forward", 1, want::below_classes, 0},
    rule{"nll_loss_backward", 2, want::below_classes, 1},
    rule{"nll_loss2d_backward", 2, want::below_classes, 1},
    rule{"nll_loss_backward", 6, want::evenly, 1, 2},  // the weights' sum, a divisor
    rule{"nll_loss2d_backward", 6, want::evenly, 1, 2},
    rule{"cross_entropy_loss", 1, want::below_classes, 0},
    rule{"multi_margin_loss", 1, want::below_classes, 0},
    rule{"multilabel_margin_loss_forward", 1, want::below_classes, 0},
    rule{"_ctc_loss", 1, want::whole, 1, 2},
    rule{"one_hot", 0, want::below_integer, 1},
    rule{"bincount", 0, want::whole, 0, 16},
    rule{"bincount", 1, want::evenly, 0.1, 1},
    // ---- places in a plane, of pooling
    rule{"max_pool2d_with_indices_backward", 7, want::below_plane, 1, 2},
    rule{"max_pool3d_with_indices_backward", 7, want::below_plane, 1, 3},
    rule{"adaptive_max_pool2d_backward", 2, want::below_plane, 1, 2},
    rule{"adaptive_max_pool3d_backward", 2, want::below_plane, 1, 3},
    rule{"fractional_max_pool2d_backward", 4, want::below_plane, 1, 2},
    rule{"max_unpool2d", 1, want::below_product, 2, 0, true},
    rule{"max_unpool3d", 1, want::below_product, 2, 0, true},
    // ---- variances and their inverse roots
    rule{"batch_norm", 4, want::evenly, 0.5, 2},
    rule{"native_batch_norm", 4, want::evenly, 0.5, 2},
    rule{"cudnn_batch_norm", 4, want::evenly, 0.5, 2},
    rule{"miopen_batch_norm", 4, want::evenly, 0.5, 2},
    rule{"_native_batch_norm_legit", 4, want::evenly, 0.5, 2},
    rule{"_native_batch_norm_legit_no_training", 4, want::evenly, 0.5, 2},
    rule{"_batch_norm_impl_index", 4, want::evenly, 0.5, 2},
    rule{"native_batch_norm_backward", 4, want::evenly, 0.5, 2},
    rule{"native_batch_norm_backward", 6, want::evenly, 0.5, 2},
    rule{"cudnn_batch_norm_backward", 4, want::evenly, 0.5, 2},
    rule{"cudnn_batch_norm_backward", 6, want::evenly, 0.5, 2},
    rule{"miopen_batch_norm_backward", 4, want::evenly, 0.5, 2},
    rule{"miopen_batch_norm_backward", 6, want::evenly, 0.5, 2},
    rule{"native_layer_norm_backward", 4, want::evenly, 0.5, 2},
    rule{"native_group_norm_backward", 3, want::evenly, 0.5, 2},
    rule{"batch_norm_elemt", 4, want::evenly, 0.5, 2},
    rule{"_fused_rms_norm_backward", 3, want::evenly, 0.5, 2},
    // ---- where a function is defined
    rule{"sqrt", 0, want::evenly, 0.1, 4},
    rule{"rsqrt", 0, want::evenly, 0.1, 4},
    rule{"log", 0, want::evenly, 0.1, 4},
    rule{"log2", 0, want::evenly, 0.1, 4},
    rule{"log10", 0, want::evenly, 0.1, 4},
    rule{"log1p", 0, want::evenly, -0.9, 4},
    rule{"lgamma", 0, want::evenly, 0.1, 4},
    rule{"digamma", 0, want::evenly, 0.5, 4},
    rule{"xlogy", 1, want::evenly, 0.1, 4},
    rule{"acos", 0, want::evenly, -0.9, 0.9},
    rule{"asin", 0, want::evenly, -0.9, 0.9},
    rule{"atanh", 0, want::evenly, -0.9, 0.9},
    rule{"erfinv", 0, want::evenly, -0.9, 0.9},
    rule{"acosh", 0, want::evenly, 1.1, 4},
    rule{"logit", 0, want::evenly, 0.05, 0.95},
    rule{"logit_backward", 1, want::evenly, 0.05, 0.95},
    rule{"pow.Tensor_Tensor", 0, want::evenly, 0.1, 4},
    rule{"pow.Scalar", 1, want::evenly, -2, 2},
    rule{"pow.Tensor_Scalar", 0, want::evenly, 0.1, 4},
    rule{"pow.Scalar_out", 1, want::evenly, -2, 2},
    rule{"div", 1, want::evenly, 0.5, 2},
    rule{"true_divide", 1, want::evenly, 0.5, 2},
    rule{"reciprocal", 0, want::evenly, 0.5, 2},
    rule{"remainder", 1, want::evenly, 0.5, 2},
    rule{"fmod", 1, want::evenly, 0.5, 2},
    rule{"addcdiv", 2, want::evenly, 0.5, 2},
    // Sums of numbers of both signs may come to nearly nothing, which no rounding error is small
    // against.
    rule{"sum", 0, want::evenly, 0.1, 1},
    rule{"mean", 0, want::evenly, 0.1, 1},
    rule{"nansum", 0, want::evenly, 0.1, 1},
    rule{"cumsum", 0, want::evenly, 0.1, 1},
    rule{"trace", 0, want::evenly, 0.1, 1},
    rule{"dot", 0, want::evenly, 0.1, 1},
    rule{"dot", 1, want::evenly, 0.1, 1},
    rule{"prod", 0, want::evenly, 0.9, 1.1},
    rule{"cumprod", 0, want::evenly, 0.9, 1.1},
    rule{"_cdist_backward", 4, want::evenly, 0.5, 4},
    rule{"binary_cross_entropy", 0, want::evenly, 0.05, 0.95},
    rule{"binary_cross_entropy", 1, want::evenly, 0.05, 0.95},
    rule{"binary_cross_entropy_backward", 1, want::evenly, 0.05, 0.95},
    rule{"binary_cross_entropy_backward", 2, want::evenly, 0.05, 0.95},
    rule{"binary_cross_entropy_with_logits", 1, want::evenly, 0.05, 0.95},
    rule{"bernoulli", 0, want::evenly, 0.05, 0.95},
    rule{"multinomial", 0, want::evenly, 0.05, 0.95},
    rule{"kl_div", 1, want::evenly, 0.05, 0.95},
    // ---- outputs of a forward pass
    rule{"sigmoid_backward", 1, want::evenly, 0.05, 0.95},
    rule{"tanh_backward", 1, want::evenly, -0.95, 0.95},
    rule{"_softmax_backward_data", 1, want::evenly, 0.05, 0.95},
    rule{"_log_softmax_backward_data", 1, want::evenly, -6, -0.1},
    rule{"_log_softmax_backward_data", 0, want::evenly, -1, 1},
    rule{"norm_backward", 3, want::evenly, 0.5, 4},
    // ---- optimisers: second moments are no less than 0, steps no less than 1
    rule{"_fused_adam", 3, want::evenly, 0.1, 1},
    rule{"_fused_adam", 4, want::evenly, 1, 2},
    rule{"_fused_adam", 5, want::evenly, 1, 2},
    rule{"_fused_adamw", 3, want::evenly, 0.1, 1},
    rule{"_fused_adamw", 4, want::evenly, 1, 2},
    rule{"_fused_adamw", 5, want::evenly, 1, 2},
    rule{"_foreach_sqrt", 0, want::evenly, 0.1, 4},
    rule{"_foreach_div", 1, want::evenly, 0.9, 1.1},
    rule{"_foreach_mul", 1, want::evenly, 0.9, 1.1},
    rule{"_foreach_addcdiv", 2, want::evenly, 0.5, 2},
};

// In-place operators are repeated on what they have written, a batch of calls at a time: factors
// near 1 keep that finite.
constexpr std::array in_place_rules{
    rule{"mul", 1, want::evenly, 0.9, 1.1},
    rule{"div", 1, want::evenly, 0.9, 1.1},
    rule{"pow", 0, want::evenly, 0.9, 1.1},
};

const rule* find_rule(const log_entry& entry, std::size_t argument) {
  const std::string_view base = base_name(entry.op);
  const auto fits = [&](const rule& r) {
    if (r.argument != argument || !r.op.starts_with(base)) {
      return false;
    }
    const std::string_view rest = r.op.substr(base.size());
    return rest.empty() || (rest.front() == '.' && rest.substr(1) == overload_of(entry.op));
  };
  if (is_in_place(entry.op)) {
    const auto found = std::find_if(in_place_rules.begin(), in_place_rules.end(), fits);
    if (found != in_place_rules.end()) {
      return &*found;
    }
  }
  const auto found = std::find_if(rules.begin(), rules.end(), fits);
  return found == rules.end() ? nullptr : &*found;
}

const log_value* tensor_at(const log_entry& entry, double position) {
  const log_value* v = argument_of(entry, static_cast<std::size_t>(position));
  return v != nullptr && v->is == form::tensor ? v : nullptr;
}

std::int64_t integer_at(const log_entry& entry, double position, std::int64_t otherwise) {
  const log_value* v = argument_of(entry, static_cast<std::size_t>(position));
  return v != nullptr && v->is == form::integer ? v->integer : otherwise;
}

std::int64_t size_of(const log_value* tensor, std::int64_t dimension) {
  if (tensor == nullptr) {
    return 0;
  }
  const auto count = static_cast<std::int64_t>(tensor->sizes.size());
  const std::int64_t at = dimension < 0 ? dimension + count : dimension;
  // A tensor without dimensions has one element, whatever dimension it is asked for.
  return count == 0 ? 1 : at >= 0 && at < count ? tensor->sizes[static_cast<std::size_t>(at)] : 0;
}

std::int64_t elements_in(const std::vector<std::int64_t>& sizes, std::size_t last) {
  std::int64_t product = 1;
  for (std::size_t i = sizes.size() - std::min(last, sizes.size()); i < sizes.size(); ++i) {
    product *= sizes[i];
  }
  return product;
}

// Masks among the indices take as many dimensions as they have.
std::int64_t below_item(const log_entry& entry, const rule& r, std::size_t item) {
  const log_value* list = argument_of(entry, r.argument);
  std::int64_t dimension = 0;
  for (std::size_t i = 0; i < item && list != nullptr && i < list->items.size(); ++i) {
    const log_value& earlier = list->items[i];
    const bool mask =
        earlier.is == form::tensor && (earlier.text == "b8" || earlier.text == "torch.bool" ||
                                       earlier.text == "u8" || earlier.text == "torch.uint8");
    dimension += mask ? static_cast<std::int64_t>(earlier.sizes.size()) : 1;
  }
  return size_of(tensor_at(entry, r.a), dimension);
}

std::int64_t end_of_range(const log_entry& entry, const rule& r, std::size_t item) {
  const log_value* of = tensor_at(entry, r.a);
  switch (r.values) {
    case want::below_size:
      return size_of(of, static_cast<std::int64_t>(r.b));
    case want::below_size_by:
      return size_of(of, integer_at(entry, r.b, 0));
    case want::below_integer:
      return integer_at(entry, r.a, 0);
    case want::below_elements:
      return of == nullptr ? 0 : elements_in(of->sizes, of->sizes.size());
    case want::below_plane:
      return of == nullptr ? 0 : elements_in(of->sizes, static_cast<std::size_t>(r.b));
    case want::below_product: {
      const log_value* list = argument_of(entry, static_cast<std::size_t>(r.a));
      std::int64_t product = 1;
      for (const log_value& v : list == nullptr ? std::vector<log_value>() : list->items) {
        product *= v.integer;
      }
      return product;
    }
    case want::below_classes:
      return of == nullptr ? 0 : size_of(of, of->sizes.size() == 1 ? 0 : 1);
    case want::below_item:
      return below_item(entry, r, item);
    case want::whole:
    case want::evenly:
      break;
  }
  return 0;
}

bool has_whole_exponent(const log_entry& entry) {
  const log_value* exponent = argument_of(entry, 1);
  return exponent != nullptr && exponent->is == form::integer && exponent->integer >= 0;
}

// Where an index may come twice, which of the values is written is not said: they are all the same
// then. `index` is the argument that has the places.
bool may_write_twice(const log_entry& entry, std::size_t index) {
  const log_value* places = argument_of(entry, index);
  const rule* r = find_rule(entry, index);
  if (places == nullptr || r == nullptr) {
    return true;
  }
  if (places->is == form::list) {
    // Several lists of indices, or one that is no plain row: whether two meet is not looked into.
    return true;
  }
  const std::int64_t end = end_of_range(entry, *r, 0);
  return std::any_of(places->sizes.begin(), places->sizes.end(),
                     [&](std::int64_t size) { return size > end; }) ||
         (places->sizes.size() > 1 && r->values == want::below_elements);
}

// The argument that is written to places which another names, and that one's place.
std::optional<std::size_t> places_of(const log_entry& entry, std::size_t argument) {
  const std::string_view op = base_name(entry.op);
  const log_value* accumulate = argument_of(entry, 3, "accumulate");
  const bool adds = accumulate != nullptr && accumulate->integer != 0;
  const bool puts =
      op == "index_put" || op == "_unsafe_index_put" || op == "_index_put_impl" || op == "put";
  if (argument == 2 && puts && !adds) {
    return 1;
  }
  if (argument == 3 && (op == "scatter" || op == "index_copy")) {
    return 2;
  }
  return argument == 0 && op.starts_with("max_unpool") ? std::optional<std::size_t>(1)
                                                       : std::nullopt;
}

tensor_fill plain(char kind) {
  switch (kind) {
    case 'f':
      return {ASSAY_FILL_NORMAL, 0.0, 0.0, false};
    case 'b':
      return {ASSAY_FILL_MASK, 0.5, 0.0, false};
    default:
      return {ASSAY_FILL_INDEX, guessed_low, guessed_high, true};
  }
}

}  // namespace

std::string_view base_name(std::string_view op) {
  const auto first = op.find('.');
  op.remove_prefix(first == std::string_view::npos ? 0 : first + 1);
  op = op.substr(0, op.find('.'));
  if (op.size() > 1 && op.back() == '_') {
    op.remove_suffix(1);
  }
  return op;
}

std::string_view overload_of(std::string_view op) {
  const auto first = op.find('.');
  const auto second = op.find('.', first == std::string_view::npos ? first : first + 1);
  return second == std::string_view::npos ? "default" : op.substr(second + 1);
}

bool is_in_place(std::string_view op) {
  const auto first = op.find('.');
  op.remove_prefix(first == std::string_view::npos ? 0 : first + 1);
  op = op.substr(0, op.find('.'));
  return op.size() > 1 && op.back() == '_';
}

const log_value* argument_of(const log_entry& entry, std::size_t position, std::string_view name) {
  if (position < entry.arguments.size()) {
    return &entry.arguments[position];
  }
  const auto found = std::find_if(entry.named.begin(), entry.named.end(), [&](const auto& named) {
    return !name.empty() && named.first == name;
  });
  return found == entry.named.end() ? nullptr : &found->second;
}

tensor_fill fill_of(const log_entry& entry, std::size_t argument, std::size_t item, char kind) {
  if (const auto places = places_of(entry, argument);
      places && may_write_twice(entry, *places) && kind != 'b') {
    return {ASSAY_FILL_INDEX, 1.0, 2.0, false};
  }
  const rule* r = find_rule(entry, argument);
  if (r == nullptr || kind == 'b') {
    return plain(kind);
  }
  if (r->values == want::evenly) {
    const bool power = r->op == "pow.Tensor_Scalar" && has_whole_exponent(entry);
    return kind == 'f' && !power ? tensor_fill{ASSAY_FILL_UNIFORM, r->a, r->b, false}
           : kind == 'f'         ? plain('f')
                                 : tensor_fill{ASSAY_FILL_INDEX, guessed_low, guessed_high, false};
  }
  if (kind == 'f') {
    return plain('f');  // classes given as probabilities
  }
  if (r->values == want::whole) {
    return {ASSAY_FILL_INDEX, r->a, r->b, false};
  }
  const std::int64_t end = end_of_range(entry, *r, item);
  if (end <= 0) {
    return {ASSAY_FILL_INDEX, 0.0, 1.0, false};  // an empty dimension: there is nothing to pick
  }
  return {r->distinct ? ASSAY_FILL_DISTINCT : ASSAY_FILL_INDEX, 0.0, static_cast<double>(end),
          false};
}

std::string unrepeatable(const log_entry& entry) {
  const std::string_view op = base_name(entry.op);
  if (op.starts_with("empty") || op.starts_with("new_empty") || op == "resize" ||
      op == "resize_as") {
    return "it makes memory without values: there is nothing to check";
  }
  // A mask among the places: how many it lets through decides how many values there must be.
  const log_value* places = argument_of(entry, 1);
  const log_value* values = argument_of(entry, 2);
  if (op.ends_with("index_put") && places != nullptr && values != nullptr) {
    const bool mask =
        std::any_of(places->items.begin(), places->items.end(),
                    [](const log_value& v) { return v.text == "b8" || v.text == "torch.bool"; });
    if (mask && elements_in(values->sizes, values->sizes.size()) != 1) {
      return "its values are as many as its mask lets through, and a log does not say which";
    }
  }
  return "";
}

}  // namespace assay::worker
