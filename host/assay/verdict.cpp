// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collected_run.hpp"
#include "verdict_links.hpp"

namespace assay {

namespace verdict_links {

using nlohmann::json;

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string error_line(const json& record) {
  const std::string message = first_line(text_of(member_of(record, "error"), "message"));
  return message.empty() ? text_of(record, "status") : message;
}

// Whether the second run failed before its evidence was asked for: then the check is at fault, and
// not what watched it.
bool failed_again(const json& gathered) {
  const std::string status = text_of(gathered, "status");
  return !status.empty() && status != "ok" && text_of(gathered, "phase") != "evidence";
}

link ran_link(const judged_run& run) {
  const std::string status = text_of(run.result, "status");
  if (status == "skipped") {
    return {state::unknown, "skipped: " + error_line(run.result)};
  }
  if (status != "ok") {
    return {state::fail, error_line(run.result)};
  }
  if (failed_again(run.gathered)) {
    return {state::fail, "it ran once, and failed when it was run again for its evidence: " +
                             error_line(run.gathered)};
  }
  return {state::pass, ""};
}

std::string compared_with_reference(const json& outputs, state& worst) {
  std::string text;
  const auto add = [&](state s, std::size_t i, const std::string& what) {
    worst = std::max(worst, s);
    text += fmt::format("{}output {} has {}", text.empty() ? "" : "; ", i, what);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const json& output = outputs[i];
    if (flag_is(output, "device_as_asked", false)) {
      add(state::fail, i, "another device than the one asked for");
    }
    const json& expected = member_of(output, "expected");
    if (flag_is(output, "shape_as_reference", false)) {
      add(state::fail, i,
          "another shape than the reference's " + member_of(expected, "shape").dump());
    }
    if (flag_is(output, "dtype_as_reference", false)) {
      add(state::fail, i, "another dtype than the reference's " + text_of(expected, "dtype"));
    }
    if (flag_is(output, "layout_as_reference", false) &&
        !flag_is(output, "shape_as_reference", false)) {
      // LibTorch promises no order of strides; attention's differs from backend to backend.
      add(state::pass, i,
          "another layout than the reference, whose strides are " +
              member_of(expected, "strides").dump());
    }
  }
  return text;
}

link on_device_link(const facts& known) {
  const json& outputs = list_of(known.run.result, "outputs");
  if (outputs.empty()) {
    return {state::unknown, "it returned no tensors"};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const std::string device = text_of(outputs[i], "device"); device != known.device) {
      return {state::fail, fmt::format("output {} on {}, not on {}", i, device, known.device)};
    }
  }
  const json& correct = member_of(known.evidence, "correct");
  const json& compared = list_of(correct, "outputs");
  if (!facts::seen(correct) || compared.empty()) {
    return {state::pass, "shape, dtype and layout are not known to be right: " +
                             known.why_unseen(correct, "there is no reference")};
  }
  state worst = state::pass;
  const std::string text = compared_with_reference(compared, worst);
  return {worst, text};
}

std::string label_of(const std::string& name) {
  static const std::vector<std::pair<std::string, std::string>> labels{
      {"ran", "did not run"},   {"on_device", "device"}, {"no_fallback", "fell back"},
      {"correct", "not right"}, {"path", "path"},        {"speed", "speed"},
  };
  const auto found =
      std::find_if(labels.begin(), labels.end(), [&](const auto& l) { return l.first == name; });
  return found == labels.end() ? name : found->second;
}

using named_links = std::array<std::pair<std::string, link>, 6>;

// Of the links that are as bad as the worst, the first reason of each kind.
std::string headline_of(const named_links& links, state worst) {
  if (worst == state::pass) {
    return "";
  }
  std::vector<std::string> reasons;
  std::string text;
  for (const auto& [name, judged] : links) {
    if (judged.is == worst &&
        std::find(reasons.begin(), reasons.end(), judged.why) == reasons.end()) {
      reasons.push_back(judged.why);
      const std::string label = worst == state::fail   ? label_of(name)
                                : worst == state::warn ? name
                                                       : name + " unknown";
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", label, judged.why);
    }
  }
  return text;
}

json speed_up(const judged_run& run) {
  const auto here = number_if_any(member_of(run.result, "timing"), "wall_us");
  const auto there = number_if_any(member_of(run.baseline, "timing"), "wall_us");
  return here && there && *here > 0.0 ? json(*there / *here) : json();
}

}  // namespace

