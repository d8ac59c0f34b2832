// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace assay::testing {

/// A folder of its own that goes with the test.
class temp_dir {
 public:
  temp_dir() {
    std::random_device random;
    const auto base = std::filesystem::canonical(std::filesystem::temp_directory_path());
    do {
      path_ = base / ("assay-test-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(path_));
  }
  ~temp_dir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Makes the folders too.
  std::filesystem::path write(const std::filesystem::path& name, const std::string& text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  std::filesystem::path make_dir(const std::filesystem::path& name) const {
    std::filesystem::create_directories(path_ / name);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::testing
