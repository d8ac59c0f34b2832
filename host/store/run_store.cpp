// SPDX-License-Identifier: Apache-2.0
#include "run_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <system_error>

#include "host/common/nearest.hpp"
#include "host/common/utc_time.hpp"
#include "host/platform/platform.hpp"
#include "packed_text.hpp"
#include "store_schema.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 20'000;  // for another process that is writing

std::string what_failed(const SQLite::Exception& error) {
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      return "the disk is full; make room, or name another file with --store";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "it cannot be written; mend its and its folder's permissions, or name another file "
             "with --store";
    case SQLITE_CANTOPEN:
      return "it cannot be opened; mend its and its folder's permissions, or name another file "
             "with --store";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("another process has been writing it for {} s; try again",
                         patience_ms / 1000);
    case SQLITE_NOTADB:
      return "it is no store of assay, nor any other SQLite file; name another file with --store";
    case SQLITE_CORRUPT:
      return "it is damaged; move it away (the sqlite3 program's .recover may save what is left), "
             "or name another file with --store";
    case SQLITE_IOERR:
      return fmt::format("reading or writing failed ({}); see whether the disk is full or failing",
                         error.what());
    default:
      return error.what();
  }
}

/// A URI, with what has a meaning in one escaped.
std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : file.generic_string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                       c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

std::unique_ptr<SQLite::Database> open_reading(const fs::path& file) {
  const auto is_readable = [](SQLite::Database& database) {
    database.setBusyTimeout(patience_ms);
    return database.execAndGet("PRAGMA user_version").getInt() >= 0;
  };
  try {
    auto database = std::make_unique<SQLite::Database>(file.string(), SQLite::OPEN_READONLY);
    is_readable(*database);
    return database;
  } catch (const SQLite::Exception& error) {
    // A write-ahead log wants a file beside it, which nobody may make in a read-only folder.
    if (error.getErrorCode() != SQLITE_CANTOPEN && error.getErrorCode() != SQLITE_READONLY) {
      throw;
    }
  }
  auto database = std::make_unique<SQLite::Database>(immutable_uri(file),
                                                     SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  is_readable(*database);
  return database;
}

std::unique_ptr<SQLite::Database> open_writing(const fs::path& file) {
  auto database = std::make_unique<SQLite::Database>(file.string(),
                                                     SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database->setBusyTimeout(patience_ms);
  database->execAndGet("PRAGMA journal_mode = WAL");
  database->exec("PRAGMA foreign_keys = ON");
  return database;
}

stored_run run_in(SQLite::Statement& row) {
  stored_run run;
  run.id = row.getColumn(0).getInt64();
  run.name = row.getColumn(1).getString();
  run.number = row.getColumn(2).getInt();
  run.saved = row.getColumn(3).getString();
  run.started = row.getColumn(4).getString();
  run.summary = row.getColumn(5).getString();
  return run;
}

struct wanted_run {
  std::string name;
  int number = 0;  // 0: the newest
};

wanted_run split_name(const std::string& wanted) {
  const auto at = wanted.find('@');
  if (at == std::string::npos) {
    return {wanted, 0};
  }
  wanted_run split{wanted.substr(0, at), 0};
  const char* begin = wanted.data() + at + 1;
  const char* end = wanted.data() + wanted.size();
  const auto read = std::from_chars(begin, end, split.number);
  if (read.ec != std::errc() || read.ptr != end || split.number < 1) {
    throw store_error(
        fmt::format("'{}': what stands behind the @ must be the number of a run, "
                    "from 1; assay baseline list shows them",
                    wanted));
  }
  return split;
}

}  // namespace

bool is_run_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-');
         });
}

fs::path default_store_file() {
  const fs::path data = platform::user_data_dir();
  return data.is_absolute() ? data / "assay" / "runs.sqlite" : fs::path();
}

template <typename Action>
auto run_store::guarded(const Action& action) const -> decltype(action()) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    throw store_error(fmt::format("the store of runs {}: {}", file_.string(), what_failed(error)));
  }
}