std::string name_of(state s) {
  switch (s) {
    case state::pass:
      return "pass";
    case state::warn:
      return "warn";
    case state::fail:
      return "fail";
    case state::unknown:
      break;
  }
  return "unknown";
}

facts::facts(const judged_run& judged)
    : run(judged),
      evidence(member_of(judged.gathered, "evidence")),
      trace(member_of(evidence, "trace")),
      profiler(member_of(evidence, "profiler")),
      device(text_of(judged.result, "device")),
      dtype(text_of(judged.result, "dtype")),
      on_cpu(device == "cpu"),
      large(text_of(evidence, "sizes") == "large") {}

bool facts::seen(const json& part) {
  return part.is_object() && text_of(part, "state") != "unknown";
}

std::string facts::why_unseen(const json& part, const std::string& what) const {
  if (const std::string why = first_line(text_of(part, "why")); !why.empty()) {
    return why;
  }
  const std::string status = text_of(run.gathered, "status");
  if (!status.empty() && status != "ok") {
    return "gathering the evidence did not come to its end: " + error_line(run.gathered);
  }
  if (run.gathered.is_object() && !text_of(run.gathered, "why").empty()) {
    return text_of(run.gathered, "why");
  }
  return evidence.is_null() ? "no evidence was gathered" : what;
}

const json& facts::cost() const {
  const json& form = large ? member_of(run.check, "large") : run.check;
  return member_of(form, "cost");
}

// The large form is not compared: the same operators are, at the check's classic sizes.
const json& facts::accuracy() const { return member_of(run.check, "accuracy"); }

std::vector<const json*> leaf_operators(const json& trace) {
  std::vector<const json*> leaves;
  const json& ops = list_of(trace, "ops");
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const json& leaf = member_of(ops[i], "leaf");
    const bool last_of_its_depth =
        i + 1 == ops.size() || number_of(ops[i + 1], "depth") <= number_of(ops[i], "depth");
    if (leaf.is_boolean() ? leaf.get<bool>() : last_of_its_depth) {
      leaves.push_back(&ops[i]);
    }
  }
  return leaves;
}

}  // namespace verdict_links

nlohmann::json judge(const judged_run& run) {
  using namespace verdict_links;
  const facts known(run);
  named_links links{{{"ran", ran_link(run)},
                     {"on_device", {}},
                     {"no_fallback", {}},
                     {"correct", {}},
                     {"path", {}},
                     {"speed", {}}}};
  path_result path;
  speed_result speed = speed_link(known);
  const std::string status = text_of(run.result, "status");
  if (status != "ok" && known.evidence.is_null()) {
    const std::string why = status == "skipped" ? links[0].second.why : "it did not run to the end";
    for (std::size_t i = 1; i < links.size(); ++i) {
      links[i].second = {state::unknown, why};
    }
  } else {
    path = path_link(known);
    links[1].second = on_device_link(known);
    links[2].second = no_fallback_link(known);
    if (!known.on_cpu && links[2].second.is == state::fail) {
      path = {{state::unknown, "not all of it ran on the device"},
              worked_on_host(known) ? "cpu" : ""};
    }
    links[3].second = correct_link(known);
    links[4].second = path.judged;
    links[5].second = speed.judged;
  }
  state worst = state::pass;
  json all = json::object();
  for (const auto& [name, judged] : links) {
    worst = std::max(worst, judged.is);
    all[name] = {{"state", name_of(judged.is)}, {"why", judged.why}};
  }
  json verdict = std::move(speed.members);
  verdict["verdict"] = name_of(worst);
  verdict["links"] = std::move(all);
  verdict["path"] = path.name.empty() ? json() : json(path.name);
  verdict["speed_up"] = speed_up(run);
  verdict["headline"] = headline_of(links, worst);
  return verdict;
}

}  // namespace assay
