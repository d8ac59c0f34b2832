// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;

// What is declared may leave out a little (a bias, a scale) or count a little twice.
constexpr double tolerance = 1.25;
constexpr double flops_tolerance = 1.1;
constexpr double small_bytes = 4096.0;

double dtype_bytes(const std::string& dtype) {
  if (dtype == "float64" || dtype == "int64") {
    return 8.0;
  }
  if (dtype == "float16" || dtype == "bfloat16" || dtype == "int16") {
    return 2.0;
  }
  return dtype == "int8" || dtype == "uint8" || dtype == "bool" ? 1.0 : 4.0;
}

std::vector<double> shape_of(const json& tensor) {
  std::vector<double> shape;
  for (const json& size : list_of(tensor, "shape")) {
    shape.push_back(size.get<double>());
  }
  return shape;
}

double product(const std::vector<double>& sizes, std::size_t from = 0) {
  double value = 1.0;
  for (std::size_t i = from; i < sizes.size(); ++i) {
    value *= sizes[i];
  }
  return value;
}

double bytes_of(const json& tensors) {
  double bytes = 0.0;
  for (const json& tensor : tensors) {
    bytes += number_of(tensor, "bytes");
  }
  return bytes;
}

double input_bytes(const json& form, const std::string& dtype) {
  double bytes = 0.0;
  for (const json& input : list_of(form, "inputs")) {
    double elements = 1.0;
    for (const json& size : list_of(input, "sizes")) {
      elements *= size.get<double>();
    }
    const std::string own = text_of(input, "dtype");
    bytes += elements * dtype_bytes(own.empty() ? dtype : own);
  }
  return bytes;
}

/// Of a table of which rows are picked, only those rows count; views and slices move nothing.
bool may_read_a_part(const json& form, const json& calls) {
  static constexpr std::string_view partial[] = {
      "embedding", "index",      "gather", "scatter", "take",  "select",   "slice",  "narrow",
      "unfold",    "as_strided", "view",   "chunk",   "split", "diagonal", "masked", "topk"};
  const bool indexed =
      std::any_of(list_of(form, "inputs").begin(), list_of(form, "inputs").end(),
                  [](const json& input) { return text_of(input, "fill") == "index"; });
  return indexed || std::any_of(calls.begin(), calls.end(), [](const json& call) {
           return std::any_of(std::begin(partial), std::end(partial), [&](std::string_view word) {
             return text_of(call, "op").find(word) != std::string::npos;
           });
         });
}

/// Where each channel has a filter of its own, there is nothing that matrix units could share.
bool is_matrix_work(const json& call) {
  const json& inputs = list_of(call, "inputs");
  const bool depthwise = text_of(call, "op").starts_with("aten::conv") && inputs.size() > 1 &&
                         list_of(inputs[1], "shape").size() > 2 && inputs[1]["shape"][1] == 1;
  return known_flops(call) && !depthwise;
}

void look_at_bytes(examined_file& one, const std::string& subject, const json& form,
                   const std::string& dtype, const json& calls) {
  const json& cost = member_of(form, "cost");
  const double declared =
      number_of(cost, "elements") * dtype_bytes(dtype) + number_of(cost, "bytes");
  double moved = 0.0;
  for (const json& call : calls) {
    moved += bytes_of(list_of(call, "inputs")) + bytes_of(list_of(call, "outputs"));
  }
  if (declared > tolerance * moved + small_bytes) {
    one.add(level::warning, "bytes", subject,
            fmt::format("it declares {:.3g} bytes, and its calls read and write {:.3g}", declared,
                        moved),
            "its rate would look better than any memory allows",
            "declare with moves() what must be read or written at least once");
    return;
  }
  const double whole = input_bytes(form, dtype) + bytes_of(list_of(calls.back(), "outputs"));
  const bool compute_alone = declared <= 0.0 && number_of(cost, "flops") > 0.0;
  if (tolerance * declared + small_bytes < whole && !compute_alone &&
      !may_read_a_part(form, calls)) {
    one.add(level::warning, "bytes", subject,
            fmt::format("it declares {:.3g} bytes, and its inputs and outputs alone are {:.3g}",
                        declared, whole),
            "its rate would look worse than it is, and a fast path slow",
            "declare with moves() every element that goes in or out, other dtypes in bytes");
  }
}

