// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <utility>

namespace probing {

/// A probe that is one function.
class question : public assay::probe {
 public:
  using answerer = assay::probe_answer (*)(const assay::probe_site& site);
  question(std::string id, std::string summary, answerer ask)
      : id_(std::move(id)), summary_(std::move(summary)), ask_(ask) {}

  [[nodiscard]] std::string id() const override { return id_; }
  [[nodiscard]] std::string summary() const override { return summary_; }
  assay::probe_answer look(const assay::probe_site& site) override { return ask_(site); }

 private:
  std::string id_;
  std::string summary_;
  answerer ask_;
};

}  // namespace probing
