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
#include "errors.hpp"

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

struct range {
  double least, most;
};
// Wide enough for every device from a laptop's CPU to what may come; beyond them something went
// wrong.
constexpr range bandwidth{1e-2, 1e6};    // GB/s
constexpr range launch_cost{1e-3, 1e5};  // us
constexpr range matrix_rate{1e-6, 1e6};  // TFLOP/s
// No matrix unit makes half precision so much faster than float32 (an H200: 16 times).
constexpr double most_half_over_float = 40.0;

bool within(const json& value, const range& allowed) {
  return value.is_null() || (value.is_number() && value.get<double>() >= allowed.least &&
                             value.get<double>() <= allowed.most);
}

// Files in a cache are cut off, edited and written by other versions.
bool sound(const json& record) {
  return text_of(record, "record") == "ceilings" && text_of(record, "state") == "measured" &&
         why_implausible(record).empty();
}

}  // namespace

std::string why_implausible(const json& record) {
  for (const std::string_view member : number_members) {
    const bool time = member.ends_with("_us");
    if (!within(member_of(record, member), time ? launch_cost : bandwidth)) {
      return fmt::format("{} cannot be {}", member, member_of(record, member).dump());
    }
  }
  const json& rates = member_of(record, "matrix_tflop_per_s");
  if (!rates.is_object()) {
    return "there are no matrix rates";
  }
  for (const auto& [dtype, rate] : rates.items()) {
    if (!within(rate, matrix_rate)) {
      return fmt::format("the matrix rate of {} cannot be {}", dtype, rate.dump());
    }
  }
  const auto single = number_if_any(rates, "float32");
  for (const char* half : {"float16", "bfloat16"}) {
    const auto rate = number_if_any(rates, half);
    if (single && rate && *rate > most_half_over_float * *single) {
      return fmt::format("a matrix rate of {:.3g} TFLOP/s in float32 does not go with {:.3g} in {}",
                         *single, *rate, half);
    }
  }
  return "";
}

json best_of(const json& one, const json& other) {
  json best = one;
  const auto take = [](json& to, const json& from, bool smaller) {
    if (from.is_number() && (!to.is_number() || (smaller ? from < to : from > to))) {
      to = from;
    }
  };
  for (const std::string_view member : number_members) {
    take(best[std::string(member)], member_of(other, member), member.ends_with("_us"));
  }
  for (const auto& [dtype, rate] : member_of(other, "matrix_tflop_per_s").items()) {
    take(best["matrix_tflop_per_s"][dtype], rate, false);
  }
  return best;
}

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
  // A folder opens as a file does, and fails when it is read.
  std::error_code error;
  const fs::path file = file_of(key);
  std::ifstream in(file, std::ios::binary);
  const json whole =
      fs::is_regular_file(file, error) && in ? json::parse(in, nullptr, false) : json();
  const json& record = member_of(whole, "ceilings");
  if (member_of(whole, "key") != key || !sound(record)) {
    return nullptr;
  }
  json found = record;
  found["state"] = "cached";
  return found;
}

std::string ceilings_cache::keep(const json& key, const json& record) const {
  if (const std::string why = why_implausible(record); !why.empty()) {
    return why;
  }
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
      const std::string why = write_failure(errno);
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
