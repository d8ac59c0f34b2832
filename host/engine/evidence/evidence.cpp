// SPDX-License-Identifier: Apache-2.0
#include "evidence/evidence.hpp"

#include <ATen/Context.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "clock.hpp"
#include "dtypes.hpp"
#include "evidence/attention_reasons.hpp"
#include "evidence/device_profile.hpp"
#include "evidence/dispatch_trace.hpp"
#include "evidence/reference.hpp"
#include "inputs.hpp"

namespace assay::engine {

namespace {

using nlohmann::json;

constexpr std::size_t most_kernels = 32;

json trace_record(const dispatch_trace& trace) {
  json ops = json::array();
  for (const traced_operator& seen : trace.operators) {
    ops.push_back({{"op", seen.op},
                   {"depth", seen.depth},
                   {"leaf", seen.leaf},
                   {"kernel", seen.kernel},
                   {"devices", seen.devices},
                   {"cpu_elements", seen.cpu_elements},
                   {"crosses", seen.crosses},
                   {"crossing_elements", seen.crossing_elements}});
  }
  return {{"state", "seen"}, {"why", ""}, {"ops", std::move(ops)}, {"left_out", trace.left_out}};
}

// Where the tracer does not tell of the runtime's waits, a scalar read is one.
json syncs_of(const device_profile& profile, const json& trace) {
  if (profile.syncs) {
    return *profile.syncs;
  }
  if (trace.at("state") != "seen") {
    return nullptr;
  }
  const json& ops = trace.at("ops");
  return std::count_if(ops.begin(), ops.end(), [](const json& op) {
    return op.at("op") == "aten::_local_scalar_dense" && op.at("devices") != json{"cpu"};
  });
}

json profile_record(const device_profile& profile, const json& trace) {
  json kernels = json::array();
  for (std::size_t i = 0; i < std::min(profile.kernels.size(), most_kernels); ++i) {
    const auto& kernel = profile.kernels[i];
    kernels.push_back({{"name", kernel.name}, {"count", kernel.count}, {"us", kernel.us}});
  }
  json copies = json::array();
  for (const auto& [kind, copy] : profile.copies) {
    copies.push_back({{"kind", kind},
                      {"count", copy.count},
                      {"bytes", copy.bytes ? json(*copy.bytes) : json()},
                      {"us", copy.us}});
  }
  json record{{"state", profile.seen ? "seen" : "unknown"},
              {"why", profile.why},
              {"calls", profile.calls},
              {"kernels", std::move(kernels)},
              {"kernel_us", profile.kernel_us},
              {"kernel_count", profile.kernel_count},
              {"copies", std::move(copies)},
              {"memset_us", profile.memset_us},
              {"call_us", profile.call_us},
              {"dispatch_us", profile.dispatch_us},
              {"busy_us", profile.busy_us},
              {"copy_us", profile.copy_us},
              {"idle_us", profile.idle_us},
              {"syncs", syncs_of(profile, trace)},
              {"trace_file", profile.trace_file.empty() ? json() : json(profile.trace_file)}};
  if (!profile.seen) {
    for (const char* member : {"kernels", "kernel_us", "kernel_count", "copies", "memset_us",
                               "busy_us", "copy_us", "idle_us"}) {
      record[member] = nullptr;
    }
  }
  return record;
}

json unknown(const std::string& why) { return {{"state", "unknown"}, {"why", why}}; }

// A part's failure is the part's own answer.
json part(json& spent, const char* name, const std::function<json()>& gather) {
  const auto begin = host_clock::now();
  json record;
  try {
    record = gather();
  } catch (const c10::Error& e) {
    record = unknown(e.what_without_backtrace());
  } catch (const std::exception& e) {
    record = unknown(e.what());
  }
  spent[name] = us_between(begin, host_clock::now());
  return record;
}

bool has_op(const json& trace, const std::string& part_of_name) {
  if (trace.at("state") != "seen") {
    return false;
  }
  const json& ops = trace.at("ops");
  return std::any_of(ops.begin(), ops.end(), [&](const json& op) {
    return op.at("op").get_ref<const std::string&>().find(part_of_name) != std::string::npos;
  });
}

bool tf32_allowed(const json& trace) {
  auto& context = at::globalContext();
  return at::Context::hasCUDA() && !at::Context::hasROCM() && has_op(trace, "cudnn_convolution")
             ? context.allowTF32CuDNN()
             : context.allowTF32CuBLAS();
}

class correctness {
 public:
  correctness(const evidence_request& request, const json& trace)
      : request_(request), trace_(trace), check_(*request.check) {}

  json examine(bound_plan& plan, const std::vector<at::Tensor>& inputs) {
    if (!request_.large) {
      return compare(plan, inputs);
    }
    // The reference of the large form would take minutes; the same operators are compared at the
    // classic sizes.
    bound_plan small(check_, {request_.device, scalar_type(request_.dtype)});
    const auto made = make_inputs(check_, request_.dtype, request_.device, request_.seed);
    small.set_inputs(made);
    return compare(small, made);
  }

