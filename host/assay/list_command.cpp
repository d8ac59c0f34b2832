// SPDX-License-Identifier: Apache-2.0
#include "list_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "collected_run.hpp"
#include "errors.hpp"
#include "requirements.hpp"
#include "selection.hpp"

namespace assay {
namespace {

using nlohmann::json;

std::string counted(double count, const char* one, const char* several) {
  return fmt::format("{:.0f} {}", count, count == 1.0 ? one : several);
}

class listing {
 public:
  listing(const catalogue& all, const run_options& options, std::ostream& out)
      : all_(all), options_(options), chosen_by_(options), out_(out) {
    for (const json& plugin : all.plugins) {
      identities_[text_of(plugin, "id")] = identity_of(plugin);
    }
    for (const json& check : all.checks) {
      if (!dtypes_of(check).empty()) {
        checks_[text_of(check, "category")].push_back(&check);
        ++counts_[text_of(check, "plugin")];
      }
    }
  }

  int print(const installation& here) {
    print_plugins();
    print_left_alone();
    print_categories();
    print_options();
    print_helpers("Probes", "probes");
    print_helpers("Classifiers", "classifiers");
    print_rule_files();
    print_engines(here);
    return refused_ ? exit_status::tool : exit_status::ok;
  }

 private:
  using cells = std::array<std::string, 6>;

  void line(const std::string& text) { out_ << text << '\n'; }

  [[nodiscard]] bool filtered() const {
    return !options_.enable.empty() || !options_.disable.empty() || !options_.dtypes.empty();
  }

  [[nodiscard]] plugin_identity owner_of(const json& check) const {
    const auto known = identities_.find(text_of(check, "plugin"));
    return known == identities_.end() ? plugin_identity() : known->second;
  }

  // Those under which the filters leave the check.
  [[nodiscard]] std::vector<std::string> dtypes_of(const json& check) const {
    std::vector<std::string> dtypes;
    for (const json& known : list_of(check, "dtypes")) {
      const std::string dtype = known.is_string() ? known.get<std::string>() : known.dump();
      const bool asked =
          options_.dtypes.empty() ||
          std::find(options_.dtypes.begin(), options_.dtypes.end(), dtype) != options_.dtypes.end();
      if (asked &&
          chosen_by_
              .check(owner_of(check), {text_of(check, "category"), text_of(check, "name"), dtype})
              .on) {
        dtypes.push_back(dtype);
      }
    }
    return dtypes;
  }

  void print_plugins() {
    std::vector<cells> rows{{"id", "version", "vendor", "for", "checks", "status"}};
    std::vector<std::vector<std::string>> below{{}};
    for (const json& plugin : all_.plugins) {
      const std::string status = text_of(plugin, "status");
      const std::string id = text_of(plugin, "id");
      const bool refused = status == "refused";
      refused_ = refused_ || refused;
      if (status == "not_a_plugin" || (status == "loaded" && filtered() && !counts_.contains(id))) {
        continue;
      }
      const auto known = counts_.find(id);
      const int count = known == counts_.end() ? 0 : known->second;
      const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
      rows.push_back({or_dash(id), or_dash(text_of(plugin, "version")),
                      or_dash(text_of(plugin, "vendor")), or_dash(text_of(plugin, "accelerator")),
                      status == "loaded" ? std::to_string(count) : "-", status});
      below.push_back({printable(text_of(plugin, "reason") + trusted_text(plugin)),
                       printable(text_of(plugin, "file")), hash_text(plugin)});
    }
    line("Plugins");
    if (rows.size() == 1) {
      line("  none");
    } else {
      print_rows(rows, below);
    }
    line("");
  }

