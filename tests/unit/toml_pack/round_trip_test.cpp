// SPDX-License-Identifier: Apache-2.0
//
// `assay show --toml` prints a check that, read back, is the same check. The shipped checks are
// compared by tests/end_to_end/toml_pack_test.py; here are those that none of them is.
#include <limits>

#include "host/assay/errors.hpp"
#include "host/assay/show_toml.hpp"
#include "packs.hpp"

namespace {

using namespace assay;
using namespace assay::testing;
using nlohmann::json;

const json plugin_record{{"record", "plugin"},
                         {"status", "loaded"},
                         {"id", "acme"},
                         {"version", "1.0"},
                         {"vendor", "\"A\"cme \x7F"},
                         {"accelerator", "rocm"},
                         {"operator_libraries", {"/opt/acme ops/libx.so"}},
                         {"needs", {{{"accelerator", "rocm"}, {"free_memory_bytes", 5}}}},
                         {"categories", {{{"name", "acme"}, {"summary", "it's \"quoted\""}}}}};

json without_sources(json check) {
  check.erase("source");
  for (json* form : {&check, &check["large"]}) {
    for (const char* plan : {"plan", "reference"}) {
      if (form->is_object() && (*form)[plan].is_array()) {
        for (json& call : (*form)[plan]) {
          call.erase("source");
        }
      }
    }
  }
  return check;
}

void expect_the_same_again(const check& original) {
  registry plugin;
  plugin.category("acme", "").add(original);
  const json before = described(plugin).at(0);
  const std::string text = show_toml({&before}, {plugin_record});
  std::vector<json> after;
  ASSERT_NO_THROW(after = read_checks(text)) << text;
  ASSERT_EQ(after.size(), 1U) << text;
  EXPECT_EQ(without_sources(after[0]), without_sources(before)) << text;
}

TEST(round_trip, every_kind_of_input_and_argument) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check all("everything",
            {randn({4, 3}),
             randn({}, dtype::float64),
             uniform({2}, -0.1, 1e300, dtype::int32),
             indices({3}, 4),
             mask({4}, 1.0 / 3),
             distinct_indices({3}, 7),
             strided(randn({4, 3}), {1, 4}),
             {{0, 2}, dtype::of_check, ASSAY_FILL_INDEX, 0.0, 5.0, {}}},
            {call("aten::a", in(0), none, true, false, 1, -7, 0.1, 1e-5, 1e22, -0.0, 5e-324),
             call("a::b.c", infinity, -infinity, std::numeric_limits<std::int64_t>::min(),
                  "it's \"quoted\" \\ \n \x7F \xC3\xA9", std::string()),
             call("a::b", ints{}, ints{1, -2}, floats{}, floats{1.0, 2.5, -infinity}, bools{true},
                  bools{}, list({}), list({in(0), none, result(0, 2)})),
             call("a::b", dtype::bfloat16, dtype::of_check, device_under_test, arg("x", result(1)),
                  arg("y", "channels_last"))});
  all.dtypes({dtype::float16, dtype::float32})
      .moves(1e17, 0.125)
      .flops(3.0)
      .contracts(8, 1.5)
      .picks(1, -2)
      .path("it's", slow, runs_operator("aten::*[a-c]"))
      .path("p", acceptable, runs_kernel("\"k\"*"))
      .reference({call("a::b", in(0))})
      .needs({"rocm,cuda", "gfx9*", "2.7", "2.12.1", 1U << 30U, true})
      .summary("says 'what' it is")
      .weight(123456789012);
  check larger("everything", {randn({400, 3})}, {call("a::b", in(0), 0.1)});
  larger.exact().matrix_flops(0.0).moves(7.0);
  all.large(larger);
  expect_the_same_again(all);
}

TEST(round_trip, a_check_that_says_nothing) {
  expect_the_same_again(check("least", {}, {call("aten::rand", ints{4})}));
}

TEST(round_trip, the_head_of_the_file) {
  registry plugin;
  plugin.category("acme", "").add(check("c", {}, {call("a::b")}));
  const json record = described(plugin).at(0);
  const auto pack = worker::read_toml_pack("x", show_toml({&record}, {plugin_record}));
  ASSERT_TRUE(pack);
  EXPECT_EQ(pack->id, "acme");
  EXPECT_EQ(pack->vendor, plugin_record["vendor"]);
  EXPECT_EQ(pack->accelerator, "rocm");
  EXPECT_EQ(pack->libraries, std::vector<std::string>{"/opt/acme ops/libx.so"});
  ASSERT_EQ(pack->needs.size(), 1U);
  EXPECT_EQ(pack->needs[0].free_memory_bytes, 5U);
  EXPECT_EQ(pack->categories[0].second, "it's \"quoted\"");
}

TEST(round_trip, plugins_that_require_different_things_do_not_share_a_file) {
  registry plugin;
  plugin.category("acme", "").add(check("c", {}, {call("a::b")}));
  const json mine = described(plugin).at(0);
  json other = mine;
  other["plugin"] = "other";
  json of_other = plugin_record;
  of_other["id"] = "other";
  EXPECT_NO_THROW(show_toml({&mine, &other}, {plugin_record, of_other}));
  of_other["accelerator"] = "cuda";
  EXPECT_THROW(show_toml({&mine, &other}, {plugin_record, of_other}), usage_error);
}

}  // namespace
