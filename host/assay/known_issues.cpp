// SPDX-License-Identifier: Apache-2.0
#include "known_issues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "host/common/architecture.hpp"
#include "host/common/nearest.hpp"
#include "host/diagnosis/knowledge.hpp"

namespace assay {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> statuses{"error", "crash", "timeout"};

template <typename List>
bool contains(const List& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Without `fails`, every failure; a warning only where its link is named.
bool covers(const known_issue& issue, const check_trouble& trouble) {
  if (issue.fails.empty()) {
    return trouble.failed;
  }
  return contains(issue.fails, trouble.kind) ||
         (contains(issue.fails, "ran") && contains(statuses, trouble.kind));
}

bool names(const known_issue& issue, const std::string& category, const std::string& name,
           const std::string& dtype) {
  return std::any_of(issue.ids.begin(), issue.ids.end(),
                     [&](const std::string& glob) { return selects(glob, category, name, dtype); });
}

/// ROCm's devices are called cuda:N by LibTorch, and hip:N by people.
bool names_device(const known_issue& issue, const std::string& device, const std::string& build) {
  const std::string kind = device.substr(0, device.find(':'));
  const auto matches = [&](const std::string& glob) {
    return glob_match(glob, device) || glob_match(glob, kind);
  };
  return issue.devices.empty() ||
         std::any_of(issue.devices.begin(), issue.devices.end(), [&](const std::string& glob) {
           return matches(glob) ||
                  (build == "rocm" && glob.starts_with("hip") && matches("cuda" + glob.substr(3)));
         });
}

struct machine {
  std::string torch, build;
  std::string device, architecture;
};

enum class holds { yes, no, unknown };

/// `unknown`: gets what is not known.
holds applies(const known_issue& issue, const machine& here, std::string& unknown) {
  const auto not_known = [&](const char* what) {
    unknown = fmt::format("the {} is not known", what);
    return holds::unknown;
  };
  if (!names_device(issue, here.device, here.build)) {
    return holds::no;
  }
  if (!issue.builds.empty()) {
    if (here.build.empty()) {
      return not_known("build of this LibTorch");
    }
    if (!contains(issue.builds, here.build)) {
      return holds::no;
    }
  }
  if (!issue.torch.empty()) {
    if (here.torch.empty()) {
      return not_known("version of this LibTorch");
    }
    if (!version_in(here.torch, issue.torch)) {
      return holds::no;
    }
  }
  if (!issue.architectures.empty()) {
    if (here.architecture.empty()) {
      return not_known(("architecture of " + here.device).c_str());
    }
    if (!any_names_architecture(issue.architectures, here.architecture)) {
      return holds::no;
    }
  }
  return holds::yes;
}

/// Why it cannot be said that what the entry expects has gone; "" where it can.
std::string why_undecided(const known_issue& issue, const json& result, const json& evidence,
                          bool with_evidence) {
  const std::string status = text_of(result, "status");
  if (status == "skipped") {
    return "it was skipped";
  }
  const json& verdict = member_of(evidence, "verdict");
  const auto troubles = troubles_of(result, evidence);
  if (const auto other =
          std::find_if(troubles.begin(), troubles.end(), [](const auto& t) { return t.failed; });
      other != troubles.end()) {
    return "it failed in another way: " + other->kind;
  }
  std::vector<std::string> links = issue.fails;
  if (links.empty()) {
    links = {"on_device", "no_fallback", "correct"};
  }
  for (const std::string& link : links) {
    if (link == "ran" || contains(statuses, link)) {
      continue;  // it ran to its end
    }
    if (!with_evidence) {
      return "without the chain of evidence (--no-evidence) its links were not examined";
    }
    const json& judged = member_of(member_of(verdict, "links"), link);
    const std::string state = text_of(judged, "state");
    if (state != "pass" && state != "warn") {
      return fmt::format("its link {} is not known", link);
    }
  }
  if (with_evidence && text_of(evidence, "status") != "ok") {
    return "its evidence was not gathered";
  }
  return "";
}

std::string quoted(const std::vector<std::string>& ids) {
  return fmt::format("'{}'", fmt::join(ids, "', '"));
}

std::string with_link(const known_issue& issue) {
  return issue.reason + (issue.link.empty() ? "" : " (" + issue.link + ")");
}

}  // namespace

std::vector<check_trouble> troubles_of(const json& result, const json& evidence) {
  std::vector<check_trouble> found;
  const std::string status = text_of(result, "status");
  if (contains(statuses, status)) {
    return {{status, true}};
  }
  if (status != "ok") {
    return found;
  }
  const std::string second = text_of(evidence, "status");
  if (contains(statuses, second) && text_of(evidence, "phase") != "evidence") {
    found.push_back({second, true});
  }
  const json& links = member_of(member_of(evidence, "verdict"), "links");
  for (const char* link : {"on_device", "no_fallback", "correct", "path", "speed"}) {
    const std::string state = text_of(member_of(links, link), "state");
    const bool elsewhere =
        std::string_view(link) == "on_device" && flag_is(result, "on_device", false);
    if (state == "fail" || state == "warn" || elsewhere) {
      found.push_back({link, state != "warn" || elsewhere});
    }
  }
  return found;
}

void known_issues::meet(const catalogue& all, const json& engine,
                        const std::vector<planned_check>& checks) {
  met_ = true;
  std::set<std::string> known_names;
  for (const json& check : all.checks) {
    const std::string category = text_of(check, "category");
    known_names.insert(category);
    known_names.insert(category + "/" + text_of(check, "name"));
  }
  machine here{text_of(engine, "torch_version"), text_of(engine, "build"), "", ""};
  for (entry& one : issues_) {
    for (const json& check : all.checks) {
      for (const json& dtype : list_of(check, "dtypes")) {
        one.in_catalogue =
            one.in_catalogue || names(one.issue, text_of(check, "category"), text_of(check, "name"),
                                      dtype.get<std::string>());
      }
    }
    if (!one.in_catalogue) {
      one.near = did_you_mean(one.issue.ids.front(), known_names);
      continue;
    }
    for (const planned_check& check : checks) {
      if (check.baseline || !names(one.issue, check.category, check.name, check.dtype)) {
        continue;
      }
      here.device = check.device;
      here.architecture.clear();
      for (const json& device : list_of(engine, "devices")) {
        if (text_of(device, "device") == check.device) {
          here.architecture = text_of(device, "architecture");
        }
      }
      if (applies(one.issue, here, one.unknown) == holds::yes) {
        one.checks.push_back({check.id(), check.device, outcome::not_run, ""});
      }
    }
  }
}

bool known_issues::expired(const entry& one) const {
  return !one.issue.expires.empty() && one.issue.expires < today_;
}

void known_issues::judge_result(json& result) { judge(result, result, nullptr); }

void known_issues::judge_evidence(json& evidence, const json& result) {
  judge(evidence, result, evidence);
}

void known_issues::judge(json& line, const json& result, const json& evidence) {
  const auto troubles = troubles_of(result, evidence);
  std::vector<bool> covered(troubles.size(), false);
  json of = json::array();
  for (entry& one : issues_) {
    if (expired(one)) {
      continue;
    }
    const auto met = std::find_if(one.checks.begin(), one.checks.end(), [&](const met_check& c) {
      return c.id == text_of(result, "id") && c.device == text_of(result, "device");
    });
    if (met == one.checks.end()) {
      continue;
    }
    json kinds = json::array();
    for (std::size_t i = 0; i < troubles.size(); ++i) {
      if (covers(one.issue, troubles[i])) {
        covered[i] = true;
        kinds.push_back(troubles[i].kind);
      }
    }
    if (kinds.empty()) {
      met->why = why_undecided(one.issue, result, evidence, evidence_);
      met->ended = met->why.empty() ? outcome::passed : outcome::undecided;
      continue;
    }
    met->ended = outcome::as_known;
    of.push_back({{"entry", one.issue.place()},
                  {"covers", std::move(kinds)},
                  {"reason", one.issue.reason},
                  {"link", one.issue.link}});
  }
  if (of.empty()) {
    return;
  }
  bool any = false;
  bool all = true;
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    any = any || troubles[i].failed;
    all = all && (covered[i] || !troubles[i].failed);
  }
  line["known_issues"] = std::move(of);
  line["known"] = any && all;
}

