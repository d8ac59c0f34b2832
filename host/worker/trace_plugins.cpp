// SPDX-License-Identifier: Apache-2.0
#include "trace_plugins.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "trace_checks.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || fs::is_directory(file)) {
    throw std::runtime_error("it cannot be read");
  }
  return text;
}

// "trace.bert_training" of "BERT training.txt"; a number behind it where it is taken.
std::string id_for(const fs::path& file, std::set<std::string>& taken) {
  std::string id = "trace.";
  for (const char c : file.stem().string()) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    id += upper ? static_cast<char>(c - 'A' + 'a') : fine ? c : '_';
  }
  std::string free = id;
  for (int n = 2; !taken.insert(free).second; ++n) {
    free = id + "." + std::to_string(n);
  }
  return free;
}

}  // namespace

void load_traces(plugin_registry& plugins, const std::vector<fs::path>& files,
                 const std::map<std::string, left_out>& excluded, bool trust_everything,
                 const std::function<void(const json&)>& write) {
  std::map<std::string, std::size_t> numbers;
  std::set<std::string> ids;
  for (const fs::path& file : files) {
    if (const auto known = excluded.find(file.string()); known != excluded.end()) {
      write({{"record", "plugin"},
             {"file", file.string()},
             {"status", known->second.status},
             {"reason", known->second.reason}});
      continue;
    }
    const std::string name = file.filename().string();
    const std::string id = id_for(file, ids);
    trace_checks checks(name, numbers);
    bool filled = false;
    plugins.load_declared(
        file, trust_everything,
        [&] {
          return plugin_identity{id, "1", "recorded", "any"};
        },
        [&](registry& into) {
          try {
            checks.read(content_of(file));
          } catch (const trace_error& e) {
            throw std::runtime_error(name + ":" + e.what());
          }
          checks.fill(into);
          filled = true;
        });
    if (filled) {
      json record = checks.describe();
      record["record"] = "trace";
      record["file"] = file.string();
      record["plugin"] = id;
      write(record);
    }
  }
}

}  // namespace assay::worker
