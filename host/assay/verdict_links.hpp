// SPDX-License-Identifier: Apache-2.0
//
// The links of the chain, one file each. Private to the verdict.
#pragma once

#include <string>
#include <vector>

#include "verdict.hpp"

namespace assay::verdict_links {

/// In the order in which they make a verdict worse.
enum class state { pass, unknown, warn, fail };

std::string name_of(state s);

struct link {
  state is = state::unknown;
  std::string why;  // one line
};

/// What the links read of a run, looked up once.
struct facts {
  explicit facts(const judged_run& judged);

  const judged_run& run;
  const nlohmann::json& evidence;
  const nlohmann::json& trace;
  const nlohmann::json& profiler;
  std::string device;
  std::string dtype;
  bool on_cpu;
  bool large;  // the check's large form ran

  /// Whether a part was looked at; why not, in words.
  [[nodiscard]] static bool seen(const nlohmann::json& part);
  [[nodiscard]] std::string why_unseen(const nlohmann::json& part, const std::string& what) const;

  /// Of the sizes that ran; null where the check does not say.
  [[nodiscard]] const nlohmann::json& cost() const;
  [[nodiscard]] const nlohmann::json& accuracy() const;
};

/// The operators that called no other, by their place in the trace.
std::vector<const nlohmann::json*> leaf_operators(const nlohmann::json& trace);

link no_fallback_link(const facts& known);
/// Whether an operator computed on the host's tensors.
bool worked_on_host(const facts& known);
link correct_link(const facts& known);

struct path_result {
  link judged;
  std::string name;  // "": not known
};
path_result path_link(const facts& known);

struct speed_result {
  link judged;
  nlohmann::json members;  // bound, gb_per_s, tflop_per_s, percent, ceiling, datasheet_percent
};
speed_result speed_link(const facts& known);

}  // namespace assay::verdict_links
