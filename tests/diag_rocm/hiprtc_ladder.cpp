// SPDX-License-Identifier: Apache-2.0
//
// Runs library probes without a host, or compiles one source text, and prints JSON lines. It links
// little, so that it runs under the loader of another system's tree as well.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diag_rocm/hiprtc.hpp"
#include "diag_rocm/hiprtc_probes.hpp"
#include "diag_rocm/hiprtc_verdict.hpp"
#include "diag_rocm/library_platform.hpp"
#include "diag_rocm/library_probes.hpp"

namespace {

using nlohmann::json;

constexpr const char* usage =
    "usage: hiprtc_ladder [--root DIR] [--torch DIR] [--architecture GFX] PROBE...\n"
    "       hiprtc_ladder --source FILE --architecture GFX   compiles the file with HIPRTC\n";

json answer_of(assay::probe& probe, const assay::probe_site& site) {
  const char* const names[] = {"yes", "no", "unknown"};
  try {
    const assay::probe_answer found = probe.look(site);
    json values = json::object();
    for (const auto& [name, text] : found.values) {
      values[name] = text;
    }
    return {{"probe", probe.id()},        {"state", names[static_cast<int>(found.state)]},
            {"fact", found.fact},         {"evidence", found.evidence},
            {"findings", found.findings}, {"values", values}};
  } catch (const std::exception& error) {
    return {{"probe", probe.id()}, {"state", "unknown"}, {"fact", error.what()}};
  }
}

json compile(const std::string& file, const assay::probe_site& site) {
  std::ifstream stream(file, std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(stream), {}};
  diag_rocm::platform::set_variable("AMD_COMGR_CACHE", "0");
  const auto variables = diag_rocm::environment_of(site);
  const diag_rocm::hiprtc library(diag_rocm::find_hiprtc(site, variables).file);
  const auto result = library.compile(source, site.architecture);
  json line = {{"code", result.code},
               {"log", result.log},
               {"made_for", diag_rocm::object_architecture(result.object)}};
  if (!result.ok()) {
    const auto verdict =
        diag_rocm::judge_hiprtc_log(result.log, diag_rocm::scratch_fault(variables));
    line["finding"] = verdict.finding;
    line["evidence"] = verdict.evidence;
  }
  return line;
}

int run(const std::vector<std::string>& arguments) {
  assay::probe_site site;
  std::string source;
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) {
      wanted.push_back(argument);
    } else if (++i == arguments.size()) {
      std::cerr << usage;
      return 2;
    } else if (argument == "--root") {
      site.root = arguments[i];
    } else if (argument == "--torch") {
      site.torch_dir = arguments[i];
    } else if (argument == "--architecture") {
      site.architecture = arguments[i];
    } else if (argument == "--source") {
      source = arguments[i];
    } else {
      std::cerr << usage;
      return 2;
    }
  }
  if (!source.empty()) {
    std::cout << compile(source, site).dump() << '\n';
    return 0;
  }
  for (const auto& probe : diag_rocm::library_probes()) {
    if (std::find(wanted.begin(), wanted.end(), probe->id()) != wanted.end()) {
      std::cout << answer_of(*probe, site).dump() << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << "hiprtc_ladder: " << error.what() << '\n';
    return 1;
  }
}
