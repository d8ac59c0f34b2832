// SPDX-License-Identifier: Apache-2.0
#include "list_why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "collected_run.hpp"
#include "errors.hpp"
#include "plugins_lock.hpp"
#include "selection.hpp"
#include "sha256.hpp"

namespace assay {

namespace {

using nlohmann::json;

struct verdict_on {
  std::string what, name;  // "plugin" "norm", "category" "conv", "check" "conv/conv2d[float32]"
  std::string state;       // "on", "off", "refused"
  std::string line;
};

class explanation {
 public:
  explanation(const catalogue& all, const run_options& options)
      : all_(all), options_(options), chosen_by_(options) {
    for (const json& plugin : all.plugins) {
      identities_[text_of(plugin, "id")] = identity_of(plugin);
    }
  }

  std::vector<verdict_on> all() {
    for (const json& plugin : all_.plugins) {
      if (text_of(plugin, "status") != "not_a_plugin") {
        add_file("plugin", plugin);
      }
    }
    for (const json& file : all_.rule_files) {
      add_file("rule file", file);
    }
    std::vector<verdict_on> checks;
    std::map<std::string, std::vector<verdict_on>> categories;
    std::vector<std::string> order;
    for (const json& check : all_.checks) {
      for (const json& dtype : list_of(check, "dtypes")) {
        checks.push_back(of_check(check, dtype.get<std::string>()));
        const std::string category = text_of(check, "category");
        if (!categories.contains(category)) {
          order.push_back(category);
        }
        categories[category].push_back(checks.back());
      }
    }
    for (const std::string& name : order) {
      verdicts_.push_back(of_category(name, categories.at(name)));
    }
    verdicts_.insert(verdicts_.end(), checks.begin(), checks.end());
    return verdicts_;
  }

 private:
  void add_file(const char* what, const json& file) {
    const std::string id = text_of(file, "id");
    const std::string status = text_of(file, "status");
    verdict_on made{what, id.empty() ? text_of(file, "file") : id, "on", text_of(file, "reason")};
    if (status == "off" || status == "refused") {
      made.state = status;
    } else {
      plugin_identity who = identity_of(file);
      // It was opened: what its checks are is known, and told below.
      who.only_diagnostics = true;
      made.line = chosen_by_.plugin(who).line;
    }
    verdicts_.push_back(std::move(made));
  }

  [[nodiscard]] verdict_on of_check(const json& check, const std::string& dtype) {
    const std::string category = text_of(check, "category");
    const std::string name = text_of(check, "name");
    const ruling ruled =
        chosen_by_.check(identities_[text_of(check, "plugin")], {category, name, dtype});
    verdict_on made{"check", fmt::format("{}/{}[{}]", category, name, dtype),
                    ruled.on ? "on" : "off", ruled.line};
    if (ruled.on && !options_.dtypes.empty()) {
      const auto setting = options_.settings.find("dtype");
      const std::string origin =
          setting == options_.settings.end() ? "--dtype" : setting->second.origin;
      if (std::find(options_.dtypes.begin(), options_.dtypes.end(), dtype) ==
          options_.dtypes.end()) {
        made.state = "off";
        made.line = origin + " names others";
      }
    }
    return made;
  }

  static verdict_on of_category(const std::string& name, const std::vector<verdict_on>& checks) {
    const auto is_on = [](const verdict_on& one) { return one.state == "on"; };
    const auto on = std::count_if(checks.begin(), checks.end(), is_on);
    const bool any = on > 0;
    std::map<std::string, std::size_t> lines;
    for (const verdict_on& one : checks) {
      if (is_on(one) == any) {
        ++lines[one.line];
      }
    }
    // What decides most of them comes first.
    std::vector<std::pair<std::string, std::size_t>> reasons(lines.begin(), lines.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string line;
    for (const auto& [reason, count] : reasons) {
      line += (line.empty() ? "" : "; ") + reason +
              (any || reasons.size() == 1 ? "" : fmt::format(" ({} of {})", count, checks.size()));
    }
    if (any && static_cast<std::size_t>(on) < checks.size()) {
      line += fmt::format("; {} of {} in their dtypes", on, checks.size());
    }
    return {"category", name, any ? "on" : "off", line};
  }

  const catalogue& all_;
  const run_options& options_;
  const selection chosen_by_;
  std::map<std::string, plugin_identity> identities_;
  std::vector<verdict_on> verdicts_;
};

plugins_lock::entry pinned(const json& file) {
  const std::filesystem::path path = text_of(file, "file");
  plugins_lock::entry made{text_of(file, "id"),     text_of(file, "version"),
                           text_of(file, "vendor"), path.filename().string(),
                           text_of(file, "sha256"), {}};
  for (const json& library : list_of(file, "operator_libraries")) {
    const std::filesystem::path needed = library.get<std::string>();
    const std::string hash = sha256_of(needed);
    if (hash.empty()) {
      throw tool_error(
          fmt::format("plugin {}: its operator library {} cannot be read, so that "
                      "no lock can be written; mend that, or turn the plugin off",
                      made.id, needed.string()));
    }
    made.libraries.push_back({needed.filename().string(), hash});
  }
  return made;
}

}  // namespace

void list_why(const catalogue& catalogue, const run_options& options, bool as_json,
              std::ostream& out) {
  const std::vector<verdict_on> verdicts = explanation(catalogue, options).all();
  if (as_json) {
    for (const verdict_on& one : verdicts) {
      const json record{{"record", "why"},
                        {"what", one.what},
                        {"name", one.name},
                        {"state", one.state},
                        {"line", one.line}};
      out << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    }
    return;
  }
  out << "\nWhy\n";
  std::size_t width = 0;
  for (const verdict_on& one : verdicts) {
    width = std::max(width, one.what.size() + 1 + one.name.size());
  }
  for (const verdict_on& one : verdicts) {
    out << printable(fmt::format("  {:<{}}  {:<3}  {}", one.what + " " + one.name, width, one.state,
                                 one.line))
        << '\n';
  }
}

void write_lock(const catalogue& catalogue, const std::filesystem::path& file) {
  std::vector<plugins_lock::entry> entries;
  for (const auto* files : {&catalogue.plugins, &catalogue.rule_files}) {
    for (const json& one : *files) {
      const std::string status = text_of(one, "status");
      // What has no hash is no plugin file: a trace that was named beside them.
      if ((status == "loaded" || status == "read") && !text_of(one, "sha256").empty()) {
        entries.push_back(pinned(one));
      }
    }
  }
  std::ofstream out(file, std::ios::binary);
  if (!(out << plugins_lock(std::move(entries)).text()).flush()) {
    throw tool_error(
        fmt::format("the lock {} cannot be written; name a file of your own", file.string()));
  }
}

}  // namespace assay
