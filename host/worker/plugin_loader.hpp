// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>
#include <assay/registry.hpp>

#include <boost/dll/shared_library.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "check_store.hpp"

namespace assay::worker {

/// What one plugin registered, kept aside until its entry function has succeeded.
struct registrations {
  std::filesystem::path file;
  std::string id, version, vendor, accelerator;
  std::vector<std::pair<std::string, std::string>> categories;  // name, summary
  std::deque<owned_check> checks;
  std::unordered_set<std::string> check_ids;
  std::vector<std::string> libraries;  // absolute
  struct probe_tool {
    std::string id, summary;
    assay_probe c_form{};  // its texts are gone: the plugin's, of the registration only
  };
  struct classifier_tool {
    std::string id, summary;
    assay_classifier c_form{};  // likewise
  };
  std::vector<probe_tool> probes;
  std::vector<classifier_tool> classifiers;
  std::deque<owned_requirements> needs;  // of all its checks
  std::vector<nlohmann::json> options;   // declared, as the record `plugin` has them
  std::deque<std::string> option_texts;
  std::map<std::string, std::string> given_options;  // the user's words, by name
  std::string option_fault;                          // what is wrong with one of them
};

/// A file that is not opened: "off" or "refused", and why.
struct left_out {
  std::string status, reason;
};

/// Who says what a file declares that has no stamp.
struct plugin_identity {
  std::string id, version, vendor, accelerator = "any";
};

/// What was taken for a plugin is none, and is left alone.
class no_plugin : public refused {
 public:
  using refused::refused;
};

/// All plugins of this process. Nothing in it is ever unloaded.
class plugin_registry {
 public:
  using record_writer = std::function<void(const nlohmann::json&)>;

  explicit plugin_registry(record_writer write) : write_(std::move(write)) {}

  /// Loads every candidate below these files and folders, in order, and writes the records
  /// `loading`, `plugin` and `check` of docs/architecture.md.
  void load_all(const std::vector<std::filesystem::path>& places,
                const std::map<std::string, left_out>& excluded, bool trust_everything);

  /// From now on no other file is opened than these.
  void open_only(std::set<std::string> files) { only_ = std::move(files); }

  /// What users set, by plugin id and option name. Before anything is loaded.
  void set_options(std::map<std::string, std::map<std::string, std::string>> options) {
    options_ = std::move(options);
  }

  /// Registers what a file declares that is no shared library (a TOML pack, a recorded trace): the
  /// same trust, examination and records as for a plugin. `read` says who it is, and `fill` what it
  /// has; either throws std::exception with one line for the user (no_plugin: it is left alone).
  void load_declared(const std::filesystem::path& file, bool trust_everything,
                     const std::function<plugin_identity()>& read,
                     const std::function<void(assay::registry&)>& fill);

  /// The check "category/name" and its plugin; null when there is none.
  [[nodiscard]] std::pair<const owned_check*, const registrations*> find(
      const std::string& check) const;

  /// The probe or classifier of this id; null when there is none.
  [[nodiscard]] const assay_probe* find_probe(const std::string& id) const;
  [[nodiscard]] const assay_classifier* find_classifier(const std::string& id) const;

 private:
  void load_one(const std::filesystem::path& file, bool named, bool trust_everything);
  void open_and_register(const std::filesystem::path& file, nlohmann::json& record);
  void load_toml(const std::filesystem::path& file, bool trust_everything);
  void admit(const std::filesystem::path& file, bool trust_everything,
             nlohmann::json& record) const;
  static void must_be_trusted(const std::filesystem::path& file, bool trust_everything,
                              nlohmann::json& record);
  void admit_libraries(const registrations& plugin, nlohmann::json& record) const;
  void id_must_be_free(const std::string& id) const;
  void introduce(registrations& plugin) const;
  void commit(std::unique_ptr<registrations> plugin, nlohmann::json& record);
  [[nodiscard]] std::string conflict(const registrations& plugin) const;

  record_writer write_;
  bool trust_everything_ = false;
  std::optional<std::set<std::string>> only_;
  std::map<std::string, std::map<std::string, std::string>> options_;
  std::deque<boost::dll::shared_library> open_;
  std::vector<std::unique_ptr<registrations>> plugins_;
  std::map<std::string, std::pair<const owned_check*, const registrations*>> checks_;
};

/// Why this stamp is not accepted, all reasons joined; "" when it is.
std::string stamp_refusal(const assay_stamp& stamp);

}  // namespace assay::worker
