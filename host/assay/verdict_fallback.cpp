// SPDX-License-Identifier: Apache-2.0
//
// Did everything run where it should, or did something go by way of the host?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "collected_run.hpp"
#include "verdict_links.hpp"

namespace assay::verdict_links {

namespace {

using nlohmann::json;

// A size, an index or a seed that goes between device and host is a scalar; data are more.
constexpr double few_elements = 8.0;
constexpr double few_bytes = 64.0;

std::string bare_name(const json& op) {
  const std::string name = text_of(op, "op");
  return name.substr(0, name.find('.'));
}

// Operators that only look at their input in another way, and so launch nothing.
bool is_view(const json& op) {
  static constexpr std::array<std::string_view, 27> views{"aten::view",
                                                          "aten::reshape",
                                                          "aten::_reshape_alias",
                                                          "aten::transpose",
                                                          "aten::t",
                                                          "aten::permute",
                                                          "aten::expand",
                                                          "aten::slice",
                                                          "aten::select",
                                                          "aten::squeeze",
                                                          "aten::unsqueeze",
                                                          "aten::as_strided",
                                                          "aten::alias",
                                                          "aten::detach",
                                                          "aten::narrow",
                                                          "aten::diagonal",
                                                          "aten::unfold",
                                                          "aten::split",
                                                          "aten::chunk",
                                                          "aten::unbind",
                                                          "aten::movedim",
                                                          "aten::swapaxes",
                                                          "aten::flatten",
                                                          "aten::unflatten",
                                                          "aten::_unsafe_view",
                                                          "aten::split_with_sizes",
                                                          "aten::contiguous"};
  return std::find(views.begin(), views.end(), bare_name(op)) != views.end();
}

double crossing_elements(const json& op) {
  return number_if_any(op, "crossing_elements")
      .value_or(flag_is(op, "crosses", true) ? number_of(op, "cpu_elements") : 0.0);
}

// The operators around one of the trace, the innermost first.
std::vector<const json*> around(const json& ops, std::size_t place) {
  std::vector<const json*> found;
  double depth = number_of(ops[place], "depth");
  for (std::size_t i = place; i-- > 0 && depth > 0.0;) {
    if (const double outer = number_of(ops[i], "depth"); outer < depth) {
      depth = outer;
      found.push_back(&ops[i]);
    }
  }
  return found;
}

// What went by way of the host, by the name of the operator that did not do its work itself: a
// boxed kernel inside which data go to the host is LibTorch's CPU fallback.
std::string blamed(const json& ops, std::size_t place, const std::string& what) {
  const auto outer = around(ops, place);
  for (const json* op : outer) {
    if (const std::string kernel = text_of(*op, "kernel");
        kernel == "boxed" || kernel == "fallback") {
      return fmt::format("{} is served by the boxed CPU fallback: {}", text_of(*op, "op"), what);
    }
  }
  return outer.empty() ? what : fmt::format("{}, inside {}", what, text_of(*outer.back(), "op"));
}

std::string found_by_trace(const json& trace) {
  const json& ops = list_of(trace, "ops");
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (const double elements = crossing_elements(ops[i]); elements > few_elements) {
      return blamed(ops, i,
                    fmt::format("{} moved {:.0f} elements between the device and the host",
                                text_of(ops[i], "op"), elements));
    }
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (const double elements = number_of(ops[i], "cpu_elements"); elements > few_elements) {
      return blamed(ops, i,
                    fmt::format("{} worked on {:.0f} elements in the host's memory",
                                text_of(ops[i], "op"), elements));
    }
    if (text_of(ops[i], "kernel") == "fallback") {
      return fmt::format(
          "{} has no kernel for this device and is served by the backend's boxed fallback",
          text_of(ops[i], "op"));
    }
  }
  return "";
}

struct copies {
  double count = 0.0;
  double bytes = 0.0;
  double on_device = 0.0;
  bool untold = false;
  std::string kinds;
};

copies copies_of(const json& profiler) {
  copies all;
  for (const json& copy : list_of(profiler, "copies")) {
    const std::string kind = text_of(copy, "kind");
    const double count = number_of(copy, "count");
    if (kind != "HtoD" && kind != "DtoH") {
      all.on_device += count;
      continue;
    }
    const auto bytes = number_if_any(copy, "bytes");
    all.count += count;
    all.bytes += bytes.value_or(0.0);
    all.untold = all.untold || (!bytes && count > 0.0);
    all.kinds += (all.kinds.empty() ? "" : " and ") + kind;
  }
  return all;
}

bool has_elements(const json& result) {
  const json& outputs = list_of(result, "outputs");
  return std::any_of(outputs.begin(), outputs.end(), [](const json& output) {
    const json& shape = list_of(output, "shape");
    return std::none_of(shape.begin(), shape.end(), [](const json& size) { return size == 0; });
  });
}

bool only_views(const json& trace) {
  const auto leaves = leaf_operators(trace);
  return !leaves.empty() &&
         std::all_of(leaves.begin(), leaves.end(), [](const json* op) { return is_view(*op); });
}

// Memory sets and copies within the device are its work as much as kernels.
bool device_did_nothing(const facts& known, const copies& copied) {
  return number_of(known.profiler, "kernel_count") <= 0.0 && copied.on_device <= 0.0 &&
         number_of(known.profiler, "memset_us") <= 0.0 && has_elements(known.run.result) &&
         text_of(known.run.result, "status") == "ok";
}

// What is no fallback and yet goes between device and host.
std::string scalars_of(const facts& known, const copies& copied) {
  std::vector<std::string> readers;
  for (const json& op : list_of(known.trace, "ops")) {
    const double elements = crossing_elements(op);
    const bool reads = bare_name(op) == "aten::_local_scalar_dense";
    std::string name = text_of(op, "op");
    if ((reads || elements > 0.0) &&
        std::find(readers.begin(), readers.end(), name) == readers.end()) {
      readers.push_back(std::move(name));
    }
  }
  if (!readers.empty()) {
    return fmt::format("only scalars went between device and host ({})", fmt::join(readers, ", "));
  }
  return copied.count > 0.0 && !copied.untold
             ? fmt::format("only {:.0f} bytes went between device and host ({})", copied.bytes,
                           copied.kinds)
             : "";
}

std::string boxed_operators(const json& trace) {
  for (const json& op : list_of(trace, "ops")) {
    if (text_of(op, "kernel") == "boxed") {
      return text_of(op, "op");
    }
  }
  return "";
}

link on_the_cpu(const facts& known) {
  if (!facts::seen(known.trace)) {
    return {state::unknown, known.why_unseen(known.trace, "the operators were not seen")};
  }
  for (const json& op : list_of(known.trace, "ops")) {
    for (const json& device : list_of(op, "devices")) {
      if (device != "cpu") {
        return {state::fail, fmt::format("{} had tensors on {}", text_of(op, "op"),
                                         device.is_string() ? device.get<std::string>() : "?")};
      }
    }
  }
  return {state::pass, ""};
}

link from_profiler(const facts& known, const copies& copied) {
  if (copied.bytes > few_bytes) {
    return {state::fail, fmt::format("the profiler saw {:.0f} bytes a call copied between device "
                                     "and host ({})",
                                     copied.bytes, copied.kinds)};
  }
  if (device_did_nothing(known, copied)) {
    if (!facts::seen(known.trace)) {
      return {state::unknown, "no kernel ran on the device, and whether one had to is not known: " +
                                  known.why_unseen(known.trace, "the operators were not seen")};
    }
    if (!only_views(known.trace)) {
      return {state::fail, "no kernel ran on the device"};
    }
  }
  if (copied.untold) {
    return {state::unknown,
            fmt::format("the profiler saw copies between device and host ({}), and not how large",
                        copied.kinds)};
  }
  return {state::pass, ""};
}

}  // namespace

