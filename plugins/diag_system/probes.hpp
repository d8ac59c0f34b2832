// SPDX-License-Identifier: Apache-2.0
//
// Questions about the system under LibTorch. "yes" is always the good answer.
#pragma once

#include <assay/diagnostics.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diag_system {

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

assay::probe_answer look_at_glibc(const assay::probe_site& site);
assay::probe_answer look_at_libstdcxx(const assay::probe_site& site);
assay::probe_answer look_at_linker(const assay::probe_site& site);
assay::probe_answer look_at_disk(const assay::probe_site& site);
assay::probe_answer look_at_shared_memory(const assay::probe_site& site);
assay::probe_answer look_at_memory(const assay::probe_site& site);
assay::probe_answer look_at_selinux(const assay::probe_site& site);

std::vector<std::unique_ptr<assay::probe>> all_probes();

}  // namespace diag_system
