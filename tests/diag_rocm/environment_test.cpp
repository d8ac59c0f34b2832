// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "asked.hpp"
#include "environment_rules.hpp"
#include "probes.hpp"

namespace diag_rocm::testing {

namespace {

using assay::probe_state;

assay::probe_answer with(const environment& variables, const std::string& more = "") {
  const made_machine m("like rx6650xt\n" + more);
  return m.ask(make_environment(given(variables)));
}

std::string code_of(const std::string& name, const std::string& value) {
  const auto answer = with({{name, value}});
  return answer.findings.empty() ? "" : answer.findings.front();
}

TEST(variables, that_slow) {
  for (const auto& [name, value] :
       {std::pair("AMD_LOG_LEVEL", "3"), std::pair("AMD_SERIALIZE_KERNEL", "3"),
        std::pair("AMD_SERIALIZE_COPY", "1"), std::pair("HIP_LAUNCH_BLOCKING", "1"),
        std::pair("ROC_GLOBAL_CU_MASK", "0xff"), std::pair("HSA_ENABLE_SDMA", "0"),
        std::pair("PYTORCH_NO_HIP_MEMORY_CACHING", "1"), std::pair("MIOPEN_FIND_ENFORCE", "search"),
        std::pair("MIOPEN_FIND_ENFORCE", "4"), std::pair("MIOPEN_DISABLE_CACHE", "1"),
        std::pair("MIOPEN_CHECK_NUMERICS", "0x1"), std::pair("ROCBLAS_LAYER", "3"),
        std::pair("HIPBLASLT_LOG_MASK", "32"), std::pair("NCCL_P2P_DISABLE", "1")}) {
    EXPECT_EQ(code_of(name, value), "ROCM-ENVIRONMENT-SLOW") << name;
  }
}

TEST(variables, that_change_results) {
  for (const auto& [name, value] :
       {std::pair("MIOPEN_DEBUG_CONV_WINOGRAD", "0"), std::pair("PYTORCH_TUNABLEOP_ENABLED", "1"),
        std::pair("HIPRTC_COMPILE_OPTIONS_APPEND", "-I/usr/include"),
        std::pair("ROCBLAS_INTERNAL_FP16_ALT_IMPL", "1")}) {
    EXPECT_EQ(code_of(name, value), "ROCM-ENVIRONMENT-RESULTS") << name;
  }
  EXPECT_EQ(code_of("MIOPEN_FIND_ENFORCE", "5"), "ROCM-ENVIRONMENT-DELETES");
  EXPECT_EQ(code_of("MIOPEN_FIND_ENFORCE", "DB_CLEAN"), "ROCM-ENVIRONMENT-DELETES");
}

TEST(variables, that_break) {
  for (const auto& [name, value] :
       {std::pair("ROCM_PATH", "/opt/rocm"), std::pair("MIOPEN_ENABLE_LOGGING", "2"),
        std::pair("MIOPEN_DEBUG_CONV_GEMM", "no, thanks"),
        std::pair("ROCBLAS_TENSILE_LIBPATH", "/nowhere"),
        std::pair("HIPRTC_COMPILE_OPTIONS_APPEND", "-O2 -nostdinc++"),
        std::pair("HIPRTC_COMPILE_OPTIONS_APPEND", "--gcc-toolchain=/nonexistent")}) {
    EXPECT_EQ(code_of(name, value), "ROCM-ENVIRONMENT-BROKEN") << name;
  }
  EXPECT_EQ(code_of("TMPDIR", "/nowhere"), "ROCM-HIPRTC-TMPDIR");
}

TEST(variables, that_are_well) {
  for (const auto& [name, value] :
       {std::pair("AMD_LOG_LEVEL", "0"), std::pair("AMD_SERIALIZE_KERNEL", "0"),
        std::pair("HSA_ENABLE_SDMA", "1"), std::pair("MIOPEN_FIND_ENFORCE", "NONE"),
        std::pair("MIOPEN_ENABLE_LOGGING", "off"), std::pair("MIOPEN_DEBUG_CONV_GEMM", "1"),
        std::pair("MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_FWD_ALGO", "7"),
        std::pair("PYTORCH_TUNABLEOP_ENABLED", "0"), std::pair("ROCM_PATH", "/etc"),
        std::pair("AMD_LOG_LEVEL", "high"), std::pair("CUDA_LAUNCH_BLOCKING", "0"),
        std::pair("TMPDIR", "")}) {
    const auto answer = with({{name, value}});
    EXPECT_EQ(answer.state, probe_state::yes) << name << ": " << answer.fact;
    EXPECT_TRUE(answer.findings.empty()) << name;
  }
}

TEST(variables, of_the_allocator_conflict_only_when_they_differ) {
  const auto two = [](const char* first, const char* second) {
    return with({{"PYTORCH_HIP_ALLOC_CONF", first}, {"PYTORCH_ALLOC_CONF", second}});
  };
  EXPECT_TRUE(two("a:1", "a:1").findings.empty());
  EXPECT_TRUE(finds(two("a:1", "a:2"), "ROCM-ENVIRONMENT-CONFLICT"));
  EXPECT_TRUE(says(two("a:1", "a:2"), "PYTORCH_HIP_ALLOC_CONF wins")) << two("a:1", "a:2").fact;
}

TEST(variables, that_are_not_read_do_no_harm) {
  const auto answer = with({{"CUDA_LAUNCH_BLOCKING", "1"}, {"TORCH_BLAS_PREFER_HIPBLASLT", "1"}});
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_EQ(answer.findings, std::vector<std::string>{"ROCM-ENVIRONMENT-IGNORED"});
  EXPECT_TRUE(says(answer, "hipBLASLt is not made for gfx1032")) << answer.fact;
}

TEST(variables, are_named_gravest_first_and_not_all) {
  const auto answer = with({{"AMD_LOG_LEVEL", "4"},
                            {"HSA_ENABLE_SDMA", "0"},
                            {"MIOPEN_DISABLE_CACHE", "perhaps"},
                            {"ROCBLAS_LAYER", "1"},
                            {"PYTORCH_TUNABLEOP_ENABLED", "1"},
                            {"ROCM_PATH", "/nowhere"}});
  EXPECT_EQ(answer.fact.rfind("MIOPEN_DISABLE_CACHE=perhaps", 0), 0U) << answer.fact;
  EXPECT_TRUE(says(answer, "and 2 more")) << answer.fact;
  EXPECT_EQ(answer.evidence.size(), 6U);
}

TEST(variables, that_were_found_are_to_be_unset_and_no_others) {
  const auto answer = with({{"AMD_LOG_LEVEL", "4"},
                            {"HSA_ENABLE_SDMA", "0"},
                            {"AMD_SERIALIZE_KERNEL", "0"},
                            {"CUDA_LAUNCH_BLOCKING", "1"},
                            {"PYTORCH_HIP_ALLOC_CONF", "a:1"},
                            {"PYTORCH_ALLOC_CONF", "a:2"},
                            {"TMPDIR", "/nowhere"},
                            {"MIOPEN_ENABLE_LOGGING", "perhaps"}});
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-ENVIRONMENT-SLOW"),
            "$ unset AMD_LOG_LEVEL HSA_ENABLE_SDMA");
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-ENVIRONMENT-BROKEN"),
            "$ unset MIOPEN_ENABLE_LOGGING");
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-ENVIRONMENT-IGNORED"),
            "$ unset CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-ENVIRONMENT-CONFLICT"),
            "$ unset PYTORCH_ALLOC_CONF");
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-HIPRTC-TMPDIR"), "");
}

