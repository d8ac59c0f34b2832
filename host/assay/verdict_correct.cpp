// SPDX-License-Identifier: Apache-2.0
//
// Is the output right? The bound is that of assay_accuracy in the SDK's abi.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collected_run.hpp"
#include "verdict_links.hpp"

namespace assay::verdict_links {

namespace {

using nlohmann::json;

constexpr double default_roundings = 16.0;
constexpr double default_terms = 1.0;
constexpr double largest_over_mean = 8.0;    // one element against the mean of all
constexpr double winograd_roundings = 14.0;  // of data that it transforms and keeps in a half type
constexpr double rounded_once = 0.5;  // u: the normalised error of one rounding to nearest, at most

double unit_roundoff(const std::string& dtype) {
  if (dtype == "float16") {
    return std::ldexp(1.0, -11);
  }
  if (dtype == "bfloat16") {
    return std::ldexp(1.0, -8);
  }
  return std::ldexp(1.0, dtype == "float64" ? -53 : -24);
}

// Sums of the half types are kept in float32.
double sum_roundoff(const std::string& dtype) {
  return std::ldexp(1.0, dtype == "float64" ? -53 : -24);
}

bool is_half(const std::string& dtype) { return dtype == "float16" || dtype == "bfloat16"; }

// A library that transforms the data of a convolution keeps them in the dtype, which costs a half
// type roundings that a plain sum, kept in float32, does not have. Kernels' names tell ("Sp3Asm" is
// MIOpen's).
bool by_winograd(const json& profiler) {
  const json& kernels = list_of(profiler, "kernels");
  return std::any_of(kernels.begin(), kernels.end(), [](const json& kernel) {
    const std::string name = text_of(kernel, "name");
    return name.find("inograd") != std::string::npos || name.find("Sp3Asm") != std::string::npos;
  });
}

struct bound {
  double value = 0.0;
  double element = 0.0;  // how far one element may be off where all others are as good as can be
  double unit = 0.0;     // the dtype's unit roundoff
  bool half = false;
  std::string words;
};

bound bound_of(const facts& known) {
  const json& stated = known.accuracy();
  const double roundings = number_if_any(stated, "roundings").value_or(default_roundings);
  const double terms = number_if_any(stated, "terms").value_or(default_terms);
  const bool tf32 = flag_is(stated, "contraction", true) && known.dtype == "float32" &&
                    !known.on_cpu && flag_is(member_of(known.evidence, "correct"), "tf32", true);
  const bool half = is_half(known.dtype);
  const bool winograd = half && flag_is(stated, "contraction", true) && by_winograd(known.profiler);
  const double unit = unit_roundoff(known.dtype);
  const double rounded = (roundings + (winograd ? winograd_roundings : 0.0)) * unit;
  const double summed = std::sqrt(terms) * sum_roundoff(known.dtype);
  const double value = rounded + summed + (tf32 ? std::ldexp(1.0, -11) : 0.0);
  return {value, rounded + largest_over_mean * summed, unit, half,
          fmt::format("bound {:.2g} ({:g} roundings, sums of {:g}{}{}{})", value, roundings, terms,
                      winograd ? ", Winograd" : "", tf32 ? ", TF32" : "",
                      stated.is_object() ? "" : ", by default")};
}

// One element against the bound. In a half type 8 times the bound would hide what is grossly wrong:
// a rounding is never off by more than u, so it need not be allowed eightfold. What the others are
// off beyond one rounding is noise, of which one element may have eight times the mean.
double most_of_one(const bound& allowed, double error) {
  const double usual = largest_over_mean * allowed.value;
  if (!allowed.half) {
    return usual;
  }
  const double noise =
      std::sqrt(std::max(0.0, error * error - std::pow(rounded_once * allowed.unit, 2)));
  return std::min(usual, allowed.element + largest_over_mean * noise);
}

// What no tolerance excuses.
std::string surely_wrong(const json& output) {
  const bool constant = flag_is(output, "constant", true);
  const bool zero = flag_is(output, "all_zero", true);
  if ((constant || zero) && flag_is(output, "reference_constant", false)) {
    return zero ? "mistrusted: it is all zeros, the reference is not"
                : "mistrusted: all its elements are the same, the reference's are not";
  }
  if (const double count = number_of(output, "nan_mismatched"); count > 0.0) {
    return fmt::format("{:.0f} of {:.0f} elements are NaN here or in the reference alone", count,
                       number_of(output, "elements"));
  }
  if (const double count = number_of(output, "inf_mismatched"); count > 0.0) {
    return fmt::format("{:.0f} of {:.0f} elements are infinite here or in the reference alone",
                       count, number_of(output, "elements"));
  }
  return "";
}

link exact_output(const json& output) {
  const auto picks = number_if_any(output, "mismatched_picks");
  const auto count = picks ? picks : number_if_any(output, "mismatched");
  if (!count) {
    return {state::unknown, "it was not compared"};
  }
  if (*count > 0.0) {
    return {state::fail,
            fmt::format(
                "{:.0f} of {:.0f} elements {}", *count, number_of(output, "elements"),
                picks ? "pick another value than the reference's" : "differ from the reference")};
  }
  return {state::pass, "the same as the reference"};
}

link floating_output(const json& output, const bound& allowed) {
  const auto error = number_if_any(output, "normalised_error");
  const auto largest = number_if_any(output, "scaled_max_error");
  if (!error || !largest) {
    return {state::unknown, "no error could be computed"};
  }
  if (*error > allowed.value) {
    return {state::fail, fmt::format("error {:.2g}, {}", *error, allowed.words)};
  }
  if (const double most = most_of_one(allowed, *error); *largest > most) {
    return {state::fail,
            fmt::format("error of one element {:.2g}, at most {:.2g} allowed; of all {:.2g}, {}",
                        *largest, most, *error, allowed.words)};
  }
  return {state::pass, fmt::format("error {:.2g}, {}", *error, allowed.words)};
}

link one_output(const json& output, const bound& allowed, bool exact) {
  if (number_if_any(output, "elements") == 0.0) {
    return {state::pass, "it has no elements"};
  }
  if (const std::string wrong = surely_wrong(output); !wrong.empty()) {
    return {state::fail, wrong};
  }
  return exact || text_of(output, "kind") == "exact" ? exact_output(output)
                                                     : floating_output(output, allowed);
}

}  // namespace

link correct_link(const facts& known) {
  const json& correct = member_of(known.evidence, "correct");
  const json& margins = member_of(correct, "margins");
  if (text_of(margins, "state") == "overwritten") {
    const std::string why = text_of(margins, "why");
    return {state::fail,
            "memory beside the output was overwritten" + (why.empty() ? "" : ": " + why)};
  }
  if (!facts::seen(correct)) {
    return {state::unknown, known.why_unseen(correct, "it was not compared")};
  }
  const json& outputs = list_of(correct, "outputs");
  if (outputs.empty()) {
    return {state::unknown, "there is no output to compare"};
  }
  const bound allowed = bound_of(known);
  const bool exact = flag_is(known.accuracy(), "exact", true);
  link worst{state::pass, ""};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    link one = one_output(outputs[i], allowed, exact);
    if (outputs.size() > 1) {
      one.why = fmt::format("output {}: {}", i, one.why);
    }
    if (one.is > worst.is || worst.why.empty()) {
      worst = std::move(one);
    }
  }
  if (known.large && text_of(correct, "sizes") == "classic") {
    worst.why += "; compared at the classic sizes";
  }
  if (flag_is(correct, "repeatable", false)) {
    worst.why += "; not the same bit for bit when repeated";
  }
  return worst;
}

}  // namespace assay::verdict_links
