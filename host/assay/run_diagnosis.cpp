// SPDX-License-Identifier: Apache-2.0
#include "run_diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "diagnosis_text.hpp"
#include "diagnostic_workers.hpp"
#include "host/diagnosis/reasons.hpp"
#include "host/platform/platform.hpp"
#include "rule_files.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::string joined_lines(const json& list, std::string_view member) {
  std::string text;
  for (const json& one : list) {
    text += text_of(one, member) + "\n";
  }
  return text;
}

/// What GPU libraries read. Other variables are nobody's business, and may be secret.
std::vector<std::string> gpu_environment() {
  static constexpr std::array<std::string_view, 19> prefixes{
      "AMD_",    "AOTRITON_", "CUBLAS_", "CUDA_",    "GPU_",  "HIP", "HSA_",
      "MIOPEN_", "NCCL_",     "NVIDIA_", "PYTORCH_", "RCCL_", "ROC", "TENSILE_",
      "TORCH",   "TRITON_",   "OMP_",    "MKL_",     "LD_"};
  std::vector<std::string> list;
  for (const auto& [name, value] : platform::environment_variables()) {
    const std::string_view whole = name;
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&](std::string_view prefix) { return whole.starts_with(prefix); })) {
      list.push_back(name + "=" + value);
    }
  }
  return list;
}

// On the CPU no kernel of a GPU is to blame.
std::string compared_with(const collected_run::entry& entry) {
  const json& correct = member_of(member_of(entry.evidence, "evidence"), "correct");
  const std::string reference = text_of(correct, "reference");
  if (entry.device != "cpu" || reference.empty()) {
    return "";
  }
  return reference.starts_with("the check's own")
             ? "assay: correct on the CPU against the check's own reference\n"
             : "assay: correct on the CPU against the same calls in float64\n";
}

// "assay: path warn: math (slow)", as rules match it.
std::string chain_text(const collected_run::entry& entry) {
  std::string text;
  const json& links = member_of(member_of(entry.evidence, "verdict"), "links");
  for (const auto& [name, judged] : links.items()) {
    const std::string state = text_of(judged, "state");
    if (state == "warn" || state == "fail") {
      text += fmt::format("assay: {} {}: {}\n", name, state, text_of(judged, "why"));
      text += name == "correct" ? compared_with(entry) : "";
    }
  }
  return text;
}

bool worth_a_look(const collected_run::entry& entry) {
  const json& result = entry.result;
  if (entry.baseline || result.is_null()) {
    return false;
  }
  return has_failed(entry) || text_of(member_of(entry.evidence, "verdict"), "verdict") == "warn" ||
         !list_of(result, "warnings").empty() || !text_of(result, "stderr").empty() ||
         !text_of(entry.evidence, "stderr").empty() || flag_is(result, "on_device", false);
}

}  // namespace

std::string run_diagnosis::architecture() const {
  for (const json& device : list_of(run_.engine, "devices")) {
    if (!text_of(device, "device").starts_with("cpu")) {
      return text_of(device, "architecture");
    }
  }
  return "";
}

void run_diagnosis::describe_build(failure_facts& facts, const std::string& device) const {
  facts.torch_version = text_of(run_.engine, "torch_version");
  facts.torch_build = text_of(run_.engine, "build");
  facts.platform = this_platform();
  facts.environment = gpu_environment();
  for (const json& known : list_of(run_.engine, "devices")) {
    if (text_of(known, "device") == device) {
      facts.device_name = text_of(known, "name");
      facts.architecture = text_of(known, "architecture");
    }
  }
}

failure_facts run_diagnosis::facts_of(const collected_run::entry& entry) const {
  const json& result = entry.result;
  failure_facts facts;
  facts.check = entry.id;
  facts.device = entry.device;
  facts.status = text_of(result, "status");
  facts.phase = text_of(result, "phase");
  const json* error = &member_of(result, "error");
  if (!error->is_object()) {
    error = &member_of(entry.evidence, "error");  // of the second run
  }
  facts.error_type = text_of(*error, "type");
  facts.error_text = text_of(*error, "message");
  facts.trace = text_of(*error, "trace");
  facts.stderr_text = text_of(result, "stderr");
  if (const std::string second = text_of(entry.evidence, "stderr"); second != facts.stderr_text) {
    facts.stderr_text += "\n" + second;
  }
  facts.stdout_text = text_of(result, "stdout");
  facts.warnings = joined_lines(list_of(result, "warnings"), "text");
  facts.chain = chain_text(entry);
  facts.dtype = text_of(result, "dtype");
  const json& signal = member_of(result, "signal");
  const auto code = number_if_any(result, "exit_code");
  // After a timeout it is assay that ended the process.
  facts.end = facts.status == "timeout" ? ""
              : signal.is_object()      ? text_of(signal, "name")
              : code                    ? fmt::format("exit status {:.0f}", *code)
                                        : "";
  const std::string check = text_of(result, "category") + "/" + text_of(result, "name");
  for (const json& known : found_.checks) {
    if (text_of(known, "check") == check) {
      for (const json& call : list_of(known, "plan")) {
        facts.operators.push_back(text_of(call, "op"));
      }
    }
  }
  describe_build(facts, entry.device);
  return facts;
}

