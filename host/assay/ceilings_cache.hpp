// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace assay {

/// Why no device can have reached what a `ceilings` record says; "" where nothing speaks against
/// it.
std::string why_implausible(const nlohmann::json& record);

/// Of two measurements of one device each ceiling that is higher, and the lower launch cost; the
/// rest is `one`'s.
nlohmann::json best_of(const nlohmann::json& one, const nlohmann::json& other);

/// What a device was measured to reach, kept from run to run: one file for each device, LibTorch
/// and assay. A file that is not what it should be counts as none.
class ceilings_cache {
 public:
  /// `folder` need not exist; empty: nothing is kept.
  explicit ceilings_cache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `device`: an entry of the engine record's `devices`. The key does not hold the driver's
  /// version: nothing that is asked here tells it.
  static nlohmann::json key(const nlohmann::json& device, const nlohmann::json& engine);

  /// The `ceilings` record, its state "cached"; null when there is none.
  [[nodiscard]] nlohmann::json find(const nlohmann::json& key) const;

  /// Why it could not be kept; "" when it was.
  [[nodiscard]] std::string keep(const nlohmann::json& key, const nlohmann::json& record) const;

  [[nodiscard]] std::filesystem::path file_of(const nlohmann::json& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace assay
