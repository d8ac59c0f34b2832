// SPDX-License-Identifier: Apache-2.0
#include "plugin_survey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/common/plugin_files.hpp"
#include "host/common/plugin_stamp.hpp"
#include "sha256.hpp"
#include "toml_identity.hpp"

namespace assay {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_places(const installation& here, const run_options& options) {
  std::vector<fs::path> places;
  std::error_code error;
  for (const fs::path& own : {here.plugin_dir, here.user_plugin_dir}) {
    if (!own.empty() && fs::is_directory(own, error)) {
      places.push_back(own);
    }
  }
  for (const fs::path& named : options.plugin_dirs) {
    places.push_back(fs::absolute(named));
  }
  return places;
}

plugin_judge::plugin_judge(const run_options& options) : selection_(options) {
  if (options.plugins_lock) {
    const auto setting = options.settings.find("plugins-lock");
    lock_ = plugins_lock::read(*options.plugins_lock, setting == options.settings.end()
                                                          ? "--plugins-lock"
                                                          : setting->second.origin);
  }
}

plugin_survey::plugin_survey(const installation& here, const run_options& options)
    : judge_(options), places_(plugin_places(here, options)) {
  for (const fs::path& place : places_) {
    for (const auto& found : {libraries_in(place), toml_plugins_in(place)}) {
      for (const fs::path& one : found) {
        const fs::path file = fs::absolute(one).lexically_normal();
        if (find(file) == nullptr) {
          files_.push_back(judge_.look_at(file));
        }
      }
    }
  }
}

surveyed_file plugin_judge::look_at(const fs::path& file) const {
  surveyed_file seen;
  seen.file = file;
  bool plugin = named_like_a_plugin(file) || named_like_a_toml_plugin(file);
  if (named_like_a_toml_plugin(file)) {
    // Parsing it is worth its time only where something is decided by what it says.
    if (selection_.about_plugins() || lock_) {
      seen.who.only_diagnostics = true;
      if (const auto who = read_toml_identity(file)) {
        seen.who = {who->id, who->vendor, who->accelerator, !who->has_checks};
        seen.version = who->version;
      }
    }
  } else {
    const stamp_reading read = read_stamp(file);
    plugin = plugin || read.claimed;
    if (read.stamp) {
      seen.who = {read.stamp->id, read.stamp->vendor, read.stamp->accelerator,
                  read.stamp->only_diagnostics()};
      seen.version = read.stamp->version;
      seen.abi = read.stamp->abi();
    }
  }
  if (!plugin) {
    return seen;  // a library that lies there for others
  }
  seen.sha256 = sha256_of(file);
  if (const ruling ruled = selection_.plugin(seen.who); !ruled.on) {
    seen.status = "off";
    seen.reason = ruled.line;
  } else if (lock_) {
    seen.reason = lock_->refusal(file, seen.who.id, seen.version, seen.sha256);
    seen.status = seen.reason.empty() ? "" : "refused";
  }
  return seen;
}

const surveyed_file* plugin_survey::find(const fs::path& file) const {
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const surveyed_file& one) { return one.file == file; });
  return known == files_.end() ? nullptr : &*known;
}

void plugin_survey::complete(nlohmann::json& record) const {
  const surveyed_file* seen = find(record.value("file", ""));
  if (seen == nullptr) {
    return;
  }
  if (!seen->sha256.empty()) {
    record["sha256"] = seen->sha256;
  }
  const std::pair<const char*, const std::string*> known[] = {
      {"id", &seen->who.id},
      {"version", &seen->version},
      {"vendor", &seen->who.vendor},
      {"accelerator", &seen->who.accelerator},
      {"abi", &seen->abi}};
  for (const auto& [name, text] : known) {
    if (!text->empty() && !record.contains(name)) {
      record[name] = *text;
    }
  }
}

std::vector<std::string> plugin_survey::missing() const {
  std::vector<std::string> lines;
  if (lock() == nullptr) {
    return lines;
  }
  for (const plugins_lock::entry& pinned : lock()->entries()) {
    const bool there = std::any_of(files_.begin(), files_.end(), [&](const surveyed_file& one) {
      return one.sha256 == pinned.sha256 || (!one.who.id.empty() && one.who.id == pinned.id);
    });
    if (!there) {
      lines.push_back(fmt::format("{} has plugin {} {}, of which no plugin folder has a file",
                                  lock()->file().string(), pinned.id, pinned.version));
    }
  }
  return lines;
}

}  // namespace assay
