// SPDX-License-Identifier: Apache-2.0
#include "evidence/attention_reasons.hpp"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "warnings.hpp"

namespace assay::engine {

namespace {

/// Keeps each warning of this thread, also one that was given before: two kernels may be refused
/// for the same reason.
class listener final : public c10::WarningHandler {
 public:
  listener() : guard_(this) {}
  void process(const c10::Warning& warning) override { texts_.push_back(warning.msg()); }
  [[nodiscard]] const nlohmann::json& texts() const { return texts_; }

 private:
  nlohmann::json texts_ = nlohmann::json::array();
  c10::WarningUtils::WarningHandlerGuard guard_;
};

class without_math_attention {
 public:
  without_math_attention() {
    warning_catcher::repeat_once_warnings(true);
    at::globalContext().setSDPUseMath(false);
  }
  without_math_attention(const without_math_attention&) = delete;
  without_math_attention& operator=(const without_math_attention&) = delete;
  ~without_math_attention() {
    at::globalContext().setSDPUseMath(true);
    warning_catcher::repeat_once_warnings(false);
  }
};

}  // namespace

// LibTorch explains itself only where it has no kernel left: without the math path it refuses the
// call, and its warnings before that say what kept it from each fused one.
nlohmann::json attention_reasons(bound_plan& plan) {
  if (!at::globalContext().userEnabledMathSDP()) {
    return nlohmann::json::array();
  }
  const listener reasons;
  const without_math_attention refuse;
  try {
    plan.run();
  } catch (const std::exception&) {
    // "No available kernel": no more than that it refuses.
  }
  return reasons.texts();
}

}  // namespace assay::engine