TEST(variables, each_finding_has_its_own_lines) {
  const auto answer =
      with({{"AMD_LOG_LEVEL", "4"}, {"ROCBLAS_LAYER", "1"}, {"MIOPEN_FIND_ENFORCE", "DB_CLEAN"}});
  EXPECT_EQ(answer.evidence.size(), 3U);
  EXPECT_EQ(value_in(answer, "evidence.ROCM-ENVIRONMENT-DELETES"),
            "MIOPEN_FIND_ENFORCE=DB_CLEAN deletes the user's tuning data of MIOpen");
  const std::string slow = value_in(answer, "evidence.ROCM-ENVIRONMENT-SLOW");
  EXPECT_EQ(std::count(slow.begin(), slow.end(), '\n'), 1) << slow;
  EXPECT_EQ(value_in(answer, "fact.ROCM-ENVIRONMENT-SLOW").find("MIOPEN"), std::string::npos);
  EXPECT_EQ(value_in(with({{"AMD_LOG_LEVEL", "4"}}), "evidence.ROCM-ENVIRONMENT-SLOW"), "");
}

TEST(variables, are_not_judged_without_an_amd_gpu) {
  const made_machine m("like linux\n");
  const auto answer = m.ask(make_environment(given({{"CUDA_LAUNCH_BLOCKING", "1"}})));
  EXPECT_EQ(answer.state, probe_state::unknown);
}

TEST(environment_file, stands_for_the_environment_of_another_machine) {
  const made_machine m("/environment\n| ONE=1\n| EMPTY=\n| no assignment\n| TWO=a=b\n");
  const environment read = environment_of(m.site());
  EXPECT_EQ(read, (environment{{"ONE", "1"}, {"EMPTY", ""}, {"TWO", "a=b"}}));
}

TEST(rccl, settings_in_files_are_shown) {
  const auto answer = with({{"HOME", "/home/kim"}}, "/home/kim/.rccl.conf = NCCL_DEBUG=INFO\n");
  ASSERT_EQ(answer.values.size(), 1U);
  EXPECT_EQ(answer.values[0].second, "/home/kim/.rccl.conf");
}

}  // namespace

}  // namespace diag_rocm::testing
