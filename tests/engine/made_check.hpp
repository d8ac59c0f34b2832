// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/plugin.hpp>

#include <string>
#include <utility>
#include <vector>

#include "host/worker/registrar.hpp"

namespace assay::tests {

/// One check as the worker would hand it to the engine, without a plugin around it: "made/<name>".
class made_check {
 public:
  template <typename... Calls>
  made_check(std::string name, std::vector<input> inputs, operator_call first, Calls... more) {
    registry plugin;
    plugin.category("made", "made by a test")
        .check(std::move(name), std::move(inputs), std::move(first), std::move(more)...);
    plugin.commit(worker::registrar(registrations_).c_form());
  }

  [[nodiscard]] const assay_check& c_form() const { return registrations_.checks.front().c_form(); }

 private:
  worker::registrations registrations_;
};

}  // namespace assay::tests