bool worked_on_host(const facts& known) {
  const auto leaves = leaf_operators(known.trace);
  return std::any_of(leaves.begin(), leaves.end(), [](const json* op) {
    return number_of(*op, "cpu_elements") > few_elements && crossing_elements(*op) <= 0.0 &&
           !is_view(*op) && bare_name(*op) != "aten::empty" &&
           bare_name(*op) != "aten::empty_strided";
  });
}

link no_fallback_link(const facts& known) {
  if (known.on_cpu) {
    return on_the_cpu(known);
  }
  if (const std::string found = found_by_trace(known.trace); !found.empty()) {
    return {state::fail, found};
  }
  const bool profiled = facts::seen(known.profiler);
  const copies copied = copies_of(known.profiler);
  const link by_profiler =
      profiled ? from_profiler(known, copied)
               : link{state::unknown, known.why_unseen(known.profiler, "the profiler saw nothing")};
  if (by_profiler.is == state::fail) {
    return by_profiler;
  }
  // A fallback copies to the host and back, which the profiler would have seen.
  const std::string boxed = boxed_operators(known.trace);
  if (by_profiler.is != state::pass && !boxed.empty()) {
    return {state::warn,
            fmt::format("{} is served by a boxed kernel, as a fallback is, and nothing shows that "
                        "it ran on the device: {}",
                        boxed, by_profiler.why)};
  }
  if (!facts::seen(known.trace)) {
    return {state::unknown, known.why_unseen(known.trace, "the operators were not seen")};
  }
  if (number_of(known.trace, "left_out") > 0.0) {
    return {state::unknown, fmt::format("{:.0f} operators more ran than were looked at",
                                        number_of(known.trace, "left_out"))};
  }
  return by_profiler.is == state::pass ? link{state::pass, scalars_of(known, copied)} : by_profiler;
}

}  // namespace assay::verdict_links