  void print_rows(const std::vector<cells>& rows,
                  const std::vector<std::vector<std::string>>& below) {
    constexpr std::size_t count_column = 4;
    std::array<std::size_t, 6> widths{};
    for (const cells& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        widths[i] = std::max(widths[i], row[i].size());
      }
    }
    widths.back() = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::string text = " ";
      for (std::size_t i = 0; i < widths.size(); ++i) {
        text += i == count_column ? fmt::format(" {:>{}} ", rows[r][i], widths[i])
                                  : fmt::format(" {:<{}} ", rows[r][i], widths[i]);
      }
      line(text.substr(0, text.find_last_not_of(' ') + 1));
      for (const std::string& more : below[r]) {
        if (!more.empty()) {
          line("      " + more);
        }
      }
    }
  }

  static std::string hash_text(const json& file) {
    const std::string hash = text_of(file, "sha256");
    return hash.empty() ? "" : "SHA-256 " + hash;
  }

  void print_left_alone() {
    bool titled = false;
    for (const json& plugin : all_.plugins) {
      if (text_of(plugin, "status") == "not_a_plugin") {
        if (!titled) {
          line("Left alone (no plugins)");
          titled = true;
        }
        const std::string reason = text_of(plugin, "reason");
        line(fmt::format("  {}{}{}", text_of(plugin, "file"), reason.empty() ? "" : ": ", reason));
      }
    }
    if (titled) {
      line("");
    }
  }

  void print_categories() {
    line(filtered() ? "Checks" : "Checks (the first dtype is the default)");
    if (checks_.empty()) {
      line(filtered() ? "  none that the filters leave" : "  none");
    }
    // In the order in which the plugins bring them.
    std::set<std::string> printed;
    for (const json& plugin : all_.plugins) {
      for (const json& category : list_of(plugin, "categories")) {
        const std::string name = text_of(category, "name");
        if (checks_.contains(name) && printed.insert(name).second) {
          print_category(name, text_of(category, "summary"));
        }
      }
    }
    for (const auto& [name, checks] : checks_) {
      if (!printed.contains(name)) {
        print_category(name, "");
      }
    }
    line("");
  }

  void print_category(const std::string& name, const std::string& summary) {
    line(fmt::format("  {}{}{}", name, summary.empty() ? "" : ": ", summary));
    std::size_t width = 0;
    for (const json* check : checks_.at(name)) {
      width = std::max(width, name.size() + 1 + text_of(*check, "name").size());
    }
    for (const json* check : checks_.at(name)) {
      const std::string needs = requirements_text(requirements_of(*check, plugin_of(*check)));
      line(fmt::format("    {:<{}}  {}{}", name + "/" + text_of(*check, "name"), width,
                       fmt::join(dtypes_of(*check), " "), needs.empty() ? "" : "  needs " + needs));
    }
  }

  // "  norm.eps = 1e-05 (real, default 1e-05, 0 to 1): epsilon of every norm"
  void print_options() {
    bool titled = false;
    for (const json& plugin : all_.plugins) {
      for (const json& option : list_of(plugin, "options")) {
        if (!titled) {
          line("Options (--set PLUGIN.NAME=VALUE)");
          titled = true;
        }
        line(printable(option_line(text_of(plugin, "id"), option)));
      }
    }
    if (titled) {
      line("");
    }
  }

  static std::string option_line(const std::string& plugin, const json& option) {
    const auto plain = [](const json& value) {
      return value.is_string() ? "'" + value.get<std::string>() + "'" : value.dump();
    };
    std::string text = fmt::format("  {}.{} = {} ({}, default {}", plugin, text_of(option, "name"),
                                   plain(member_of(option, "value")), text_of(option, "kind"),
                                   plain(member_of(option, "default")));
    if (!member_of(option, "low").is_null()) {
      text += fmt::format(", {} to {}", member_of(option, "low").dump(),
                          member_of(option, "high").dump());
    }
    std::string choices;
    for (const json& choice : list_of(option, "choices")) {
      choices += (choices.empty() ? ", one of " : ", ") + choice.get<std::string>();
    }
    return text + fmt::format("{}): {}", choices, text_of(option, "summary"));
  }