run_store::run_store(const fs::path& file, access how) : file_(file) {
  std::error_code error;
  if (file.empty()) {
    throw store_error(
        "there is no folder of this user for kept runs (neither XDG_DATA_HOME nor "
        "HOME is set); name a file with --store");
  }
  if (how == access::reading && !fs::exists(file, error)) {
    throw store_error(
        fmt::format("no run was kept yet: there is no {}; assay run --save NAME "
                    "keeps one",
                    file.string()));
  }
  if (fs::is_directory(file, error)) {
    throw store_error(
        fmt::format("the store of runs {} is a folder; name a file with --store", file.string()));
  }
  if (how == access::writing && !file.parent_path().empty() &&
      !fs::create_directories(file.parent_path(), error) && error) {
    throw store_error(
        fmt::format("the store of runs {}: its folder cannot be made ({}); name another file with "
                    "--store",
                    file.string(), error.message()));
  }
  guarded([&] {
    database_ = how == access::writing ? open_writing(file) : open_reading(file);
    try {
      if (how == access::writing) {
        migrate(*database_, store_migrations());
        // What is here to be read only says so before a run, not behind it.
        SQLite::Transaction trial(*database_, SQLite::TransactionBehavior::IMMEDIATE);
        database_->exec(
            "INSERT INTO run (name, number, saved, started, summary, document, "
            "document_bytes) VALUES ('', 0, '', '', '', x'', 0)");
      } else {
        require_version();
      }
    } catch (const store_error& refusal) {
      throw store_error(fmt::format("the store of runs {}: {}", file_.string(), refusal.what()));
    }
  });
}

run_store::~run_store() = default;
run_store::run_store(run_store&&) noexcept = default;

// An older version is brought up where it may be written, and refused where it may not.
void run_store::require_version() {
  const auto newest = static_cast<int>(store_migrations().size());
  const int version = database_->execAndGet("PRAGMA user_version").getInt();
  const int application = database_->execAndGet("PRAGMA application_id").getInt();
  if (application == store_application_id && version < newest) {
    database_ = open_writing(file_);
  }
  if (application != store_application_id || version != newest) {
    migrate(*database_, store_migrations());
  }
}

