// SPDX-License-Identifier: Apache-2.0
//
// A folder of files that a test writes, and that goes with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace test {

class temporary_tree {
 public:
  temporary_tree() {
    std::random_device random;
    root_ = std::filesystem::temp_directory_path() /
            ("assay-diag-" + std::to_string(random()) + std::to_string(random()));
    std::filesystem::create_directories(root_);
  }
  ~temporary_tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  temporary_tree(const temporary_tree&) = delete;
  temporary_tree& operator=(const temporary_tree&) = delete;

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// A path of the machine ("/dev/kfd"), below the root.
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& absolute) const {
    return root_ / absolute.relative_path();
  }
  std::filesystem::path file(const std::filesystem::path& absolute,
                             const std::string& content = {}) const {
    const std::filesystem::path to = at(absolute);
    std::filesystem::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << content;
    return to;
  }
  std::filesystem::path folder(const std::filesystem::path& absolute) const {
    std::filesystem::create_directories(at(absolute));
    return at(absolute);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace test
