// SPDX-License-Identifier: Apache-2.0
#include "run_check.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Type.h>

#include <boost/dll/shared_library.hpp>
#include <deque>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "bind.hpp"
#include "clock.hpp"
#include "dtypes.hpp"
#include "evidence/evidence.hpp"
#include "evidence/reference.hpp"
#include "evidence/selftest_operators.hpp"
#include "host/common/open_library.hpp"
#include "inputs.hpp"
#include "timing.hpp"
#include "warnings.hpp"

namespace assay::engine {

using nlohmann::json;

// A TORCH_LIBRARY extension registers its operators as it is opened; it stays open for good.
void open_libraries(const assay_engine_job& job) {
  static std::deque<boost::dll::shared_library> open;
  static std::set<std::string> names;
  for (std::uint32_t i = 0; i < job.library_count; ++i) {
    const std::string path = job.libraries[i];
    if (names.contains(path)) {
      continue;
    }
    try {
      open.push_back(
          open_library(path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_global));
    } catch (const std::exception& e) {
      throw std::runtime_error("the operator library " + path + " does not open: " + e.what());
    }
    names.insert(path);
  }
}

namespace {

json describe_tensor(const at::Tensor& t) {
  json strides = nullptr;
  if (t.layout() == at::kStrided) {
    strides = t.strides().vec();
  }
  return {{"device", t.device().str()},
          {"dtype", name_of(t.scalar_type())},
          {"shape", t.sizes().vec()},
          {"strides", strides}};
}

json timing_record(const timing_result& t, std::int32_t profile) {
  static constexpr const char* names[] = {"classic", "quick", "measure"};
  json record{
      {"profile", names[profile]},
      {"first_call_us", t.first_call_us},
      {"warm_up_calls", t.warm_up_calls},
      {"calls", t.calls},
      {"submit_us", t.submit_us},
      {"wall_us", t.wall_us},
      {"device_us", nullptr},
      {"device_basis", nullptr},
      {"samples", nullptr},
      {"wall_mad_us", nullptr},
      {"wall_min_us", nullptr},
      {"device_mad_us", nullptr},
      {"device_min_us", nullptr},
      {"cold_us", nullptr},
      {"stop_reason", t.stop_reason},
  };
  if (t.device_us) {
    record["device_us"] = *t.device_us;
    record["device_basis"] = t.device_held ? "held" : "span";
  }
  if (t.wall_spread) {
    record["wall_mad_us"] = t.wall_spread->mad;
    record["wall_min_us"] = t.wall_spread->minimum;
    record["samples"] = {{"wall_us", t.wall_samples_us}, {"device_us", t.device_samples_us}};
  }
  if (t.device_spread) {
    record["device_mad_us"] = t.device_spread->mad;
    record["device_min_us"] = t.device_spread->minimum;
  }
  return record;
}

json error_record(const std::exception& e) {
  json record{{"type", c10::demangle(typeid(e).name())}, {"message", e.what()}, {"trace", nullptr}};
  if (const auto* error = dynamic_cast<const c10::Error*>(&e)) {
    const std::string whole = e.what();
    const std::string message = error->what_without_backtrace();
    record["message"] = message;
    if (whole.size() > message.size() && whole.starts_with(message)) {
      record["trace"] = whole.substr(message.size());
    }
  }
  return record;
}

// After an error: does the device still work in this process? A sticky error of the GPU's runtime
// fails every later call.
bool is_poisoned(const c10::Device& device) {
  if (device.is_cpu()) {
    return false;
  }
  try {
    const device_clock& clock = clock_of(device);
    clock.synchronize();
    at::empty({1}, at::device(device).dtype(at::kFloat)).fill_(1.0);
    clock.synchronize();
    return false;
  } catch (...) {
    return true;
  }
}

class check_run {
 public:
  explicit check_run(const assay_engine_job& job) : job_(job), device_(job.device) {}