 private:
  json compare(bound_plan& plan, const std::vector<at::Tensor>& inputs) {
    json record{
        {"state", "compared"},
        {"why", ""},
        {"reference", check_.reference_call_count > 0 ? "the check's own plan on the CPU in float64"
                                                      : "the plan on the CPU in float64"},
        {"sizes", "classic"},
        {"outputs", json::array()},
        {"repeatable", nullptr},
        {"margins", nullptr},
        {"tf32", tf32_allowed(trace_)}};
    // Before the plan runs, which may write to its inputs.
    plan.restore_inputs();
    const auto reference = make_reference(record, plan, inputs);
    plan.run();
    const auto outputs = plan.outputs();
    const auto first = on_cpu(outputs);
    compare_outputs(record, outputs, reference, inputs);
    try {
      const margin_result margins = examine_margins(plan);
      record["margins"] = {{"state", margins.state}, {"why", margins.why}};
    } catch (const c10::Error& e) {
      record["margins"] = unknown(e.what_without_backtrace());
    } catch (const std::exception& e) {
      record["margins"] = unknown(e.what());
    }
    plan.restore_inputs();
    plan.run();
    record["repeatable"] = bitwise_equal(first, on_cpu(plan.outputs()));
    return record;
  }

  std::vector<at::Tensor> make_reference(json& record, const bound_plan& plan,
                                         const std::vector<at::Tensor>& inputs) {
    std::string why;
    if (check_.accuracy != nullptr && (check_.accuracy->flags & ASSAY_ACCURACY_INCOMPARABLE) != 0) {
      record["state"] = "unknown";
      record["why"] = "the check says that its output cannot be compared on made inputs";
      return {};
    }
    try {
      auto reference = reference_outputs(check_, inputs);
      // Many operators only may: attention without dropout draws none.
      if (plan.may_draw() &&
          !bitwise_equal(on_cpu(reference), on_cpu(reference_outputs(check_, inputs)))) {
        why = "it draws random numbers: two runs of the reference differ, too";
      } else {
        return reference;
      }
    } catch (const c10::Error& e) {
      why = std::string("the reference did not run: ") + e.what_without_backtrace();
    } catch (const std::exception& e) {
      why = std::string("the reference did not run: ") + e.what();
    }
    record["state"] = "unknown";
    record["why"] = why;
    return {};
  }

  void compare_outputs(json& record, const std::vector<at::Tensor>& outputs,
                       const std::vector<at::Tensor>& reference,
                       const std::vector<at::Tensor>& inputs) {
    if (record["state"] == "compared" && reference.size() != outputs.size()) {
      record["state"] = "unknown";
      record["why"] = "the reference has " + std::to_string(reference.size()) +
                      " outputs, the plan " + std::to_string(outputs.size());
    }
    if (record["state"] != "compared") {
      return;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::optional<picked_input> picked;
      const assay_accuracy* accuracy = check_.accuracy;
      if (accuracy != nullptr && accuracy->picks_input >= 0 && !outputs[i].is_floating_point()) {
        const auto& input = inputs[static_cast<std::size_t>(accuracy->picks_input)];
        picked = {input.to(at::kCPU, at::kDouble), accuracy->picks_dimension};
      }
      record["outputs"].push_back(compare_output(outputs[i], reference[i], request_.device,
                                                 types_of_output(i, inputs), picked));
    }
  }

  // What float64 of the reference may stand for: the check's dtype, that of another floating input
  // (they are promoted, and gradients have their weight's), and float32, in which what follows the
  // first output of a half type is kept (means, deviations, log-sums).
  [[nodiscard]] std::vector<c10::ScalarType> types_of_output(
      std::size_t output, const std::vector<at::Tensor>& inputs) const {
    std::vector<c10::ScalarType> types{scalar_type(request_.dtype)};
    for (const at::Tensor& input : inputs) {
      if (input.is_floating_point()) {
        types.push_back(input.scalar_type());
      }
    }
    if (output > 0 && c10::isReducedFloatingType(types.front())) {
      types.push_back(at::kFloat);
    }
    return types;
  }

  const evidence_request& request_;
  const json& trace_;
  const assay_check& check_;
};

// An expanded tensor has its values but once.
std::size_t touched_bytes(const at::Tensor& t) {
  std::size_t bytes = t.nbytes();
  for (std::int64_t d = 0; t.layout() == at::kStrided && d < t.dim(); ++d) {
    if (t.stride(d) == 0 && t.size(d) > 1) {
      bytes /= static_cast<std::size_t>(t.size(d));
    }
  }
  return bytes;
}

}  // namespace

json gather_evidence(bound_plan& plan, const std::vector<at::Tensor>& inputs,
                     const evidence_request& request) {
  json spent = json::object();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    bytes += plan.only_writes_to(i) ? 0 : touched_bytes(inputs[i]);
  }
  for (const at::Tensor& t : plan.outputs()) {
    bytes += touched_bytes(t);
  }
  plan.restore_inputs();
  json trace =
      part(spent, "trace", [&] { return trace_record(trace_dispatch(plan, request.device)); });
  plan.restore_inputs();
  json profiler = part(spent, "profiler", [&] {
    return profile_record(profile_calls(plan, request.device, request.trace_file), trace);
  });
  json correct =
      part(spent, "correct", [&] { return correctness(request, trace).examine(plan, inputs); });
  json reasons = json::array();
  if (has_op(trace, "_scaled_dot_product_attention_math")) {
    reasons = attention_reasons(plan);
  }
  clock_of(request.device).synchronize();
  return {{"trace", std::move(trace)},
          {"profiler", std::move(profiler)},
          {"correct", std::move(correct)},
          {"io_bytes", bytes},
          {"sizes", request.large ? "large" : "classic"},
          {"sdp_reasons", std::move(reasons)},
          {"part_us", std::move(spent)}};
}

}  // namespace assay::engine
