// SPDX-License-Identifier: Apache-2.0
#include "doctor_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "diagnosis_text.hpp"
#include "diagnostic_workers.hpp"
#include "errors.hpp"
#include "host/diagnosis/diagnose.hpp"
#include "rule_files.hpp"

namespace assay {

namespace {

using nlohmann::json;

/// One finding: a code, and all probes that found it.
std::vector<found_diagnosis> findings(const knowledge& known,
                                      const std::map<std::string, probe_result>& answers,
                                      std::vector<std::string>& remarks) {
  std::vector<found_diagnosis> found;
  for (const auto& [id, answer] : answers) {
    for (const std::string& code : answer.findings) {
      const catalogue_entry* entry = known.find(code);
      if (entry == nullptr) {
        remarks.push_back(
            fmt::format("probe {} found {}, which no rule file has: {}", id, code, answer.fact));
        continue;
      }
      auto same = std::find_if(found.begin(), found.end(),
                               [&](const auto& other) { return other.entry == entry; });
      if (same == found.end()) {
        same = found.insert(found.end(), found_diagnosis());
        same->entry = entry;
        same->confidence = confidence::certain;  // it was seen, not guessed from a text
        same->by = "probe " + id;
      }
      take_advice(*same, answer.values);
      same->probes.push_back(fmt::format("{} {}: {}", id, answer.state, fact_for(answer, code)));
      for (std::string& line : evidence_for(answer, code)) {
        if (std::find(same->evidence.begin(), same->evidence.end(), line) == same->evidence.end()) {
          same->evidence.push_back(std::move(line));
        }
      }
    }
  }
  return diagnoser::settle(std::move(found), {});
}

/// "rocm.iommu" -> "rocm", "iommu"
std::pair<std::string, std::string> parts_of(const std::string& id) {
  const auto dot = id.find('.');
  return dot == std::string::npos ? std::pair(id, id)
                                  : std::pair(id.substr(0, dot), id.substr(dot + 1));
}

/// Probes of one pack that could not look for the same reason share a line.
void print_answers(report_paper& paper, const diagnostic_workers& workers, const char* title,
                   const std::string& state) {
  struct shared {
    std::string pack, fact;
    std::vector<std::string> names;
  };
  std::vector<shared> groups;
  for (const diagnostic_workers::tool& probe : workers.probes()) {
    const probe_result& answer = workers.answers().at(probe.id);
    if (answer.state != state || !answer.findings.empty()) {
      continue;
    }
    const auto [pack, name] = parts_of(probe.id);
    auto same = std::find_if(groups.begin(), groups.end(), [&, of = pack](const shared& other) {
      return state == "unknown" && other.pack == of && other.fact == answer.fact;
    });
    if (same == groups.end()) {
      same = groups.insert(groups.end(), {pack, answer.fact, {}});
    }
    same->names.push_back(name);
  }
  if (!groups.empty()) {
    paper.line("");
    paper.line(title);
  }
  for (const shared& one : groups) {
    const bool alone = one.names.size() == 1;
    const std::string label =
        one.pack + (alone ? "." + one.names.front() : fmt::format(".* ({})", one.names.size()));
    paper.labelled(fmt::format("  {:<24} ", label),
                   one.fact + (alone ? "" : fmt::format(" ({})", fmt::join(one.names, ", "))));
  }
}

}  // namespace

int doctor(const doctor_request& request, const installation& here,
           const std::filesystem::path& torch_here, const std::string& why_none_here,
           report_paper& paper) {
  const auto begin = std::chrono::steady_clock::now();
  // The LibTorch of this machine is none of another tree's.
  const bool elsewhere = request.options.sysroot != "/" && !request.options.torch_dir;
  const std::filesystem::path torch_dir = elsewhere ? std::filesystem::path() : torch_here;
  const std::string no_torch_reason =
      elsewhere ? "of another tree it is not looked for; --torch DIR names one" : why_none_here;
  const knowledge known = rule_knowledge(here, request.options, std::cerr);
  const catalogue read_plugins = read_catalogue(here, request.options);
  diagnostic_workers workers(here, request.options, read_plugins);
  workers.look_at(torch_dir, request.options.architecture);
  std::set<std::string> ids;
  for (const diagnostic_workers::tool& probe : workers.probes()) {
    ids.insert(probe.id);
  }
  workers.ask(ids);
  std::vector<std::string> remarks = rules_without_probe(known, read_plugins.plugins);
  const std::vector<found_diagnosis> found = findings(known, workers.answers(), remarks);
  const bool broken = std::any_of(found.begin(), found.end(), [](const found_diagnosis& d) {
    return d.entry->severity == severity::error;
  });
  const auto unknown =
      static_cast<std::size_t>(std::count_if(ids.begin(), ids.end(), [&](const std::string& id) {
        return workers.answers().at(id).state == "unknown";
      }));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const std::string& none_started = workers.why_none_started();
  const int status = ids.empty()             ? exit_status::nothing_ran
                     : broken                ? exit_status::failed
                     : !none_started.empty() ? exit_status::tool
                                             : exit_status::ok;
  if (!none_started.empty()) {
    std::cerr << "assay: " << printable(none_started) << '\n';
  }

  if (request.json) {
    json list = json::array();
    for (const found_diagnosis& d : found) {
      list.push_back(to_json(d));
    }
    json probes = json::array();
    for (const diagnostic_workers::tool& probe : workers.probes()) {
      probes.push_back(to_json(workers.answers().at(probe.id)));
      probes.back()["question"] = probe.summary;
    }
    const json all{{"assay_version", ASSAY_VERSION},
                   {"platform", this_platform()},
                   {"sysroot", request.options.sysroot.string()},
                   {"torch_dir", torch_dir.empty() ? json() : json(torch_dir.string())},
                   {"no_torch_reason", no_torch_reason},
                   {"diagnoses", std::move(list)},
                   {"probes", std::move(probes)},
                   {"remarks", remarks},
                   {"elapsed_s", elapsed.count()},
                   {"exit_status", status}};
    paper.line(all.dump(2, ' ', false, json::error_handler_t::replace));
    return status;
  }
  paper.labelled("LibTorch: ",
                 torch_dir.empty() ? "none (" + no_torch_reason + ")" : torch_dir.string());
  if (!found.empty()) {
    paper.line("");
  }
  print_found(paper, found, this_platform());
  print_answers(paper, workers, "Not as it could be", "no");
  print_answers(paper, workers, "Could not be looked at", "unknown");
  print_answers(paper, workers, "Fine", "yes");
  for (const std::string& remark : remarks) {
    paper.labelled("  ", remark);
  }
  paper.line("");
  paper.line(fmt::format("Doctor: {} finding{} | {} probes | {} unknown | {:.1f} s", found.size(),
                         found.size() == 1 ? "" : "s", ids.size(), unknown, elapsed.count()));
  return status;
}

}  // namespace assay