  json run() {
    const warning_catcher warnings;
    try {
      steps();
    } catch (const missing_operator& e) {
      fail("skipped", {{"type", "missing_operator"}, {"message", e.what()}, {"trace", nullptr}});
    } catch (const plan_error& e) {
      fail("error",
           {{"type", "plan_error"}, {"message", failed_call_ + e.what()}, {"trace", nullptr}});
    } catch (const std::exception& e) {
      json error = error_record(e);
      error["message"] = failed_call_ + error["message"].get<std::string>();
      fail("error", std::move(error));
    } catch (...) {
      fail("error",
           {{"type", "unknown"},
            {"message", failed_call_ + "the operator threw something that is not a std::exception"},
            {"trace", nullptr}});
    }
    warning_catcher::repeat_once_warnings(false);
    for (const auto& w : warnings.all()) {
      record_["warnings"].push_back({{"text", w.text}, {"source", w.source}, {"count", w.count}});
    }
    return std::move(record_);
  }

 private:
  void enter(const char* phase) {
    end_phase();
    record_["phase"] = phase;
    if (job_.phase != nullptr) {
      job_.phase(job_.context, phase);
    }
  }

  void end_phase() {
    const auto now = host_clock::now();
    record_["phase_us"][record_["phase"].get<std::string>()] = us_between(phase_begin_, now);
    phase_begin_ = now;
  }

  void fail(const char* status, json error) {
    end_phase();
    record_["status"] = status;
    record_["error"] = std::move(error);
    record_["poisoned"] = record_["status"] == "error" && is_poisoned(device_);
  }

  void steps() {
    const c10::InferenceMode inference;
    enter("library");
    open_libraries(job_);
    register_selftest_operators(*job_.check);
    enter("bind");
    const bool large = job_.large != 0 && job_.check->large != nullptr;
    const assay_check& check = large ? *job_.check->large : *job_.check;
    bound_plan plan(check, {device_, scalar_type(job_.dtype)});
    check_reference(check);
    enter("inputs");
    const std::vector<at::Tensor> inputs = make_inputs(check, job_.dtype, device_, job_.seed);
    plan.set_inputs(inputs);
    try {
      call(plan, inputs, large);
    } catch (...) {
      failed_call_ = plan.failed_call();
      throw;
    }
    record_["status"] = "ok";
    end_phase();
    record_["phase"] = "done";
  }

  void call(bound_plan& plan, const std::vector<at::Tensor>& inputs, bool large) {
    if (job_.untimed != 0) {
      enter("first_call");
      plan.run();
      clock_of(device_).synchronize();
    } else {
      take_times(plan);
    }
    for (const at::Tensor& output : plan.outputs()) {
      record_["outputs"].push_back(describe_tensor(output));
    }
    if (job_.evidence != 0) {
      enter("evidence");
      record_["evidence"] = gather_evidence(plan, inputs,
                                            {job_.check, job_.dtype, device_, job_.seed, large,
                                             job_.trace_file == nullptr ? "" : job_.trace_file});
    }
  }

  void take_times(bound_plan& plan) {
    device_clock& clock = clock_of(device_);
    const timing_rules rules{job_.profile, job_.measure_limit_s};
    warning_catcher::repeat_once_warnings(true);
    const timing_result timing = time_plan(plan, clock, rules, [&](const char* phase) {
      // Repeated in the first call alone: giving a warning takes time.
      warning_catcher::repeat_once_warnings(std::string_view(phase) == "first_call");
      enter(phase);
    });
    json record = timing_record(timing, job_.profile);
    if (job_.cold != 0) {
      enter("cold");
      record["cold_us"] = time_cold(plan, clock, timing.submit_us);
    }
    record_["timing"] = std::move(record);
  }

  const assay_engine_job& job_;
  c10::Device device_;
  host_clock::time_point phase_begin_ = host_clock::now();
  std::string failed_call_;  // the place of the call that threw, in front of its message
  json record_{{"status", "error"},         {"phase", "library"}, {"outputs", json::array()},
               {"timing", nullptr},         {"error", nullptr},   {"poisoned", false},
               {"warnings", json::array()}, {"evidence", nullptr}};
};

}  // namespace

json run_check(const assay_engine_job& job) { return check_run(job).run(); }

}  // namespace assay::engine
