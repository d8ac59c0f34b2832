// SPDX-License-Identifier: Apache-2.0
//
// Kept runs: what goes in comes out, two at once lose nothing, and each refusal is one line.
#include "host/store/run_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "host/store/packed_text.hpp"
#include "host/store/store_schema.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using access = run_store::access;

saved_run one_run(double wall_us, const std::string& torch = "2.11.0",
                  const std::string& summary = "") {
  saved_run run;
  run.summary = summary;
  run.started = "2026-11-30T12:00:00Z";
  run.environment = {{"LibTorch", torch}, {"cpu", "Some CPU"}};
  saved_check check;
  check.id = "norm/layer_norm[float32]";
  check.device = "cpu";
  check.status = "ok";
  check.verdict = "pass";
  check.path = "native";
  check.times.wall_us = wall_us;
  run.checks["cpu " + check.id] = check;
  check.id = "norm/rms_norm[float32]";
  check.status = "error";
  run.checks["cpu " + check.id] = check;
  return run;
}

std::string refusal(const std::filesystem::path& file, access how) {
  try {
    run_store store(file, how);
  } catch (const store_error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_NE(text.find(file.filename().string()), std::string::npos) << text;
    return text;
  }
  return "";
}

TEST(run_store, what_is_kept_comes_back) {
  const testing::temp_dir dir;
  const auto file = dir.path() / "new" / "runs.sqlite";
  const std::string document = "{\"record\":\"run\"}\n\xff\0rest\n";
  {
    run_store store(file, access::writing);
    EXPECT_EQ(store.save("before", one_run(10.0, "2.11.0", "Summary: one"), document).number, 1);
    EXPECT_EQ(store.save("before", one_run(11.0, "2.11.0", "Summary: two"), "two").number, 2);
    EXPECT_EQ(store.save("other", one_run(12.0, "2.12.0", "Summary: three"), "").number, 1);
  }
  const run_store store(file, access::reading);
  ASSERT_EQ(store.runs().size(), 3U);
  EXPECT_EQ(store.document(store.find("before@1")), document);
  EXPECT_EQ(store.document(store.find("before")), "two");
  EXPECT_EQ(store.document(store.find("other")), "");
  EXPECT_EQ(store.find("before").summary, "Summary: two");
  EXPECT_EQ(store.find("other").environment.front().second, "2.12.0");

  const auto series = store.series();
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].check_id, "norm/layer_norm[float32]");
  ASSERT_EQ(series[0].medians.size(), 3U);
  EXPECT_EQ(series[0].medians[1].median_us, 11.0);
  EXPECT_EQ(series[1].medians[0].status, "error");
  EXPECT_EQ(series[1].medians[0].median_us, std::nullopt);
}

TEST(run_store, a_run_is_named_by_its_number_and_a_slip_gets_a_hint) {
  const testing::temp_dir dir;
  run_store store(dir.path() / "runs.sqlite", access::writing);
  store.save("before", one_run(10.0), "one");
  const auto said = [&](const std::string& wanted) -> std::string {
    try {
      static_cast<void>(store.find(wanted));
    } catch (const store_error& error) {
      return error.what();
    }
    return "found";
  };
  EXPECT_EQ(said("before@1"), "found");
  EXPECT_NE(said("before@2").find("has no run 2"), std::string::npos);
  EXPECT_NE(said("before@x").find("must be the number"), std::string::npos);
  EXPECT_NE(said("before@0").find("must be the number"), std::string::npos);
  EXPECT_NE(said("befor").find("did you mean 'before'?"), std::string::npos);
  for (const char* good : {"a", "nightly-2.11", "A_b", "0"}) {
    EXPECT_TRUE(is_run_name(good)) << good;
  }
  for (const char* bad : {"", "a b", "a@1", "../a", "-x", ".x", "a/b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_run_name(bad)) << bad;
  }
  EXPECT_FALSE(is_run_name(std::string(65, 'a')));
}

TEST(run_store, what_is_removed_leaves_nothing_behind) {
  const testing::temp_dir dir;
  run_store store(dir.path() / "runs.sqlite", access::writing);
  store.save("before", one_run(10.0), "one");
  store.save("after", one_run(11.0), "two");
  store.remove({store.find("before")});
  ASSERT_EQ(store.runs().size(), 1U);
  EXPECT_EQ(store.series().front().medians.size(), 1U);
  EXPECT_EQ(store.document(store.find("after")), "two");
}

TEST(run_store, two_at_once_lose_nothing) {
  const testing::temp_dir dir;
  const auto file = dir.path() / "runs.sqlite";
  constexpr int each = 10;
  const auto fill = [&] {
    run_store store(file, access::writing);
    for (int i = 0; i < each; ++i) {
      store.save("nightly", one_run(10.0 + i), std::string(50'000, 'x'));
    }
  };
  std::thread one(fill);
  std::thread other(fill);
  one.join();
  other.join();
  const auto runs = run_store(file, access::reading).runs();
  ASSERT_EQ(runs.size(), 2U * each);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].number, static_cast<int>(i) + 1);
  }
}