stored_run run_store::save(const std::string& name, const saved_run& run,
                           const std::string& document) {
  return guarded([&] {
    const std::string bytes = packed(document);
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement count(*database_,
                            "SELECT coalesce(max(number), 0) + 1 FROM run "
                            "WHERE name = ?");
    count.bind(1, name);
    count.executeStep();
    stored_run kept{
        0, name, count.getColumn(0).getInt(), utc_now(), run.started, run.summary, run.environment};
    SQLite::Statement insert(*database_,
                             "INSERT INTO run (name, number, saved, started, summary, document, "
                             "document_bytes) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, kept.name);
    insert.bind(2, kept.number);
    insert.bind(3, kept.saved);
    insert.bind(4, kept.started);
    insert.bind(5, kept.summary);
    insert.bind(6, bytes.data(), static_cast<int>(bytes.size()));
    insert.bind(7, static_cast<std::int64_t>(document.size()));
    insert.exec();
    kept.id = database_->getLastInsertRowid();
    SQLite::Statement said(*database_, "INSERT INTO environment VALUES (?, ?, ?, ?)");
    int place = 0;
    for (const auto& [what, value] : run.environment) {
      said.bind(1, kept.id);
      said.bind(2, place++);
      said.bind(3, what);
      said.bind(4, value);
      said.exec();
      said.reset();
    }
    SQLite::Statement measured(*database_, "INSERT INTO measured VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& [key, check] : run.checks) {
      const bool of_device = check.times.device_held && check.times.device_us.has_value();
      const auto median = of_device ? check.times.device_us : check.times.wall_us;
      measured.bind(1, check.id);
      measured.bind(2, check.device);
      measured.bind(3, kept.id);
      measured.bind(4, check.status);
      measured.bind(5, check.verdict);
      measured.bind(6, check.path);
      measured.bind(7, of_device ? 1 : 0);
      if (median && check.status == "ok") {
        measured.bind(8, *median);
      } else {
        measured.bind(8);
      }
      measured.exec();
      measured.reset();
    }
    transaction.commit();
    return kept;
  });
}

std::vector<stored_run> run_store::runs() const {
  return guarded([&] {
    std::vector<stored_run> all;
    std::map<std::int64_t, std::size_t> places;
    SQLite::Statement rows(*database_,
                           "SELECT id, name, number, saved, started, summary FROM run ORDER BY id");
    while (rows.executeStep()) {
      all.push_back(run_in(rows));
      places[all.back().id] = all.size() - 1;
    }
    SQLite::Statement said(*database_,
                           "SELECT run_id, name, value FROM environment ORDER BY run_id, place");
    while (said.executeStep()) {
      if (const auto place = places.find(said.getColumn(0).getInt64()); place != places.end()) {
        all[place->second].environment.emplace_back(said.getColumn(1).getString(),
                                                    said.getColumn(2).getString());
      }
    }
    return all;
  });
}

stored_run run_store::find(const std::string& wanted) const {
  const auto [name, number] = split_name(wanted);
  const std::vector<stored_run> all = runs();
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&, of = name, at = number](const stored_run& run) {
        return run.name == of && (at == 0 || run.number == at);
      });
  if (found != all.rend()) {
    return *found;
  }
  std::vector<std::string> names;
  for (const stored_run& run : all) {
    names.push_back(run.name);
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    throw store_error(fmt::format("'{}' has no run {}; assay baseline list shows those that it has",
                                  name, number));
  }
  const std::string near = did_you_mean(name, names);
  throw store_error(fmt::format("no run is kept as '{}' in {}{}", name, file_.string(),
                                near.empty() ? "; assay baseline list names them" : near));
}

std::string run_store::document(const stored_run& run) const {
  return guarded([&] {
    SQLite::Statement row(*database_, "SELECT document, document_bytes FROM run WHERE id = ?");
    row.bind(1, run.id);
    std::optional<std::string> text;
    if (row.executeStep()) {
      const SQLite::Column bytes = row.getColumn(0);
      text = unpacked(
          {static_cast<const char*>(bytes.getBlob()), static_cast<std::size_t>(bytes.getBytes())},
          static_cast<std::size_t>(row.getColumn(1).getInt64()));
    }
    if (!text) {
      throw store_error(
          fmt::format("the store of runs {}: run {}@{} is damaged or was removed "
                      "meanwhile",
                      file_.string(), run.name, run.number));
    }
    return std::move(*text);
  });
}

void run_store::remove(const std::vector<stored_run>& runs) {
  guarded([&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement erase(*database_, "DELETE FROM run WHERE id = ?");
    for (const stored_run& run : runs) {
      erase.bind(1, run.id);
      erase.exec();
      erase.reset();
    }
    transaction.commit();
  });
}

std::vector<stored_series> run_store::series() const {
  return guarded([&] {
    std::vector<stored_series> all;
    SQLite::Statement rows(*database_,
                           "SELECT check_id, device, run_id, status, verdict, path, of_device, "
                           "median_us FROM measured ORDER BY check_id, device, run_id");
    while (rows.executeStep()) {
      const char* id = rows.getColumn(0).getText();
      const char* device = rows.getColumn(1).getText();
      if (all.empty() || all.back().check_id != id || all.back().device != device) {
        all.push_back({id, device, {}});
      }
      stored_median median{rows.getColumn(2).getInt64(),    rows.getColumn(3).getString(),
                           rows.getColumn(4).getString(),   rows.getColumn(5).getString(),
                           rows.getColumn(6).getInt() != 0, std::nullopt};
      if (const SQLite::Column value = rows.getColumn(7); !value.isNull()) {
        median.median_us = value.getDouble();
      }
      all.back().medians.push_back(std::move(median));
    }
    return all;
  });
}

}  // namespace assay
