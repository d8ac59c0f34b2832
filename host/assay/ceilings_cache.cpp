// SPDX-License-Identifier: Apache-2.0
#include "ceilings_cache.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <random>
#include <string_view>
#include <system_error>

#include "collected_run.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 6> number_members{
    "copy_gb_per_s",           "read_gb_per_s", "host_to_device_gb_per_s",
    "device_to_host_gb_per_s", "launch_us",     "launch_kernel_us"};

// FNV-1a: the same name on every system and in every version. What it stands for is in the file.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash;
}

bool number_or_null(const json& value) {
  return value.is_null() || (value.is_number() && value.get<double>() > 0.0);
}

// Files in a cache are cut off, edited and written by other versions.
bool sound(const json& record) {
  if (text_of(record, "record") != "ceilings" || text_of(record, "state") != "measured") {
    return false;
  }
  for (const std::string_view member : number_members) {
    if (!number_or_null(member_of(record, member))) {
      return false;
    }
  }
  const json& rates = member_of(record, "matrix_tflop_per_s");
  if (!rates.is_object()) {
    return false;
  }
  for (const json& rate : rates) {
    if (!number_or_null(rate)) {
      return false;
    }
  }
  return true;
}

std::string reason(int code) {
  return code == 0 ? "the write failed" : std::generic_category().message(code);
}

}  // namespace

json ceilings_cache::key(const json& device, const json& engine) {
  return {{"name", member_of(device, "name")},
          {"architecture", member_of(device, "architecture")},
          {"torch_version", member_of(engine, "torch_version")},
          {"build", member_of(engine, "build")},
          {"assay_version", ASSAY_VERSION}};
}

fs::path ceilings_cache::file_of(const json& key) const {
  return folder_ / fmt::format("ceilings-{:016x}.json",
                               hash_of(key.dump(-1, ' ', false, json::error_handler_t::replace)));
}

json ceilings_cache::find(const json& key) const {
  if (folder_.empty()) {
    return nullptr;
  }
  std::ifstream in(file_of(key), std::ios::binary);
  const json whole = in ? json::parse(in, nullptr, false) : json();
  const json& record = member_of(whole, "ceilings");
  if (member_of(whole, "key") != key || !sound(record)) {
    return nullptr;
  }
  json found = record;
  found["state"] = "cached";
  return found;
}

std::string ceilings_cache::keep(const json& key, const json& record) const {
  if (folder_.empty()) {
    return "there is no folder for caches";
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path target = file_of(key);
  // Two runs may keep the same at once: each has a file of its own until it is whole.
  fs::path partial = target;
  partial += fmt::format(".{:08x}", std::random_device()());
  errno = 0;
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    const json whole{{"key", key}, {"ceilings", record}};
    out << whole.dump(1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
    if (!out) {
      const std::string why = reason(errno);
      out.close();
      fs::remove(partial, error);
      return fmt::format("cannot write {}: {}", target.string(), why);
    }
  }
  fs::rename(partial, target, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(partial, error);
    return fmt::format("cannot write {}: {}", target.string(), why);
  }
  return "";
}

}  // namespace assay