TEST(run_store, what_is_no_store_is_refused_and_left_alone) {
  const testing::temp_dir dir;
  const auto text = dir.write("text.sqlite", std::string(5000, 'a'));
  EXPECT_NE(refusal(text, access::writing).find("no store of assay"), std::string::npos);
  EXPECT_NE(refusal(text, access::reading).find("no store of assay"), std::string::npos);
  EXPECT_NE(refusal(dir.path() / "none.sqlite", access::reading).find("no run was kept yet"),
            std::string::npos);
  EXPECT_NE(refusal(dir.make_dir("folder"), access::writing).find("is a folder"),
            std::string::npos);
  EXPECT_NE(refusal(text / "below.sqlite", access::writing).find("cannot be"), std::string::npos);

  const auto foreign = dir.path() / "foreign.sqlite";
  SQLite::Database(foreign.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE run (id INTEGER); INSERT INTO run VALUES (42)");
  EXPECT_NE(refusal(foreign, access::writing).find("another program"), std::string::npos);
  EXPECT_NE(refusal(foreign, access::reading).find("another program"), std::string::npos);
  EXPECT_EQ(SQLite::Database(foreign.string()).execAndGet("SELECT id FROM run").getInt(), 42);

  const auto newer = dir.path() / "newer.sqlite";
  { run_store(newer, access::writing); }
  SQLite::Database(newer.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  EXPECT_NE(refusal(newer, access::writing).find("use a newer assay"), std::string::npos);
}

TEST(run_store, a_damaged_file_is_one_line) {
  const testing::temp_dir dir;
  const auto file = dir.path() / "runs.sqlite";
  {
    run_store store(file, access::writing);
    store.save("before", one_run(10.0), std::string(100'000, 'x'));
  }
  const auto size = std::filesystem::file_size(file);
  {
    std::fstream damage(file, std::ios::binary | std::ios::in | std::ios::out);
    for (std::uintmax_t at = 4096; at + 200 < size; at += 512) {
      damage.seekp(static_cast<std::streamoff>(at));
      damage << std::string(200, '\x7f');
    }
  }
  std::string said;
  try {
    const run_store store(file, access::reading);
    static_cast<void>(store.document(store.find("before")));
    static_cast<void>(store.series());
  } catch (const store_error& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("damaged"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(run_store, a_packed_text_that_lies_is_refused) {
  const std::string text = std::string(1000, 'a') + "end";
  const std::string bytes = packed(text);
  EXPECT_LT(bytes.size(), 100U);
  EXPECT_EQ(unpacked(bytes, text.size()), text);
  EXPECT_EQ(unpacked(bytes, text.size() - 1), std::nullopt);
  EXPECT_EQ(unpacked(bytes, text.size() + 1), std::nullopt);
  EXPECT_EQ(unpacked(bytes, std::size_t{1} << 40U), std::nullopt);
  EXPECT_EQ(unpacked("damaged", 10), std::nullopt);
  EXPECT_EQ(unpacked(packed(""), 0), "");
}

std::string schema_of(SQLite::Database& database) {
  std::string text;
  SQLite::Statement rows(database,
                         "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY "
                         "type, name");
  while (rows.executeStep()) {
    text += rows.getColumn(0).getString() + "\n";
  }
  return text;
}

// Each version that was ever shipped has its SQL here, with a run in it, and never changes.
TEST(store_schema, every_old_version_becomes_the_newest_and_keeps_its_runs) {
  const auto folder = std::filesystem::path(ASSAY_GOLDEN_DIR) / "store";
  std::size_t versions = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    const testing::temp_dir dir;
    const auto file = dir.path() / "runs.sqlite";
    std::ifstream in(entry.path());
    std::ostringstream sql;
    sql << in.rdbuf();
    {
      SQLite::Database old(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      old.exec(sql.str());
    }
    const run_store store(file, access::reading);
    const stored_run run = store.find("before");
    EXPECT_EQ(store.document(run), "abc");
    EXPECT_EQ(run.environment.front().second, "2.10.0");
    EXPECT_EQ(store.series().front().medians.front().median_us, 12.5);
    SQLite::Database now(file.string());
    SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    migrate(fresh, store_migrations());
    EXPECT_EQ(schema_of(now), schema_of(fresh));
    ++versions;
  }
  EXPECT_EQ(versions, store_migrations().size());
}

TEST(store_schema, a_step_that_fails_leaves_the_version_before_it) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, {"CREATE TABLE a (x)"});
  database.exec("INSERT INTO a VALUES (1)");
  EXPECT_THROW(migrate(database, {"CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"}),
               SQLite::Exception);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_FALSE(database.tableExists("b"));
  migrate(database, {"CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y DEFAULT 2"});
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 2);
  EXPECT_EQ(database.execAndGet("SELECT x + y FROM a").getInt(), 3);
}

}  // namespace
}  // namespace assay