failure_facts run_diagnosis::engine_facts() const {
  const json& record = run_.engine_failure.is_null() ? run_.engine : run_.engine_failure;
  failure_facts facts;
  facts.status = text_of(record, "status") == "failed" ? "error" : "ok";
  facts.phase = "library";
  facts.error_text = text_of(record, "reason");
  facts.stderr_text = text_of(record, "stderr");
  facts.warnings = text_of(record, "backend_error");
  describe_build(facts, "");
  return facts;
}

std::vector<run_diagnosis::suspect> run_diagnosis::suspects() const {
  std::vector<suspect> list;
  // A GPU part that did not open matters where a GPU was asked for; with --device auto on a machine
  // without one it is how things are, and the report says so at its head.
  const std::string asked = text_of(run_.run, "device_asked");
  const bool gpu_wanted = asked != "auto" && asked != "cpu";
  if ((!text_of(run_.engine, "backend_error").empty() && gpu_wanted) ||
      !run_.engine_failure.is_null() || text_of(run_.engine, "status") == "failed") {
    list.push_back({"", "", engine_facts(), {}});
  }
  for (const collected_run::entry& entry : run_.entries) {
    if (worth_a_look(entry)) {
      list.push_back({entry.id, entry.device, facts_of(entry), {}});
    }
  }
  return list;
}

std::vector<json> run_diagnosis::conclude(bool at_once) {
  std::vector<suspect> list = suspects();
  if (list.empty()) {
    return {};
  }
  const knowledge known = rule_knowledge(here_, options_, std::cerr);
  if (known.entries.empty()) {
    return {};
  }
  const diagnoser judge(known);
  std::set<std::string> probes;
  std::vector<json> failures;
  const text_scan blank(known);
  for (suspect& one : list) {
    text_scan scan = blank;
    one.facts.feed(scan);
    one.found = judge.by_rules(one.facts, scan);
    probes.merge(wanted_probes(one.found));
  }
  diagnostic_workers workers(here_, options_, found_);
  if (!at_once) {
    workers.look_at(text_of(run_.run, "torch_dir"), architecture());
    workers.ask(probes);
  }
  std::string answers;
  for (const auto& [id, answer] : workers.answers()) {
    answers += fmt::format("{} {}: {}\n", id, answer.state, answer.fact);
  }
  for (const suspect& one : list) {
    json failure = failure_json(one.facts);
    failure["probes"] = answers;
    failures.push_back(std::move(failure));
  }
  std::vector<std::vector<diagnostic_workers::classified>> classified(list.size());
  if (!at_once) {
    classified = workers.classify(failures);
  }

  std::vector<json> records;
  for (const auto& [id, answer] : workers.answers()) {
    records.push_back(to_json(answer));
    records.back()["record"] = "probe";
  }
  std::vector<std::string> remarks;
  shared_reasons reasons;
  for (std::size_t i = 0; i < list.size(); ++i) {
    suspect& one = list[i];
    take_answers(classified[i], judge, one.found, remarks);
    one.found = diagnoser::settle(std::move(one.found), workers.answers());
    int rank = 0;
    for (const found_diagnosis& d : one.found) {
      reasons.add(d, one.facts, {{"id", one.id}, {"device", one.device}, {"rank", ++rank}});
    }
  }
  for (const shared_reasons::reason& reason : reasons.in_order()) {
    json record = to_json(*reason.diagnosis);
    record["record"] = "diagnosis";
    record["checks"] = reason.checks;
    records.push_back(std::move(record));
  }
  // A classifier that is broken is so for each failure.
  for (const std::string& remark : std::set<std::string>(remarks.begin(), remarks.end())) {
    std::cerr << "assay: " << printable(remark) << '\n';
  }
  return records;
}

}  // namespace assay
