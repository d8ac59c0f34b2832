// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/common/glob.hpp"
#include "host/common/nearest.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void undocumented(examined_file& one, const std::string& what, const std::string& name,
                  const char* shown_by, const char* advice) {
  one.add(level::warning, "undocumented", name, fmt::format("{} has no summary", what),
          fmt::format("{} shows it, and nobody can tell what it is for", shown_by), advice);
}

void look_at_summaries(examined_file& one) {
  for (const json& category : list_of(one.plugin, "categories")) {
    if (text_of(category, "summary").empty()) {
      undocumented(one, "the category", text_of(category, "name"), "assay list",
                   "give category() one as its second argument");
    }
  }
  for (const json& probe : list_of(one.plugin, "probes")) {
    if (text_of(probe, "summary").empty()) {
      undocumented(one, "the probe", text_of(probe, "id"), "assay doctor",
                   "let summary() return the question that its state answers");
    }
  }
  for (const json& classifier : list_of(one.plugin, "classifiers")) {
    if (text_of(classifier, "summary").empty()) {
      undocumented(one, "the classifier", text_of(classifier, "id"), "assay list",
                   "let summary() return one line");
    }
  }
  for (const json& option : list_of(one.plugin, "options")) {
    if (text_of(option, "summary").empty()) {
      undocumented(one, "the option", text_of(option, "name"), "assay list",
                   "give option() one as its third argument");
    }
  }
}

std::size_t without(const std::vector<json>& checks, const char* member) {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [&](const json& check) {
        const json& found = member_of(check, member);
        return found.is_null() || found == json("") || found == json::array();
      }));
}

void look_at_what_is_left_out(examined_file& one) {
  if (one.checks.empty()) {
    return;
  }
  const auto say = [&](const char* kind, const char* member, const char* what, const char* why,
                       const char* advice) {
    if (const std::size_t count = without(one.checks, member); count > 0) {
      one.add(level::note, kind, "",
              fmt::format("{} of {} checks {}", count, one.checks.size(), what), why, advice);
    }
  };
  if (one.checks.front().contains("summary")) {
    say("no-summary", "summary", "have no summary", "the name alone tells what is checked",
        "give them one with summary()");
  }
  say("no-cost", "cost", "do not say what they move and compute",
      "their rate is that of their inputs and outputs, and none of FLOPs",
      "declare it with moves(), flops() or matrix_flops()");
  say("no-large", "large", "have no large form",
      "how near a device comes to its limits shows at sizes that fill it",
      "add the same check at such sizes with large()");
}

/// Whether both are one file, or two versions of one plugin.
bool is_itself(const json& installed, const examined_file& one) {
  std::error_code error;
  return fs::equivalent(text_of(installed, "file"), one.file, error) ||
         text_of(installed, "id") == one.id;
}

bool has_id(const json& tools, const std::string& id) {
  return std::any_of(tools.begin(), tools.end(),
                     [&](const json& tool) { return text_of(tool, "id") == id; });
}

void collision(examined_file& one, const std::string& what, const json& installed) {
  one.add(level::error, "collision", what,
          fmt::format("the installed plugin {} ({}) has this name too", text_of(installed, "id"),
                      text_of(installed, "file")),
          "assay refuses the second of two plugins with one name",
          "rename it; a category of your own, or an id that begins with a domain name, collides "
          "with nobody");
}

void look_for_collisions(examined_file& one, const catalogue& installed) {
  std::map<std::string, const json*> others;
  for (const json& plugin : installed.plugins) {
    std::error_code error;
    if (text_of(plugin, "status") != "loaded") {
      continue;
    }
    if (!is_itself(plugin, one)) {
      others[text_of(plugin, "id")] = &plugin;
    } else if (!fs::equivalent(text_of(plugin, "file"), one.file, error)) {
      one.add(level::note, "id-installed", "",
              fmt::format("a plugin of this id is installed: {} {} ({})", one.id,
                          text_of(plugin, "version"), text_of(plugin, "file")),
              "assay loads one of them only",
              "take the other one away before you install this one, where it is another version; "
              "take another id, where it is not");
    }
  }
  for (const json& check : one.checks) {
    for (const json& other : installed.checks) {
      const auto owner = others.find(text_of(other, "plugin"));
      if (owner != others.end() && text_of(other, "check") == text_of(check, "check")) {
        collision(one, text_of(check, "check"), *owner->second);
      }
    }
  }
  for (const char* member : {"probes", "classifiers"}) {
    for (const json& tool : list_of(one.plugin, member)) {
      for (const auto& [id, other] : others) {
        if (has_id(list_of(*other, member), text_of(tool, "id"))) {
          collision(one, text_of(tool, "id"), *other);
        }
      }
    }
  }
}

