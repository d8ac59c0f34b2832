// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "kernel_names.hpp"
#include "report_paper.hpp"

namespace assay {

namespace {

using nlohmann::json;
using entry = collected_run::entry;

bool is_known(const entry& e) { return text_of(e.library_trace, "state") == "known"; }

/// "MIOpen ConvBinWinogradRxSf2x3 (conv float16 n=8), rocBLAS gemm (..)"; the profiler's kernels
/// only where no library said anything.
std::string served_text(const entry& e) {
  std::vector<std::string> parts;
  for (const json& one : list_of(e.library_trace, "served")) {
    const std::string library = text_of(one, "library");
    const std::string what = text_of(one, "what");
    const std::string detail = text_of(one, "detail");
    if (library == "profiler") {
      if (!is_known(e)) {
        parts.push_back("kernel " + short_kernel_name(what));
      }
    } else if (library == "LibTorch" || detail.empty()) {
      parts.push_back(library + " " + what);
    } else {
      parts.push_back(fmt::format("{} {} ({})", library, what, detail));
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool any_on_cpu(const collected_run& run) {
  return std::any_of(run.entries.begin(), run.entries.end(), [](const entry& e) {
    return e.library_trace.is_object() && e.device == "cpu";
  });
}

/// Why it is not known, the checks of one reason together, in the order of their first.
void print_reasons(report_paper& paper, const collected_run& run) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> ids;
  for (const entry& e : run.entries) {
    if (e.library_trace.is_object() && !is_known(e)) {
      const std::string why = text_of(e.library_trace, "why");
      if (ids[why].empty()) {
        order.push_back(why);
      }
      ids[why].push_back(e.id);
    }
  }
  constexpr std::size_t most_named = 3;
  for (const std::string& why : order) {
    const auto& of = ids[why];
    const std::string who = of.size() <= most_named ? fmt::format("{}", fmt::join(of, ", "))
                                                    : fmt::format("{} checks", of.size());
    paper.wrapped_line(fmt::format("library not known of {}: {}", who, why), 2);
  }
}

}  // namespace

void print_served(report_paper& paper, const collected_run& run) {
  std::size_t width = 0;
  for (const entry& e : run.entries) {
    if (e.library_trace.is_object()) {
      width = std::max(width, e.id.size());
    }
  }
  if (width == 0) {
    return;
  }
  paper.line("Served by (each check run once more, with the libraries' logs on):");
  for (const entry& e : run.entries) {
    const std::string text = e.library_trace.is_object() ? served_text(e) : "";
    if (!text.empty()) {
      paper.labelled(fmt::format("  {:<{}}  ", e.id, width), text);
    }
  }
  print_reasons(paper, run);
  if (any_on_cpu(run)) {
    paper.wrapped_line("Of the CPU's libraries only oneDNN can be traced.", 2);
  }
  paper.line("");
}

}  // namespace assay
