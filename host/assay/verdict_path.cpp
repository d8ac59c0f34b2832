// SPDX-License-Identifier: Apache-2.0
//
// Which of LibTorch's ways served the check?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collected_run.hpp"
#include "host/common/glob.hpp"
#include "verdict_links.hpp"

namespace assay::verdict_links {

namespace {

using nlohmann::json;

bool operator_matches(const std::string& pattern, const json& trace) {
  const json& ops = list_of(trace, "ops");
  return std::any_of(ops.begin(), ops.end(), [&](const json& op) {
    const std::string name = text_of(op, "op");
    return glob_match(pattern, name) || glob_match(pattern, name.substr(0, name.find('.')));
  });
}

bool kernel_matches(const std::string& pattern, const json& profiler) {
  const json& kernels = list_of(profiler, "kernels");
  return std::any_of(kernels.begin(), kernels.end(), [&](const json& kernel) {
    return glob_match(pattern, text_of(kernel, "name"));
  });
}

// LibTorch gives a heading for each kernel ("Flash attention kernel not used because:"), and its
// reasons behind it.
std::string joined_reasons(const json& reasons) {
  std::string text;
  for (const json& reason : reasons) {
    if (reason.is_string()) {
      const std::string line = reason.get<std::string>();
      text += text.empty() ? "" : text.ends_with(':') ? " " : "; ";
      text += line.substr(0, line.find('\n'));
    }
  }
  return text;
}

// Only of its choice among the ways to compute attention does LibTorch say why.
std::string reasons_of(const facts& known) {
  if (!operator_matches("aten::_scaled_dot_product_attention_math*", known.trace)) {
    return "";
  }
  const std::string reasons = joined_reasons(list_of(known.evidence, "sdp_reasons"));
  return reasons.empty() ? "; LibTorch gives no reason" : "; LibTorch: " + reasons;
}

path_result graded(const json& path, const facts& known) {
  const std::string grade = text_of(path, "grade");
  const std::string name = text_of(path, "name");
  if (grade == "slow") {
    return {{state::warn, name + " is a slow path" + reasons_of(known)}, name};
  }
  return {{state::pass, grade == "acceptable" ? "a faster path exists on some devices" : ""}, name};
}

// No path is declared that fits: LibTorch's own kernels, where all that ran are such.
path_result undeclared(const facts& known) {
  std::set<std::string> others;
  bool own = false;
  const bool kernels_ran = number_of(known.profiler, "kernel_count") > 0.0;
  for (const json* op : leaf_operators(known.trace)) {
    const std::string kernel = text_of(*op, "kernel");
    // A composite operator that calls no other does its work itself.
    // And a boxed one is the device's own where kernels ran on the device.
    if (kernel == "backend" || kernel == "composite" || (kernel == "boxed" && kernels_ran)) {
      own = true;
    } else {
      others.insert(text_of(*op, "op") + " (" + kernel + ")");
    }
  }
  if (own && others.empty()) {
    return {{state::pass, ""}, "native"};
  }
  if (others.empty()) {
    return {{state::unknown, "no operator was seen"}, ""};
  }
  return {{state::unknown, fmt::format("not all operators have a kernel of this device: {}",
                                       fmt::join(others, ", "))},
          ""};
}

}  // namespace

path_result path_link(const facts& known) {
  const bool traced = facts::seen(known.trace);
  const bool profiled = facts::seen(known.profiler);
  bool kernels_wanted = false;
  for (const json& path : list_of(known.run.check, "paths")) {
    const std::string pattern = text_of(path, "pattern");
    if (text_of(path, "source") == "kernel") {
      kernels_wanted = true;
      if (profiled && kernel_matches(pattern, known.profiler)) {
        return graded(path, known);
      }
    } else if (traced && operator_matches(pattern, known.trace)) {
      return graded(path, known);
    }
  }
  if (kernels_wanted && !profiled && !known.on_cpu) {
    return {{state::unknown, known.why_unseen(known.profiler, "the profiler saw nothing")}, ""};
  }
  if (!traced) {
    return {{state::unknown, known.why_unseen(known.trace, "the operators were not seen")}, ""};
  }
  return undeclared(known);
}

}  // namespace assay::verdict_links
