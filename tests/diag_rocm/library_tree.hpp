// SPDX-License-Identifier: Apache-2.0
//
// A machine of a few files, for the tests of the library probes.
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>
#include <string>
#include <utility>

#include "diag_other/fake_elf.hpp"
#include "diag_rocm/environment.hpp"
#include "unit/temp_dir.hpp"

namespace diag_rocm::testing {

class library_tree {
 public:
  explicit library_tree(std::string architecture = "gfx1032") {
    site_.root = folder_.path();
    site_.torch_dir = "/py/torch";
    site_.architecture = std::move(architecture);
  }

  void write(const std::filesystem::path& file, const std::string& text = "x") const {
    folder_.write(file.relative_path(), text);
  }
  void write(const std::filesystem::path& file, const test::fake_elf& elf) const {
    elf.write(at(file));
  }
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& file) const {
    return site_.at(file);
  }

  environment variables{};
  [[nodiscard]] environment_source source() const {
    return [variables = variables](const assay::probe_site&) { return variables; };
  }
  [[nodiscard]] const assay::probe_site& site() const { return site_; }
  [[nodiscard]] assay::probe_site& site() { return site_; }

 private:
  assay::testing::temp_dir folder_{};
  assay::probe_site site_{};
};

inline std::string value_named(const assay::probe_answer& answer, const std::string& name) {
  for (const auto& [key, text] : answer.values) {
    if (key == name) {
      return text;
    }
  }
  return {};
}

using findings = std::vector<std::string>;

}  // namespace diag_rocm::testing
