// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "collected_run.hpp"
#include "errors.hpp"
#include "host/common/dtype_names.hpp"
#include "host/common/glob.hpp"
#include "host/common/nearest.hpp"
#include "schedule.hpp"

namespace assay {

namespace {

using nlohmann::json;
using kind = selector::kind;

struct known_names {
  std::vector<plugin_identity> plugins;
  std::set<std::string> checks;
  bool some_refused = false, some_off = false;
  bool some_nameless = false;  // refused, and it could not be learnt who it is
};

known_names names_in(const catalogue& all) {
  known_names names;
  names.plugins = all.known;
  for (const json& plugin : all.plugins) {
    names.plugins.push_back(identity_of(plugin));
    names.some_refused = names.some_refused || text_of(plugin, "status") == "refused";
    names.some_nameless = names.some_nameless ||
                          (text_of(plugin, "status") == "refused" && text_of(plugin, "id").empty());
    names.some_off = names.some_off || text_of(plugin, "status") == "off";
  }
  for (const json& check : all.checks) {
    names.checks.insert(text_of(check, "category"));
    names.checks.insert(text_of(check, "category") + "/" + text_of(check, "name"));
  }
  return names;
}

std::set<std::string> tags_of(kind of, const known_names& names) {
  std::set<std::string> tags;
  for (const plugin_identity& plugin : names.plugins) {
    tags.insert(of == kind::plugin   ? plugin.id
                : of == kind::vendor ? plugin.vendor
                                     : plugin.accelerator);
  }
  tags.erase("");
  return tags;
}

std::set<std::string> dtypes_in(const catalogue& all) {
  std::set<std::string> dtypes;
  for (const json& check : all.checks) {
    for (const json& dtype : list_of(check, "dtypes")) {
      dtypes.insert(dtype.get<std::string>());
    }
  }
  return dtypes;
}

bool selects_any(const selector& one, const catalogue& all) {
  return std::any_of(all.checks.begin(), all.checks.end(), [&](const json& check) {
    const json& dtypes = list_of(check, "dtypes");
    return std::any_of(dtypes.begin(), dtypes.end(), [&](const json& dtype) {
      return selects(one.glob, text_of(check, "category"), text_of(check, "name"),
                     dtype.get<std::string>());
    });
  });
}

[[noreturn]] void refuse(const std::string& origin, const selector& one, const char* what,
                         const std::set<std::string>& names) {
  const std::string near = did_you_mean(one.glob, names);
  throw usage_error(fmt::format("{} '{}' matches no {}{}", origin, one.text, what,
                                near.empty() ? "; 'assay list' shows what there is" : near));
}

void must_match(const selector& one, const std::string& origin, const catalogue& all,
                const known_names& names) {
  const auto matched = [&](const std::set<std::string>& tags) {
    return std::any_of(tags.begin(), tags.end(),
                       [&](const std::string& tag) { return glob_match(one.glob, tag); });
  };
  if (one.about_plugins()) {
    const char* what = one.of == kind::plugin   ? "plugin"
                       : one.of == kind::vendor ? "plugin's vendor"
                                                : "plugin's accelerator";
    if (const auto tags = tags_of(one.of, names); !matched(tags) && !names.some_nameless) {
      refuse(origin, one, what, tags);
    }
  } else if (names.some_refused) {
    return;
  } else if (one.of == kind::dtype) {
    if (const auto dtypes = dtypes_in(all); !matched(dtypes) && !names.some_off) {
      refuse(origin, one, "check's dtype", dtypes);
    }
  } else if (!selects_any(one, all)) {
    if (!names.some_off) {
      refuse(origin, one, "category and no check", names.checks);
    }
    std::cerr << fmt::format(
        "assay: {} '{}' matches no category and no check of the plugins that are on{}\n", origin,
        one.text, did_you_mean(one.glob, names.checks));
  }
}

}  // namespace

// Every glob must mean something: a misspelt one would silently change what is tested.
void check_globs(const catalogue& all, const run_options& options) {
  const selection chosen_by(options);
  const known_names names = names_in(all);
  for (const selection::list* list : {&chosen_by.enabled(), &chosen_by.disabled()}) {
    for (const selector& one : list->globs) {
      must_match(one, list->origin, all, names);
    }
  }
}

}  // namespace assay
