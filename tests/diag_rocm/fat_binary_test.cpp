// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/dll/shared_library.hpp>

#include "diag_rocm/fat_binary.hpp"
#include "diag_rocm/torch_targets.hpp"
#include "library_tree.hpp"

namespace {

using assay::probe_state;
using diag_rocm::bundle_target;
using diag_rocm::read_fat_binary;
using diag_rocm::testing::findings;
using diag_rocm::testing::library_tree;
using diag_rocm::testing::value_named;

using names = std::vector<std::string>;

constexpr const char* library = "/py/torch/lib/libtorch_hip.so";

std::string padded(std::string text) {
  text.resize((text.size() + 4095) / 4096 * 4096, '\0');
  return text;
}

/// An offload bundle: the host's empty part and one for each architecture.
std::string bundle(const names& architectures) {
  names ids{"host-x86_64-unknown-linux-gnu-"};
  for (const std::string& name : architectures) {
    ids.push_back("hipv4-amdgcn-amd-amdhsa--" + name);
  }
  std::string table = "__CLANG_OFFLOAD_BUNDLE__";
  test::put(table, ids.size(), 8);
  std::uint64_t offset = 4096;
  for (const std::string& id : ids) {
    const std::uint64_t size = id.starts_with("host") ? 0 : 5000;
    test::put(table, offset, 8);
    test::put(table, size, 8);
    test::put(table, id.size(), 8);
    table += id;
    offset += size;
  }
  table.resize(offset, 'k');
  return table;
}

/// Compressed by the machine's libzstd; empty where it has none.
std::string compressed(const std::string& text, unsigned version) {
  boost::dll::fs::error_code failed;
  const boost::dll::shared_library zstd("libzstd.so.1",
                                        boost::dll::load_mode::search_system_folders, failed);
  if (failed) {
    return {};
  }
  std::string payload(text.size() + 1024, '\0');
  payload.resize(zstd.get<std::size_t(void*, std::size_t, const void*, std::size_t, int)>(
      "ZSTD_compress")(payload.data(), payload.size(), text.data(), text.size(), 3));
  std::string whole = "CCOB";
  test::put(whole, version, 2);
  test::put(whole, 1, 2);
  const unsigned width = version == 3 ? 8 : 4;
  const std::size_t header = version == 3 ? 32 : version == 2 ? 24 : 20;
  if (version > 1) {
    test::put(whole, header + payload.size(), width);
  }
  test::put(whole, text.size(), width);
  test::put(whole, 0x1234, 8);
  return whole + payload;
}

test::fake_elf with_code(const std::string& code) {
  test::fake_elf elf;
  elf.sections = {{".text", "xyz"}, {".hip_fatbin", code}};
  return elf;
}

assay::probe_answer ask(const library_tree& tree) {
  return diag_rocm::make_torch_targets(tree.source())->look(tree.site());
}

TEST(fat_binary, names_of_entries) {
  EXPECT_EQ(bundle_target("hipv4-amdgcn-amd-amdhsa--gfx1030"), "gfx1030");
  EXPECT_EQ(bundle_target("hip-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-"), "gfx90a:xnack-");
  EXPECT_EQ(bundle_target("hipv4-amdgcn-amd-amdhsa--gfx10-3-generic"), "gfx10-3-generic");
  EXPECT_EQ(bundle_target("hip-spirv64-amd-amdhsa--amdgcnspirv"), "amdgcnspirv");
  EXPECT_EQ(bundle_target("host-x86_64-unknown-linux-gnu-"), "");
}

TEST(fat_binary, plain_bundles) {
  const library_tree tree;
  tree.write(library, with_code(padded(bundle({"gfx1030", "gfx90a:xnack-"})) +
                                padded(bundle({"gfx1030"})) + bundle({"gfx1030"})));
  const auto found = read_fat_binary(tree.at(library));
  EXPECT_EQ(found.bundles, 3U);
  EXPECT_EQ(found.unread, 0U);
  EXPECT_EQ(found.target_list(), "gfx1030, gfx90a:xnack-");
  EXPECT_EQ(found.targets.at("gfx1030"), 3U);
}

TEST(fat_binary, compressed_bundles) {
  const std::string code = bundle({"gfx1030", "gfx1100"});
  if (compressed(code, 3).empty()) {
    GTEST_SKIP() << "there is no libzstd.so.1 here";
  }
  for (const unsigned version : {1U, 2U, 3U}) {
    const library_tree tree;
    tree.write(library, with_code(padded(compressed(code, version)) + compressed(code, version)));
    const auto found = read_fat_binary(tree.at(library));
    EXPECT_EQ(found.bundles, version == 1 ? 1U : 2U) << "version " << version;
    EXPECT_EQ(found.unread, 0U) << found.problem;
    EXPECT_EQ(found.target_list(), "gfx1030, gfx1100");
  }
}

TEST(fat_binary, what_cannot_be_read_is_said) {
  const auto problem = [](const std::string& code) {
    const library_tree tree;
    tree.write(library, with_code(code));
    const auto found = read_fat_binary(tree.at(library));
    EXPECT_EQ(found.bundles, 0U);
    EXPECT_GT(found.unread, 0U);
    return found.problem;
  };
  std::string zlib = "CCOB";
  test::put(zlib, 2, 2);
  test::put(zlib, 0, 2);
  test::put(zlib, 100, 4);
  zlib.resize(100, 'z');
  EXPECT_NE(problem(zlib).find("zlib"), std::string::npos);
  zlib[4] = 9;
  EXPECT_NE(problem(zlib).find("version 9"), std::string::npos);
  EXPECT_NE(problem("not a bundle at all").find("no offload bundle"), std::string::npos);
  EXPECT_NE(problem(bundle({"gfx1030"}).substr(0, 60)).find("damaged"), std::string::npos);
  std::string many = "__CLANG_OFFLOAD_BUNDLE__";
  test::put(many, 1U << 30U, 8);
  EXPECT_NE(problem(many).find("damaged"), std::string::npos);
  EXPECT_NE(problem("CCOB").find("cut off"), std::string::npos);
}

TEST(fat_binary, an_empty_section_and_none) {
  const library_tree tree;
  tree.write(library, with_code(std::string(64 << 10, '\0')));
  EXPECT_TRUE(read_fat_binary(tree.at(library)).has_code);
  EXPECT_EQ(read_fat_binary(tree.at(library)).bundles, 0U);
  tree.write(library, test::fake_elf{});
  EXPECT_FALSE(read_fat_binary(tree.at(library)).has_code);
  tree.write(library, "MZ but too short");
  EXPECT_THROW(read_fat_binary(tree.at(library)), std::runtime_error);
  tree.write(library, "neither");
  EXPECT_THROW(read_fat_binary(tree.at(library)), std::runtime_error);
}

TEST(fat_binary, a_dll) {
  const std::string code = bundle({"gfx1032"});
  std::string dll = "MZ";
  dll.resize(0x3c, '\0');
  test::put(dll, 0x80, 4);
  dll.resize(0x80, '\0');
  dll += std::string("PE\0\0", 4);
  test::put(dll, 0x8664, 2);
  test::put(dll, 2, 2);  // sections
  test::put(dll, 0, 12);
  test::put(dll, 16, 2);  // size of the optional header
  test::put(dll, 0, 2);
  dll.resize(dll.size() + 16, '\0');
  for (const auto& [name, size, offset] :
       {std::tuple{std::string(".text\0\0\0", 8), 0x10U, 0x400U},
        {std::string(".hip_fat", 8), static_cast<unsigned>(code.size()), 0x1000U}}) {
    dll += name;
    test::put(dll, 0, 8);
    test::put(dll, size, 4);
    test::put(dll, offset, 4);
    test::put(dll, 0, 16);
  }
  dll.resize(0x1000, '\0');
  const library_tree tree;
  tree.write("/py/torch/lib/torch_hip.dll", dll + code);
  const auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(value_named(answer, "targets"), "gfx1032");
}

TEST(torch_targets, covered_and_uncovered) {
  library_tree tree;
  tree.write(library, with_code(bundle({"gfx1030", "gfx1100"})));
  const auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_EQ(answer.findings, findings{"ROCM-NO-CODE-FOR-GPU"});
  EXPECT_NE(answer.fact.find("gfx1030, gfx1100"), std::string::npos) << answer.fact;
  tree.site().architecture = "gfx1100";
  EXPECT_EQ(ask(tree).state, probe_state::yes);
}

TEST(torch_targets, generic_code_and_features) {
  library_tree tree;
  tree.write(library, with_code(bundle({"gfx10-3-generic", "gfx90a:xnack-"})));
  EXPECT_EQ(ask(tree).state, probe_state::yes);
  EXPECT_NE(ask(tree).fact.find("by gfx10-3-generic"), std::string::npos);
  tree.site().architecture = "gfx90a:sramecc+:xnack-";
  EXPECT_EQ(ask(tree).state, probe_state::yes);
  tree.site().architecture = "gfx90a:sramecc+:xnack+";
  EXPECT_EQ(ask(tree).state, probe_state::no);
}

TEST(torch_targets, an_override_decides_what_the_runtime_looks_for) {
  library_tree tree("");
  tree.write(library, with_code(bundle({"gfx1030"})));
  const std::string node = "/sys/class/kfd/kfd/topology/nodes/1/";
  tree.write(node + "gpu_id", "77\n");
  tree.write(node + "properties", "simd_count 64\ngfx_target_version 100302\n");
  EXPECT_EQ(ask(tree).state, probe_state::no);
  tree.variables["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0";
  EXPECT_EQ(ask(tree).state, probe_state::yes);
}

TEST(torch_targets, parts_that_cannot_be_read_may_hold_it) {
  std::string unknown = "CCOB";
  test::put(unknown, 9, 2);
  test::put(unknown, 1, 2);
  unknown.resize(100, 'u');
  library_tree tree;
  tree.write(library, with_code(padded(bundle({"gfx1030"})) + unknown));
  const auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::unknown) << answer.fact;
  EXPECT_EQ(answer.findings, findings{});
  EXPECT_NE(answer.fact.find("1 of 2 parts"), std::string::npos) << answer.fact;
}

TEST(torch_targets, kpack_files) {
  library_tree tree;
  test::fake_elf elf;
  elf.sections = {{".hip_fatbin", std::string(4096, '\0')}, {".rocm_kpack_ref", "\x82..."}};
  tree.write(library, elf);
  tree.write("/py/torch/.kpack/torch_gfx1100.kpack");
  auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_EQ(answer.findings, findings{"ROCM-KPACK-MISSING"});
  tree.write("/py/torch/.kpack/torch_gfx1032.kpack");
  answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
}

TEST(torch_targets, other_builds) {
  library_tree tree;
  EXPECT_EQ(ask(tree).state, probe_state::unknown);
  tree.write(library, "damaged");
  EXPECT_EQ(ask(tree).state, probe_state::unknown);
  tree.write(library, test::fake_elf{});
  EXPECT_EQ(ask(tree).state, probe_state::unknown);
  tree.site().torch_dir.clear();
  EXPECT_EQ(ask(tree).state, probe_state::unknown);
}

}  // namespace
