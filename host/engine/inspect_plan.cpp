// SPDX-License-Identifier: Apache-2.0
#include "inspect_plan.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/InferenceMode.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bind.hpp"
#include "dtypes.hpp"
#include "inputs.hpp"
#include "run_check.hpp"
#include "warnings.hpp"

namespace assay::engine {

namespace {

using nlohmann::json;

json describe(const torch::jit::Stack& values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) {
    collect_tensors(value, tensors);
  }
  json list = json::array();
  for (const at::Tensor& t : tensors) {
    // A tensor that is expanded is one row in memory; what counts is what it stands for.
    list.push_back({{"shape", t.sizes().vec()},
                    {"dtype", name_of(t.scalar_type())},
                    {"bytes", static_cast<double>(t.numel()) * static_cast<double>(t.itemsize())}});
  }
  return list;
}

std::vector<at::Tensor> inputs_without_data(const assay_check& check, std::int32_t dtype) {
  std::vector<at::Tensor> inputs;
  for (std::uint32_t i = 0; i < check.input_count; ++i) {
    const assay_input& wanted = *check.inputs[i];
    const auto type = scalar_type(wanted.dtype == ASSAY_DTYPE_OF_CHECK ? dtype : wanted.dtype);
    const at::IntArrayRef sizes(wanted.sizes, wanted.dimensions);
    const auto options = at::dtype(type).device(at::kMeta);
    inputs.push_back(wanted.strides == nullptr
                         ? at::empty(sizes, options)
                         : at::empty_strided(
                               sizes, at::IntArrayRef(wanted.strides, wanted.dimensions), options));
  }
  return inputs;
}

class inspection {
 public:
  explicit inspection(const assay_engine_job& job)
      : job_(job), on_meta_(c10::Device(job.device).is_meta()) {}

  json run() {
    const warning_catcher warnings;
    try {
      go_through();
      record_["status"] = "ok";
    } catch (const c10::NotImplementedError& e) {
      // No kernel for tensors without data says nothing about the plan.
      fail(on_meta_ ? "unknown" : "error", e.what_without_backtrace());
    } catch (const c10::Error& e) {
      fail(without_data(e.what_without_backtrace()) ? "unknown" : "error",
           e.what_without_backtrace());
    } catch (const missing_operator& e) {
      fail("unknown", e.what());
    } catch (const std::exception& e) {
      fail(without_data(e.what()) ? "unknown" : "error", e.what());
    } catch (...) {
      fail("error", "the operator threw something that is not a std::exception");
    }
    return std::move(record_);
  }

 private:
  void go_through() {
    const c10::InferenceMode inference;
    record_["phase"] = "library";
    open_libraries(job_);
    record_["phase"] = "bind";
    const bool large = job_.large != 0 && job_.check->large != nullptr;
    const assay_check& check = large ? *job_.check->large : *job_.check;
    bound_plan plan(check);
    plan.set_inputs(on_meta_ ? inputs_without_data(check, job_.dtype)
                             : make_inputs(check, job_.dtype, c10::Device(job_.device), job_.seed));
    record_["phase"] = "call";
    try {
      watch(plan);
    } catch (...) {
      place_ = plan.failed_call();
      throw;
    }
  }

  void watch(bound_plan& plan) {
    plan.run_watched([this](const c10::OperatorHandle& op, const torch::jit::Stack& arguments,
                            const torch::jit::Stack& results) {
      record_["calls"].push_back({{"op", c10::toString(op.operator_name())},
                                  {"inputs", describe(arguments)},
                                  {"outputs", describe(results)}});
    });
  }

  void fail(const char* status, const std::string& message) {
    record_["status"] = status;
    record_["message"] = place_ + message;
  }

  [[nodiscard]] bool without_data(const std::string& message) const {
    return on_meta_ && (message.find("meta tensor") != std::string::npos ||
                        message.find("Meta") != std::string::npos);
  }

  const assay_engine_job& job_;
  bool on_meta_;
  std::string place_;  // of the call that threw
  json record_{
      {"status", "error"}, {"phase", "library"}, {"message", ""}, {"calls", json::array()}};
};

}  // namespace

json inspect_plan(const assay_engine_job& job) {
  try {
    return inspection(job).run();
  } catch (const std::exception& e) {
    return {{"status", "error"}, {"phase", "library"}, {"message", e.what()}, {"calls", {}}};
  }
}

json operator_names() {
  json names = json::array();
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    names.push_back(c10::toString(name));
  }
  return names;
}

}  // namespace assay::engine