bool matches_an_operator(const std::string& pattern, const std::vector<std::string>& operators) {
  return std::any_of(operators.begin(), operators.end(), [&](const std::string& name) {
    return glob_match(pattern, name) || glob_match(pattern, name.substr(0, name.find('.')));
  });
}

void never(examined_file& one, level is, const std::string& check, const json& path,
           const std::string& why_not, const std::string& advice) {
  one.add(is, "path-never", check,
          fmt::format("its path {} is known by '{}', {}", text_of(path, "name"),
                      text_of(path, "pattern"), why_not),
          "a run that takes this path is reported as another one, or as unknown", advice);
}

void look_at_path(examined_file& one, const std::string& check, const json& path,
                  const std::vector<std::string>& operators) {
  const std::string pattern = text_of(path, "pattern");
  const auto open = pattern.rfind('[');
  if (open != std::string::npos && pattern.find(']', open) == std::string::npos) {
    return never(one, level::warning, check, path,
                 "whose '[' is never closed and stands for itself",
                 "close it, or write [[] for the character");
  }
  if (text_of(path, "source") != "operator" || operators.empty() ||
      matches_an_operator(pattern, operators)) {
    return;
  }
  if (pattern.find("::") == std::string::npos && !pattern.starts_with('*')) {
    return never(one, level::warning, check, path, "and an operator's name begins with a namespace",
                 fmt::format("write aten::{}", pattern));
  }
  std::set<std::string> bare;
  for (const std::string& name : operators) {
    bare.insert(name.substr(0, name.find('.')));
  }
  // Every name resembles some other: only what looks like a slip of the pen is one.
  const auto slip = std::find_if(bare.begin(), bare.end(), [&](const std::string& name) {
    constexpr std::size_t slips = 2;
    return edit_distance(pattern.substr(0, pattern.find('*')), name) <= slips;
  });
  if (slip == bare.end()) {
    return never(one, level::note, check, path, "which no operator of this LibTorch matches",
                 "nothing to do where another LibTorch has it");
  }
  never(one, level::warning, check, path,
        "which no operator of this LibTorch matches; did you mean '" + *slip + "'?",
        "mend the name");
}

/// Of two entries the first that matches counts.
void look_at_order(examined_file& one, const std::string& check, const json& paths) {
  for (std::size_t later = 1; later < paths.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const json& a = paths[earlier];
      const json& b = paths[later];
      const bool same =
          text_of(a, "name") == text_of(b, "name") && text_of(a, "grade") == text_of(b, "grade");
      if (!same && text_of(a, "source") == text_of(b, "source") &&
          glob_match(text_of(a, "pattern"), text_of(b, "pattern"))) {
        never(one, level::warning, check, b,
              fmt::format("and all that it matches is taken by '{}' ({}) before it",
                          text_of(a, "pattern"), text_of(a, "name")),
              "put the narrower pattern first");
        break;
      }
    }
  }
}

}  // namespace

void examine_names(examined_file& one, const catalogue& installed) {
  look_at_summaries(one);
  look_at_what_is_left_out(one);
  look_for_collisions(one, installed);
}

void examine_paths(examined_file& one, const std::vector<std::string>& operators) {
  for (const json& check : one.checks) {
    const json& paths = list_of(check, "paths");
    for (const json& path : paths) {
      look_at_path(one, text_of(check, "check"), path, operators);
    }
    look_at_order(one, text_of(check, "check"), paths);
  }
}

}  // namespace assay::conformance
