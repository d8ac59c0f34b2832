// SPDX-License-Identifier: Apache-2.0
#include "store_schema.hpp"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <string>

#include "run_store.hpp"

namespace assay {

namespace {

constexpr std::string_view version_1 = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,         -- of the runs of this name, from 1
  saved TEXT NOT NULL,             -- when, in UTC: 2026-11-30T12:00:00Z
  started TEXT NOT NULL,
  summary TEXT NOT NULL,           -- the last line of its report
  document BLOB NOT NULL,          -- its result file, packed by zlib
  document_bytes INTEGER NOT NULL, -- unpacked
  UNIQUE (name, number)
);
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,          -- in the order of a report
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
) WITHOUT ROWID;
CREATE TABLE measured (
  check_id TEXT NOT NULL,
  device TEXT NOT NULL,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  verdict TEXT NOT NULL,           -- '' where it was not judged
  path TEXT NOT NULL,
  of_device INTEGER NOT NULL,      -- 1: median_us is device time, 0: wall time
  median_us REAL,                  -- NULL: not timed
  PRIMARY KEY (check_id, device, run_id)
) WITHOUT ROWID;
CREATE INDEX measured_by_run ON measured (run_id);
)sql";

int number(SQLite::Database& database, const char* pragma) {
  return database.execAndGet(fmt::format("PRAGMA {}", pragma)).getInt();
}

}  // namespace

const std::vector<std::string_view>& store_migrations() {
  static const std::vector<std::string_view> all{version_1};
  return all;
}

void migrate(SQLite::Database& database, const std::vector<std::string_view>& migrations) {
  const auto newest = static_cast<int>(migrations.size());
  if (number(database, "application_id") == store_application_id &&
      number(database, "user_version") == newest) {
    return;
  }
  // Two that open a new file at once: the second waits here, and then finds all done.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const int version = number(database, "user_version");
  const bool empty = version == 0 && number(database, "schema_version") == 0;
  if (!empty && number(database, "application_id") != store_application_id) {
    throw store_error("it is an SQLite file of another program");
  }
  if (version > newest) {
    throw store_error(
        fmt::format("it has version {}, and this assay knows up to {}; use a newer "
                    "assay, or another file",
                    version, newest));
  }
  for (int step = version; step < newest; ++step) {
    database.exec(std::string(migrations[static_cast<std::size_t>(step)]));
  }
  database.exec(fmt::format("PRAGMA application_id = {}", store_application_id));
  database.exec(fmt::format("PRAGMA user_version = {}", newest));
  transaction.commit();
}

}  // namespace assay