void look_at_flops(examined_file& one, const std::string& subject, const json& form,
                   const json& calls) {
  const json& cost = member_of(form, "cost");
  const double declared = number_of(cost, "flops");
  double known = 0.0;
  bool all_known = true;
  for (const json& call : calls) {
    const auto flops = known_flops(call);
    known += flops.value_or(0.0);
    all_known = all_known && flops;
  }
  if (known <= 0.0) {
    return;
  }
  const bool too_low = flops_tolerance * declared < known;
  const bool too_high = all_known && declared > flops_tolerance * known;
  if (declared > 0.0 && (too_low || too_high)) {
    one.add(level::warning, "flops", subject,
            fmt::format("it declares {:.4g} FLOPs, and its matrix products and convolutions are "
                        "{}{:.4g}",
                        declared, all_known ? "" : "at least ", known),
            too_low ? "its rate would look worse than it is"
                    : "its rate would look better than the device can do",
            "a multiply-add counts as 2; declare the sum over all calls with matrix_flops()");
  } else if (declared > 0.0 && !flag_is(cost, "matrix", true) &&
             std::any_of(calls.begin(), calls.end(), is_matrix_work)) {
    one.add(level::warning, "flops", subject,
            "its FLOPs are those of matrix products, and they are declared with flops()",
            "they are not held against the rate that the device's matrix units reach",
            "declare them with matrix_flops()");
  } else if (declared <= 0.0) {
    one.add(level::note, "no-flops", subject,
            fmt::format("it declares no FLOPs, and its matrix products are {:.4g}", known),
            "where it is bound by compute, that cannot be seen", "declare matrix_flops()");
  }
}

}  // namespace

std::optional<double> known_flops(const json& call) {
  const std::string op = text_of(call, "op").substr(0, text_of(call, "op").find('.'));
  std::vector<std::vector<double>> in;
  for (const json& tensor : list_of(call, "inputs")) {
    in.push_back(shape_of(tensor));
  }
  const json& outputs = list_of(call, "outputs");
  if (outputs.empty() || in.size() < 2) {
    return std::nullopt;
  }
  const double out = product(shape_of(outputs.front()));
  // A product's FLOPs: for each element of the output, a multiply-add for each one that is summed.
  const auto summed = [&](std::size_t left) -> std::optional<double> {
    return in.size() > left && !in[left].empty() ? std::optional(2.0 * out * in[left].back())
                                                 : std::nullopt;
  };
  if (op == "aten::mm" || op == "aten::bmm" || op == "aten::matmul" || op == "aten::linear" ||
      op == "aten::mv" || op == "aten::dot") {
    return summed(0);
  }
  if (op == "aten::addmm" || op == "aten::baddbmm" || op == "aten::addmv") {
    return summed(1);
  }
  if (op == "aten::conv1d" || op == "aten::conv2d" || op == "aten::conv3d") {
    return 2.0 * out * product(in[1], 1);
  }
  if (op == "aten::conv_transpose1d" || op == "aten::conv_transpose2d" ||
      op == "aten::conv_transpose3d") {
    return 2.0 * product(in[0]) * product(in[1], 1);
  }
  return std::nullopt;
}

void examine_cost(examined_file& one, const std::string& subject, const json& form,
                  const std::string& dtype, const json& calls) {
  if (!member_of(form, "cost").is_object() || !calls.is_array() || calls.empty()) {
    return;
  }
  look_at_bytes(one, subject, form, dtype, calls);
  look_at_flops(one, subject, form, calls);
}

}  // namespace assay::conformance
