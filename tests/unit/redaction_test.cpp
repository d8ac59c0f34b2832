// SPDX-License-Identifier: Apache-2.0
//
// What of a run's records is kept from strangers, and what must stay for them to be read again.
#include "host/assay/redaction.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/assay/reports.hpp"
#include "host/assay/serial_numbers.hpp"

namespace assay {
namespace {

using nlohmann::json;

TEST(redaction, homes_and_names) {
  const redaction names({"alice", "x", "root"}, {"buildbox", "localhost"}, {"/srv/people/alice"});
  EXPECT_EQ(names.of("/home/bob/venv/lib and /Users/carol/x"), "~/venv/lib and ~/x");
  EXPECT_EQ(names.of("C:\\Users\\Dave\\torch, D:/Users/eve/y"), "~\\torch, ~/y");
  EXPECT_EQ(names.of("/srv/people/alice/torch"), "~/torch");
  EXPECT_EQ(names.of("/root/.cache and /rootfs"), "~/.cache and /rootfs");
  EXPECT_EQ(names.of("alice@buildbox: malice stays, alice_2 does not"),
            "<user>@<host>: malice stays, <user>_2 does not");
  EXPECT_EQ(names.of("root x localhost"), "root x localhost");
  EXPECT_EQ(names.of("/opt/home/share"), "/opt/home/share");
}

TEST(redaction, homes_in_options_of_compilers_and_in_parts_of_paths) {
  const redaction names({}, {}, {"/root", "/data/al"});
  EXPECT_EQ(names.of("c++ -I/home/bob/include -L/root/lib"), "c++ -I~/include -L~/lib");
  EXPECT_EQ(names.of("/opt/rh/gcc-toolset-13/root/usr/bin"), "/opt/rh/gcc-toolset-13/root/usr/bin");
  EXPECT_EQ(names.of("/data/al/x /data/albert"), "~/x /data/albert");
}

TEST(redaction, names_that_tell_nobody) {
  const redaction names({"dev", "1000"}, {"gpu", "10.0"}, {});
  EXPECT_EQ(names.of("/dev/kfd of gpu 10.0, 1000 times"), "/dev/kfd of gpu 10.0, 1000 times");
}

TEST(redaction, the_longer_name_first) {
  const redaction names({}, {"node7", "node7.cluster.example"}, {});
  EXPECT_EQ(names.of("node7.cluster.example and node7"), "<host> and <host>");
}

TEST(serials, what_tells_one_machine) {
  for (const auto& [text, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Serial Number: 1650522003820", "Serial Number: <serial>"},
           {"serial=ABC-1234 next", "serial=<serial> next"},
           {"SERIAL_NO='X99812'", "SERIAL_NO='<serial>'"},
           {"link/ether 52:54:00:ab:cd:ef brd", "link/ether <serial> brd"},
           {"GPU-8f6ec2a1-1111-2222-3333-444455556666,1", "GPU-<serial>,1"},
           {"ROCR_VISIBLE_DEVICES=GPU-4f2d8a91c07b33e5", "ROCR_VISIBLE_DEVICES=GPU-<serial>"},
           {"id 123e4567-e89b-12d3-a456-426614174000.", "id <serial>."}}) {
    EXPECT_EQ(without_serials(text), expected);
  }
}

TEST(serials, what_does_not) {
  for (const char* text :
       {"AMD_SERIALIZE_KERNEL=1", "serial number", "serial: none", "0000:03:00.0", "12:34:56",
        "GPU-0", "GPU-XX", "sha256 123e4567e89b12d3a456426614174000", "::std::make_pair<a, b>",
        "git 70d99e998b4955e0049d13a98d77ae1b14db1f45", "serialised 12345 bytes", ""}) {
    EXPECT_EQ(without_serials(text), text);
  }
}

// Names that are also words of a record: identifiers stay, or nobody could read the file again.
TEST(records, identifiers_stay) {
  const redaction names({"conv2d", "loaded", "flash", "result"}, {"conv", "miopen"}, {"/data/me"});
  const json record{{"record", "result"},
                    {"id", "conv/conv2d[float32]"},
                    {"category", "conv"},
                    {"name", "conv2d"},
                    {"dtype", "float32"},
                    {"device", "cuda:0"},
                    {"stderr", "conv2d at conv: /data/me/db"},
                    {"warnings", {{{"text", "by conv2d"}, {"count", 1}}}},
                    {"verdict", {{"path", "flash"}, {"why", "miopen says flash"}}},
                    {"ids", {"conv/*"}},
                    {"timing", nullptr}};
  const json seen = names.of_record(record);
  for (const char* member :
       {"record", "id", "category", "name", "dtype", "device", "ids", "timing"}) {
    EXPECT_EQ(seen.at(member), record.at(member)) << member;
  }
  EXPECT_EQ(seen.at("stderr"), "<user> at <host>: ~/db");
  EXPECT_EQ(seen.at("warnings")[0].at("text"), "by <user>");
  EXPECT_EQ(seen.at("verdict").at("path"), "flash");
  EXPECT_EQ(seen.at("verdict").at("why"), "<host> says <user>");
}

TEST(records, a_device_has_a_name_and_no_identifier) {
  const redaction names({"alice"}, {});
  EXPECT_EQ(names.of_record({{"name", "alice's GPU"}}).at("name"), "<user>'s GPU");
}

TEST(records, what_stands_behind_gets_them_so) {
  struct last_record final : record_sink {
    explicit last_record(json& into) : seen(into) {}
    void on_record(const json& record) override { seen = record; }
    json& seen;
  };
  json seen;
  const auto sink = make_redacted(std::make_unique<last_record>(seen), redaction({"alice"}, {}));
  sink->on_record({{"record", "worker"}, {"reason", "alice ended it"}});
  EXPECT_EQ(seen, json({{"record", "worker"}, {"reason", "<user> ended it"}}));
}

}  // namespace
}  // namespace assay
