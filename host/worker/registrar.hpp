// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plugin_loader.hpp"

namespace assay::worker {

/// The host's side of assay_registrar: fills a `registrations`, examining each thing at once.
class registrar {
 public:
  explicit registrar(registrations& target);

  assay_registrar* c_form() { return &table_.base; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct table {
    assay_registrar base;  // first, so that a pointer to it is a pointer to the table
    registrar* owner;
  };

  static registrar& of(assay_registrar* self) { return *reinterpret_cast<table*>(self)->owner; }

  template <typename Body>
  const char* guarded(Body&& body);

  registrations& target_;
  table table_;
  std::string failure_;
  std::string answer_;
};

}  // namespace assay::worker