  [[nodiscard]] const json& plugin_of(const json& check) const {
    static const json none;
    const auto found = std::find_if(
        all_.plugins.begin(), all_.plugins.end(),
        [&](const json& plugin) { return text_of(plugin, "id") == text_of(check, "plugin"); });
    return found == all_.plugins.end() ? none : *found;
  }

  void print_helpers(const std::string& title, const char* member) {
    bool titled = false;
    for (const json& plugin : all_.plugins) {
      for (const json& helper : list_of(plugin, member)) {
        const std::string id = text_of(helper, "id");
        if (!chosen_by_.shows_helper(identity_of(plugin), id)) {
          continue;
        }
        if (!titled) {
          line(title);
          titled = true;
        }
        line(fmt::format("  {}: {}", id, text_of(helper, "summary")));
      }
    }
    if (titled) {
      line("");
    }
  }

  void print_rule_files() {
    if (all_.rule_files.empty()) {
      return;
    }
    line("Rule files");
    for (const json& file : all_.rule_files) {
      const std::string status = text_of(file, "status");
      refused_ = refused_ || status == "refused";
      const std::string path = text_of(file, "file");
      if (status == "read") {
        line(printable(fmt::format("  {} {} ({}): {}, {}", text_of(file, "id"),
                                   text_of(file, "version"), text_of(file, "vendor"),
                                   counted(number_of(file, "diagnoses"), "diagnosis", "diagnoses"),
                                   counted(number_of(file, "rules"), "rule", "rules"))));
        line(printable("      " + path));
      } else {
        line(printable(fmt::format("  {}: {}: {}", path, status, text_of(file, "reason"))));
      }
      if (const std::string hash = hash_text(file); !hash.empty()) {
        line("      " + hash);
      }
    }
    line("");
  }

  void print_engines(const installation& here) {
    line("Engines");
    const std::vector<engine_install> engines = installed_engines(here.libexec_dir);
    for (const engine_install& engine : engines) {
      line(fmt::format("  LibTorch {}: {}", engine.torch_version, engine.library.string()));
      if (engine.built_with) {
        line(fmt::format("      built with {}", engine.built_with->string()));
      }
    }
    if (engines.empty()) {
      line("  none");
    }
  }

  const catalogue& all_;
  const run_options& options_;
  const selection chosen_by_;
  std::ostream& out_;
  std::map<std::string, plugin_identity> identities_;       // by plugin id
  std::map<std::string, std::vector<const json*>> checks_;  // by category
  std::map<std::string, int> counts_;                       // by plugin id
  bool refused_ = false;
};

}  // namespace

int list_command(const catalogue& catalogue, const installation& here, const run_options& options,
                 std::ostream& out) {
  return listing(catalogue, options, out).print(here);
}

int list_as_json(const catalogue& catalogue, const run_options& options, std::ostream& out) {
  // What plugins say of themselves need not be valid UTF-8.
  const auto print = [&](const json& record) {
    out << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  };
  bool refused = false;
  std::map<std::string, plugin_identity> identities;
  for (const auto* files : {&catalogue.plugins, &catalogue.rule_files}) {
    for (const json& file : *files) {
      print(file);
      refused = refused || text_of(file, "status") == "refused";
    }
  }
  for (const json& plugin : catalogue.plugins) {
    identities[text_of(plugin, "id")] = identity_of(plugin);
  }
  const selection chosen_by(options);
  for (const json& check : catalogue.checks) {
    const json& dtypes = list_of(check, "dtypes");
    const bool any = std::any_of(dtypes.begin(), dtypes.end(), [&](const json& dtype) {
      const std::string name = dtype.get<std::string>();
      const bool asked =
          options.dtypes.empty() ||
          std::find(options.dtypes.begin(), options.dtypes.end(), name) != options.dtypes.end();
      return asked && chosen_by
                          .check(identities[text_of(check, "plugin")],
                                 {text_of(check, "category"), text_of(check, "name"), name})
                          .on;
    });
    if (any) {
      print(check);
    }
  }
  out.flush();
  return refused ? exit_status::tool : exit_status::ok;
}

}  // namespace assay
