// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/registry.hpp>
#include <string>

#include "toml_pack_fields.hpp"
#include "toml_pack_formula.hpp"

namespace assay::worker {

/// Reads one [[check]], whose category and name are known. Throws toml_mistake.
check read_check(const toml_fields& table, const std::string& name, formula_reader& formulas);

/// Reads a table `needs`.
requirements read_needs(const toml_fields& table);

}  // namespace assay::worker