std::vector<json> known_issues::records() const {
  std::vector<json> lines;
  if (met_) {
    for (const entry& one : issues_) {
      lines.push_back(record_of(one));
    }
  }
  return lines;
}

json known_issues::record_of(const entry& one) const {
  const known_issue& issue = one.issue;
  const std::string who = fmt::format("{} {}", issue.place(), quoted(issue.ids));
  const auto count = [&](outcome wanted) {
    return std::count_if(one.checks.begin(), one.checks.end(),
                         [&](const met_check& c) { return c.ended == wanted; });
  };
  const auto passed = count(outcome::passed);
  std::string state;
  std::string text;
  if (expired(one)) {
    state = "expired";
    text = fmt::format(
        "{} expired on {} and excuses nothing any more; look at {}, then renew the date or take "
        "the entry out",
        who, issue.expires, issue.link.empty() ? "the issue" : issue.link);
  } else if (!one.in_catalogue) {
    state = "unmatched";
    text = fmt::format("{} matches no check that there is{}", who,
                       one.near.empty() ? "; assay list names them" : one.near);
  } else if (count(outcome::as_known) > 0) {
    state = "seen";
    text = fmt::format("{} was seen: {}", who, with_link(issue));
  } else if (one.checks.empty() && !one.unknown.empty()) {
    state = "unknown";
    text = fmt::format("{} excuses nothing, since {}: {}", who, one.unknown, with_link(issue));
  } else if (one.checks.empty()) {
    state = "elsewhere";
    text = fmt::format("{} is about no check of this run, on this device and LibTorch", who);
  } else if (passed == static_cast<std::ptrdiff_t>(one.checks.size())) {
    state = "unexpected_pass";
    text = fmt::format("{} passed unexpectedly, {}; take the entry out if that lasts: {}", who,
                       passed == 1 ? "the one check that it is about"
                                   : fmt::format("all {} checks that it is about", passed),
                       with_link(issue));
  } else {
    state = "undecided";
    const auto met = std::find_if(one.checks.begin(), one.checks.end(),
                                  [](const met_check& c) { return c.ended != outcome::passed; });
    text = fmt::format("{} was neither seen nor is it gone: {} on {}: {}", who, met->id,
                       met->device, met->why.empty() ? "it did not run" : met->why);
  }
  json checks = json::array();
  for (const met_check& check : one.checks) {
    const char* ended = expired(one)                        ? "not_excused"
                        : check.ended == outcome::as_known  ? "as_known"
                        : check.ended == outcome::passed    ? "passed"
                        : check.ended == outcome::undecided ? "undecided"
                                                            : "not_run";
    checks.push_back({{"id", check.id}, {"device", check.device}, {"outcome", ended}});
  }
  return {{"record", "known_issue"},
          {"file", issue.file.string()},
          {"line", issue.line},
          {"ids", issue.ids},
          {"fails", issue.fails},
          {"reason", issue.reason},
          {"link", issue.link},
          {"expires", issue.expires.empty() ? json() : json(issue.expires)},
          {"state", state},
          {"checks", std::move(checks)},
          {"text", text}};
}

namespace {

/// The evidence line, once there is one, knows more than the result line.
const json& known_line(const collected_run::entry& entry) {
  return member_of(entry.evidence, "verdict").is_object() ? entry.evidence : entry.result;
}

}  // namespace

bool is_known(const collected_run::entry& entry) {
  return flag_is(known_line(entry), "known", true);
}

std::string known_text(const collected_run::entry& entry) {
  std::string text;
  for (const json& one : list_of(known_line(entry), "known_issues")) {
    const std::string link = text_of(one, "link");
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : "; ", text_of(one, "reason"),
                        link.empty() ? "" : link + ", ", text_of(one, "entry"));
  }
  return text;
}

bool needs_a_look(const json& issue) {
  constexpr std::array<std::string_view, 3> quiet{"seen", "elsewhere", "undecided"};
  return !contains(quiet, text_of(issue, "state"));
}

}  // namespace assay
