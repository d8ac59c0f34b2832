// SPDX-License-Identifier: Apache-2.0
//
// How the store's tables came to be, version by version. A step that has been shipped never
// changes.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string_view>
#include <vector>

namespace assay {

/// Marks the file as a store of assay (SQLite's application_id): "assy".
inline constexpr int store_application_id = 0x61737379;

/// The SQL that leads from version N to N + 1, at index N.
const std::vector<std::string_view>& store_migrations();

/// Brings the store to the newest version, each step in a transaction: a step that fails leaves the
/// version before it whole. Throws store_error for a file that is no store of assay or a newer one,
/// SQLite::Exception where the database refuses.
void migrate(SQLite::Database& database, const std::vector<std::string_view>& migrations);

}  // namespace assay
