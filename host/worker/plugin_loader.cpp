// SPDX-License-Identifier: Apache-2.0
#include "plugin_loader.hpp"

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <exception>
#include <fstream>

#include "host/common/open_library.hpp"
#include "host/common/pack_contents.hpp"
#include "host/common/plugin_files.hpp"
#include "host/common/plugin_stamp.hpp"
#include "host/platform/platform.hpp"
#include "registrar.hpp"
#include "toml_pack.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;
namespace dll = boost::dll;
namespace fs = std::filesystem;

constexpr const char* stamp_symbol = "assay_plugin_stamp";
constexpr const char* entry_symbol = "assay_plugin_entry";
constexpr std::size_t first_stamp_size = offsetof(assay_stamp, brings);  // of minor 0

std::string text_in(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  std::string text(error ? 0 : size, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::vector<fs::path> candidates_in(const fs::path& folder) {
  std::vector<fs::path> found = libraries_in(folder);
  for (const fs::path& file : toml_plugins_in(folder)) {
    std::error_code error;
    // A file of rules alone is not the worker's.
    if (fs::is_regular_file(file, error) && contents_of(text_in(file)).checks) {
      found.push_back(file);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

template <std::size_t N>
bool ends(const char (&text)[N]) {
  return std::find(text, text + N, '\0') != text + N;
}

enum class looks_like { plugin, other_library, empty_file, no_library };

// Asked of the file's tables, without opening it as a library, so that no initialiser of a stray
// library runs. A stripped file keeps its sections; names serve where there are no such sections.
looks_like look_at(const fs::path& file) {
  try {
    dll::library_info info(file);
#if defined(ASSAY_STAMP_SECTION_NAME)
    const auto sections = info.sections();
    if (std::find(sections.begin(), sections.end(), ASSAY_STAMP_SECTION_NAME) != sections.end()) {
      return looks_like::plugin;
    }
#endif
    const auto symbols = info.symbols();
    return std::find(symbols.begin(), symbols.end(), stamp_symbol) != symbols.end()
               ? looks_like::plugin
               : looks_like::other_library;
  } catch (const std::exception&) {
    std::error_code error;
    return fs::file_size(file, error) == 0 ? looks_like::empty_file : looks_like::no_library;
  }
}

// A plugin's own words may have lines.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string version_text(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

std::string stamp_refusal(const assay_stamp& stamp) {
  std::vector<std::string> reasons;
  if (std::memcmp(stamp.magic, ASSAY_STAMP_MAGIC, sizeof stamp.magic) != 0) {
    return "its stamp does not begin with " ASSAY_STAMP_MAGIC
           ": it was not made by ASSAY_PLUGIN or for assay_stamp; rebuild it with this assay's SDK";
  }
  if (stamp.struct_size < first_stamp_size) {
    return "its stamp has struct_size " + std::to_string(stamp.struct_size) +
           ", the first ABI has " + std::to_string(first_stamp_size) +
           "; rebuild it with this assay's SDK";
  }
  if (stamp.abi_major != ASSAY_ABI_MAJOR || stamp.abi_minor > ASSAY_ABI_MINOR) {
    const bool newer = stamp.abi_major > ASSAY_ABI_MAJOR || stamp.abi_major == ASSAY_ABI_MAJOR;
    reasons.push_back("built for plugin ABI " + version_text(stamp.abi_major, stamp.abi_minor) +
                      ", this assay speaks " + version_text(ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR) +
                      (newer ? "; use a newer assay, or rebuild it with this assay's SDK"
                             : "; rebuild it with this assay's SDK"));
  }
  if (!ends(stamp.id) || !ends(stamp.version) || !ends(stamp.vendor) || !ends(stamp.accelerator)) {
    reasons.emplace_back(
        "a text of its stamp (id, version, vendor or accelerator) has no closing zero; shorten it");
  } else {
    if (!is_name(stamp.id, true)) {
      reasons.push_back("its id '" + std::string(stamp.id) +
                        "' is none: an id takes a-z, 0-9, _ . and - only");
    }
    const std::string accelerator = stamp.accelerator;
    if (accelerator != "any" && accelerator != "rocm" && accelerator != "cuda") {
      reasons.push_back("its accelerator '" + accelerator + "' is none of any, rocm, cuda");
    }
  }
  std::string joined;
  for (const std::string& reason : reasons) {
    joined += (joined.empty() ? "" : "; ") + reason;
  }
  return joined;
}

void plugin_registry::load_all(const std::vector<fs::path>& places,
                               const std::map<std::string, left_out>& excluded,
                               bool trust_everything) {
  trust_everything_ = trust_everything;
  std::vector<std::string> seen;
  for (const fs::path& place : places) {
    const bool folder = fs::is_directory(place) && !named_like_a_plugin(place);
    for (const fs::path& found : folder ? candidates_in(place) : std::vector{place}) {
      const fs::path file = fs::absolute(found).lexically_normal();
      if (std::find(seen.begin(), seen.end(), file.string()) != seen.end()) {
        continue;
      }
      seen.push_back(file.string());
      if (const auto known = excluded.find(file.string()); known != excluded.end()) {
        write_({{"record", "plugin"},
                {"file", file.string()},
                {"status", known->second.status},
                {"reason", known->second.reason}});
      } else {
        load_one(file, !folder, trust_everything);
      }
    }
  }
}

void plugin_registry::load_one(const fs::path& file, bool named, bool trust_everything) {
  json record{{"record", "plugin"}, {"file", file.string()}, {"status", "refused"}};
  const auto refuse = [&](std::string reason) {
    record["reason"] = one_line(std::move(reason));
    write_(record);
  };
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return refuse(fs::is_directory(file, error)
                      ? "it is a folder, and a plugin is a file; rename it, or take it away"
                      : "it is not a file; mend the link, or take it away");
  }
  if (named_like_a_toml_plugin(file)) {
    return load_toml(file, trust_everything);
  }
  const looks_like looks = look_at(file);
  if (looks != looks_like::plugin) {
    const std::string reason = looks == looks_like::empty_file ? "the file is empty"
                               : looks == looks_like::no_library
                                   ? "the file is no whole shared library of this system"
                                   : "it has no assay_plugin_stamp: it is no assay plugin";
    if (!named && !named_like_a_plugin(file)) {
      record["status"] = "not_a_plugin";
      return refuse(reason);
    }
    return refuse(reason + "; build it again with assay_add_plugin(), or take it away");
  }
  try {
    admit(file, trust_everything, record);
    if (const auto read = read_stamp(file); read.stamp) {
      id_must_be_free(read.stamp->id);  // before any code of a plugin that is one too many runs
    }
    write_({{"record", "loading"}, {"file", file.string()}});
    open_and_register(file, record);
  } catch (const std::exception& e) {
    refuse(e.what());
  }
}

void plugin_registry::admit(const fs::path& file, bool trust_everything, json& record) const {
  if (only_ && !only_->contains(file.string())) {
    throw refused("it is none of the files that were compared with the lock; run again");
  }
  must_be_trusted(file, trust_everything, record);
}

void plugin_registry::must_be_trusted(const fs::path& file, bool trust_everything, json& record) {
  if (const auto who = platform::others_may_write(file)) {
    if (!trust_everything) {
      throw refused(*who +
                    ", who could change what runs here; mend that (chmod, chown), or say "
                    "--trust-plugins");
    }
    record["trusted_in_spite_of"] = *who;
  }
}

// They are code of this plugin as much as its own file is.
void plugin_registry::admit_libraries(const registrations& plugin, json& record) const {
  for (const std::string& library : plugin.libraries) {
    try {
      must_be_trusted(library, trust_everything_, record);
    } catch (const refused& e) {
      throw refused("its operator library " + library + ": " + e.what());
    }
  }
}

void plugin_registry::load_declared(const fs::path& file, bool trust_everything,
                                    const std::function<plugin_identity()>& read,
                                    const std::function<void(assay::registry&)>& fill) {
  trust_everything_ = trust_everything;
  json record{{"record", "plugin"}, {"file", file.string()}, {"status", "refused"}};
  try {
    admit(file, trust_everything, record);
    write_({{"record", "loading"}, {"file", file.string()}});
    const plugin_identity who = read();
    auto plugin = std::make_unique<registrations>();
    plugin->file = file;
    plugin->id = who.id;
    plugin->version = who.version;
    plugin->vendor = who.vendor;
    plugin->accelerator = who.accelerator;
    record["id"] = who.id;
    record["version"] = who.version;
    record["vendor"] = who.vendor;
    record["accelerator"] = who.accelerator;
    record["abi"] = nullptr;
    introduce(*plugin);
    registrar target(*plugin);
    assay::registry declared(target.c_form());
    try {
      fill(declared);
    } catch (const std::exception&) {
      if (!plugin->option_fault.empty()) {
        record["option_fault"] = plugin->option_fault;
      }
      throw;
    }
    declared.commit(target.c_form());
    commit(std::move(plugin), record);
  } catch (const no_plugin& e) {
    record["status"] = "not_a_plugin";
    record["reason"] = one_line(e.what());
    write_(record);
  } catch (const std::exception& e) {
    record["reason"] = one_line(e.what());
    write_(record);
  }
}

void plugin_registry::load_toml(const fs::path& file, bool trust_everything) {
  std::optional<toml_pack> pack;
  const auto read = [&]() -> plugin_identity {
    pack = read_toml_pack(file.filename().string(), text_in(file));
    if (!pack) {
      throw no_plugin("it holds no check; its rules are not the worker's");
    }
    return {pack->id, pack->version, pack->vendor, pack->accelerator};
  };
  load_declared(file, trust_everything, read, [&](registry& plugin) { pack->fill(plugin); });
}

void plugin_registry::id_must_be_free(const std::string& id) const {
  for (const auto& known : plugins_) {
    if (known->id == id) {
      throw refused("plugin id '" + id + "' is taken by " + known->file.string() +
                    "; take one of the two files away, or give one another id");
    }
  }
}

// Its id must be free; what users set for it is laid out.
void plugin_registry::introduce(registrations& plugin) const {
  id_must_be_free(plugin.id);
  if (const auto given = options_.find(plugin.id); given != options_.end()) {
    plugin.given_options = given->second;
  }
}

void plugin_registry::open_and_register(const fs::path& file, json& record) {
  dll::shared_library library;
  try {
    library = open_library(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    throw refused(std::string("it does not open: ") + e.what());
  }
  // From here on its code may be in use: whatever happens, it stays mapped.
  open_.push_back(library);
  for (const char* name : {stamp_symbol, entry_symbol}) {
    if (!library.has(name)) {
      throw refused(std::string("it does not export ") + name +
                    "; build it with assay_add_plugin()");
    }
  }
  const assay_stamp& in_memory = library.get<const assay_stamp>(stamp_symbol);
  assay_stamp stamp{};
  std::memcpy(&stamp, &in_memory, first_stamp_size);
  if (stamp.struct_size >= sizeof stamp) {
    std::memcpy(&stamp, &in_memory, sizeof stamp);
  }
  const auto text = [](const auto& field) {
    return std::string(field, std::find(field, field + sizeof field, '\0'));
  };
  if (std::memcmp(stamp.magic, ASSAY_STAMP_MAGIC, sizeof stamp.magic) == 0) {
    record["id"] = text(stamp.id);
    record["version"] = text(stamp.version);
    record["vendor"] = text(stamp.vendor);
    record["accelerator"] = text(stamp.accelerator);
    record["abi"] = version_text(stamp.abi_major, stamp.abi_minor);
  }
  if (const std::string reason = stamp_refusal(stamp); !reason.empty()) {
    throw refused(reason);
  }

  auto plugin = std::make_unique<registrations>();
  plugin->file = file;
  plugin->id = text(stamp.id);
  plugin->version = text(stamp.version);
  plugin->vendor = text(stamp.vendor);
  plugin->accelerator = text(stamp.accelerator);
  introduce(*plugin);
  registrar target(*plugin);
  const assay_host host{sizeof host, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR, ASSAY_VERSION};
  const auto entry = library.get<int(const assay_host*, assay_registrar*)>(entry_symbol);
  int status = 0;
  try {
    status = entry(&host, target.c_form());
  } catch (...) {
    throw refused("its entry function let an exception out");
  }
  if (!plugin->option_fault.empty()) {
    record["option_fault"] = plugin->option_fault;
    throw refused(plugin->option_fault);
  }
  if (status != 0) {
    throw refused(target.failure().empty()
                      ? "its entry function returned " + std::to_string(status) +
                            " and gave no reason; ask its vendor"
                      : target.failure());
  }
  commit(std::move(plugin), record);
}

std::string plugin_registry::conflict(const registrations& plugin) const {
  for (const owned_check& check : plugin.checks) {
    if (const auto known = checks_.find(check.id()); known != checks_.end()) {
      return "check '" + check.id() + "' is registered by " + known->second.second->file.string();
    }
  }
  const auto taken = [](const auto& tools, const std::string& id) {
    return std::any_of(tools.begin(), tools.end(), [&](const auto& t) { return t.id == id; });
  };
  for (const auto& known : plugins_) {
    for (const auto& probe : plugin.probes) {
      if (taken(known->probes, probe.id)) {
        return "probe '" + probe.id + "' is registered by " + known->file.string();
      }
    }
    for (const auto& classifier : plugin.classifiers) {
      if (taken(known->classifiers, classifier.id)) {
        return "classifier '" + classifier.id + "' is registered by " + known->file.string();
      }
    }
  }
  return "";
}

void plugin_registry::commit(std::unique_ptr<registrations> plugin, json& record) {
  if (plugin->checks.empty() && plugin->probes.empty() && plugin->classifiers.empty()) {
    throw refused("it registered no check, probe or classifier; ask its vendor");
  }
  if (const std::string reason = conflict(*plugin); !reason.empty()) {
    throw refused(reason + "; rename one of the two, or take one of the files away");
  }
  admit_libraries(*plugin, record);
  record["status"] = "loaded";
  record["reason"] = "";
  record["check_count"] = plugin->checks.size();
  const auto listed = [](const auto& tools) {
    json list = json::array();
    for (const auto& t : tools) {
      list.push_back({{"id", t.id}, {"summary", t.summary}});
    }
    return list;
  };
  record["probes"] = listed(plugin->probes);
  record["classifiers"] = listed(plugin->classifiers);
  record["options"] = plugin->options;
  record["operator_libraries"] = plugin->libraries;
  record["needs"] = json::array();
  for (const owned_requirements& needs : plugin->needs) {
    record["needs"].push_back(needs.describe());
  }
  record["categories"] = json::array();
  for (const auto& [name, summary] : plugin->categories) {
    record["categories"].push_back({{"name", name}, {"summary", summary}});
  }
  write_(record);
  for (const owned_check& check : plugin->checks) {
    checks_.emplace(check.id(), std::pair(&check, plugin.get()));
    json description = check.describe();
    description["record"] = "check";
    description["check"] = check.id();
    description["category"] = check.c_form().category;
    description["name"] = check.c_form().name;
    description["plugin"] = plugin->id;
    write_(description);
  }
  plugins_.push_back(std::move(plugin));
}

std::pair<const owned_check*, const registrations*> plugin_registry::find(
    const std::string& check) const {
  const auto found = checks_.find(check);
  return found == checks_.end() ? std::pair<const owned_check*, const registrations*>()
                                : found->second;
}

const assay_probe* plugin_registry::find_probe(const std::string& id) const {
  for (const auto& plugin : plugins_) {
    for (const auto& probe : plugin->probes) {
      if (probe.id == id) {
        return &probe.c_form;
      }
    }
  }
  return nullptr;
}

const assay_classifier* plugin_registry::find_classifier(const std::string& id) const {
  for (const auto& plugin : plugins_) {
    for (const auto& classifier : plugin->classifiers) {
      if (classifier.id == id) {
        return &classifier.c_form;
      }
    }
  }
  return nullptr;
}

}  // namespace assay::worker
