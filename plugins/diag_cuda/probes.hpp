// SPDX-License-Identifier: Apache-2.0
//
// The questions about NVIDIA's GPUs. "yes" is always the good answer.
#pragma once

#include <assay/diagnostics.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diag_cuda {

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

assay::probe_answer look_at_devices(const assay::probe_site& site);
assay::probe_answer look_at_driver(const assay::probe_site& site);
assay::probe_answer look_at_capability(const assay::probe_site& site);
assay::probe_answer look_at_environment(const assay::probe_site& site);
assay::probe_answer look_at_hints(const assay::probe_site& site);
assay::probe_answer look_at_kernel_log(const assay::probe_site& site);

std::vector<std::unique_ptr<assay::probe>> all_probes();

}  // namespace diag_cuda
