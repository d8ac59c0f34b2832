// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "verdict_fixture.hpp"

namespace assay {
namespace {

using namespace testing_support;

TEST_F(verdict_test, a_clean_run_passes_every_link) {
  const json verdict = judged();
  EXPECT_EQ(verdict["verdict"], "pass") << verdict.dump(1);
  EXPECT_EQ(verdict["headline"], "");
  EXPECT_EQ(verdict["path"], "native");
  EXPECT_EQ(verdict["bound"], "memory");
  EXPECT_EQ(verdict["ceiling"], "copy bandwidth");
  EXPECT_DOUBLE_EQ(verdict["gb_per_s"], 2500.0);
  EXPECT_DOUBLE_EQ(verdict["percent"], 62.5);
  EXPECT_NEAR(verdict["datasheet_percent"], 100.0 * 2500.0 / 960.0, 1e-9);
  EXPECT_TRUE(verdict["tflop_per_s"].is_null());
  EXPECT_TRUE(verdict["speed_up"].is_null());
}

TEST_F(verdict_test, the_verdict_is_the_worst_link) {
  evidence()["trace"] = {{"state", "unknown"}, {"why", "not looked at"}};
  EXPECT_EQ(judged()["verdict"], "unknown");
  EXPECT_HAS(judged()["headline"].get<std::string>(), "no_fallback unknown: not looked at");
  evidence()["correct"]["outputs"][0]["normalised_error"] = 0.5;
  EXPECT_EQ(judged()["verdict"], "fail");
  EXPECT_HAS(judged()["headline"].get<std::string>(), "not right: error 0.5");
}

TEST_F(verdict_test, without_evidence_nothing_is_claimed) {
  gathered_ = nullptr;
  const json verdict = judged();
  EXPECT_EQ(verdict["verdict"], "unknown");
  EXPECT_EQ(verdict["links"]["ran"]["state"], "pass");
  EXPECT_EQ(verdict["links"]["on_device"]["state"], "pass");
  EXPECT_HAS(verdict["links"]["on_device"]["why"].get<std::string>(), "not known to be right");
  for (const char* link : {"no_fallback", "correct", "path"}) {
    EXPECT_EQ(verdict["links"][link]["state"], "unknown") << link;
    EXPECT_EQ(verdict["links"][link]["why"], "no evidence was gathered") << link;
  }
}

// ---- ran

TEST_F(verdict_test, what_did_not_run_fails_and_the_rest_is_unknown) {
  for (const char* status : {"error", "crash", "timeout"}) {
    result_.update(
        {{"status", status},
         {"error", {{"type", "x"}, {"message", "it broke\nin two lines"}, {"trace", nullptr}}},
         {"outputs", json::array()},
         {"timing", nullptr}});
    gathered_ = nullptr;
    const json verdict = judged();
    EXPECT_EQ(verdict["verdict"], "fail") << status;
    EXPECT_EQ(verdict["links"]["ran"]["why"], "it broke");
    for (const char* link : {"on_device", "no_fallback", "correct", "path", "speed"}) {
      EXPECT_EQ(verdict["links"][link]["state"], "unknown");
      EXPECT_EQ(verdict["links"][link]["why"], "it did not run to the end");
    }
    EXPECT_EQ(verdict["headline"], "did not run: it broke");
  }
}

TEST_F(verdict_test, what_was_skipped_is_unknown) {
  result_.update({{"status", "skipped"},
                  {"error", {{"type", "x"}, {"message", "no such operator"}, {"trace", nullptr}}},
                  {"outputs", json::array()}});
  gathered_ = nullptr;
  EXPECT_EQ(judged()["verdict"], "unknown");
  EXPECT_EQ(why_of("ran"), "skipped: no such operator");
  EXPECT_EQ(why_of("speed"), "skipped: no such operator");
}

TEST_F(verdict_test, a_second_run_that_fails_is_told_from_evidence_that_does) {
  gathered_.update({{"status", "crash"},
                    {"phase", "first_call"},
                    {"evidence", nullptr},
                    {"error", {{"type", "crash"}, {"message", "SIGSEGV"}, {"trace", nullptr}}}});
  EXPECT_EQ(state_of("ran"), "fail");
  EXPECT_HAS(why_of("ran"), "failed when it was run again for its evidence: SIGSEGV");
  gathered_["phase"] = "evidence";
  EXPECT_EQ(state_of("ran"), "pass");
  EXPECT_EQ(state_of("correct"), "unknown");
  EXPECT_HAS(why_of("correct"), "did not come to its end: SIGSEGV");
  gathered_ = {{"why", "no worker could be started again"}};
  EXPECT_EQ(state_of("ran"), "pass");
  EXPECT_EQ(why_of("no_fallback"), "no worker could be started again");
}

// ---- on_device

TEST_F(verdict_test, an_output_elsewhere_fails) {
  result_["outputs"][0]["device"] = "cpu";
  EXPECT_EQ(state_of("on_device"), "fail");
  EXPECT_EQ(why_of("on_device"), "output 0 on cpu, not on cuda:0");
}

TEST_F(verdict_test, outputs_are_as_the_references) {
  json& output = evidence()["correct"]["outputs"][0];
  output["expected"] = {{"shape", {3, 2}}, {"dtype", "float32"}, {"strides", {1, 3}}};
  output["layout_as_reference"] = false;
  EXPECT_EQ(state_of("on_device"), "pass");  // said, and no fault
  EXPECT_HAS(why_of("on_device"), "another layout than the reference, whose strides are [1,3]");
  output["dtype_as_reference"] = false;
  EXPECT_EQ(state_of("on_device"), "fail");
  EXPECT_HAS(why_of("on_device"), "another dtype than the reference's float32");
  output["dtype_as_reference"] = true;
  output["shape_as_reference"] = false;
  EXPECT_EQ(state_of("on_device"), "fail");
  EXPECT_EQ(why_of("on_device"), "output 0 has another shape than the reference's [3,2]");
  output = compared({{"device_as_asked", false}});
  EXPECT_EQ(state_of("on_device"), "fail");
}

TEST_F(verdict_test, without_outputs_the_device_is_unknown) {
  result_["outputs"] = json::array();
  EXPECT_EQ(state_of("on_device"), "unknown");
}

TEST_F(verdict_test, without_a_reference_the_device_still_counts) {
  evidence()["correct"] = {{"state", "unknown"}, {"why", "the reference did not run: x"}};
  EXPECT_EQ(state_of("on_device"), "pass");
  EXPECT_HAS(why_of("on_device"), "the reference did not run: x");
  EXPECT_EQ(state_of("correct"), "unknown");
}

// ---- no_fallback

TEST_F(verdict_test, host_round_trips_fail) {
  json& ops = evidence()["trace"]["ops"];
  ops.push_back(traced("aten::_to_copy", 1,
                       {{"crosses", true},
                        {"crossing_elements", 4096},
                        {"cpu_elements", 4096},
                        {"devices", {"cpu", "cuda:0"}}}));
  EXPECT_EQ(state_of("no_fallback"), "fail");
  EXPECT_EQ(
      why_of("no_fallback"),
      "aten::_to_copy moved 4096 elements between the device and the host, inside aten::gelu");
  EXPECT_HAS(judged()["headline"].get<std::string>(), "fell back: aten::_to_copy");
  ops[1] = traced("aten::sort", 1, {{"cpu_elements", 9}, {"devices", {"cpu"}}});
  EXPECT_EQ(why_of("no_fallback"),
            "aten::sort worked on 9 elements in the host's memory, inside aten::gelu");
  ops[1] = traced("aten::sort", 1, {{"kernel", "fallback"}});
  EXPECT_HAS(why_of("no_fallback"), "aten::sort has no kernel for this device");
  EXPECT_EQ(state_of("no_fallback"), "fail");
}

TEST_F(verdict_test, a_boxed_kernel_that_goes_by_the_host_is_the_cpu_fallback) {
  json& ops = evidence()["trace"]["ops"];
  ops[0]["kernel"] = "boxed";
  ops.push_back(traced("aten::_to_cpu", 1,
                       {{"crosses", true}, {"crossing_elements", 64}, {"cpu_elements", 64}}));
  ops.push_back(traced("aten::mkldnn_gelu", 1, {{"cpu_elements", 64}, {"devices", {"cpu"}}}));
  EXPECT_EQ(why_of("no_fallback"),
            "aten::gelu is served by the boxed CPU fallback: aten::_to_cpu "
            "moved 64 elements between the device and the host");
  check_["paths"] = {{{"name", "mkldnn"},
                      {"grade", "fast"},
                      {"source", "operator"},
                      {"pattern", "aten::mkldnn*"}}};
  EXPECT_EQ(state_of("path"), "unknown");
  EXPECT_EQ(judged()["path"], "cpu");
  ops.erase(2);  // data went there, and nothing says that it was worked on
  EXPECT_EQ(state_of("path"), "unknown");
  EXPECT_TRUE(judged()["path"].is_null());
}

TEST_F(verdict_test, scalar_reads_are_named_and_pass) {
  evidence()["trace"]["ops"].push_back(traced("aten::_local_scalar_dense", 1));
  evidence()["profiler"]["copies"] = {
      {{"kind", "DtoH"}, {"count", 1.0}, {"bytes", 8.0}, {"us", 1.0}}};
  EXPECT_EQ(state_of("no_fallback"), "pass");
  EXPECT_HAS(why_of("no_fallback"), "only scalars");
  EXPECT_HAS(why_of("no_fallback"), "aten::_local_scalar_dense");
  evidence()["trace"]["ops"][1] =
      traced("aten::_to_copy", 1, {{"crosses", true}, {"crossing_elements", 8}});
  EXPECT_EQ(state_of("no_fallback"), "pass");
}

TEST_F(verdict_test, copies_that_only_the_profiler_sees) {
  json& copies = evidence()["profiler"]["copies"];
  copies = {{{"kind", "HtoD"}, {"count", 1.0}, {"bytes", 40.0}, {"us", 1.0}},
            {{"kind", "DtoH"}, {"count", 1.0}, {"bytes", 40.0}, {"us", 1.0}}};
  EXPECT_EQ(state_of("no_fallback"), "fail");
  EXPECT_HAS(why_of("no_fallback"),
             "80 bytes a call copied between device and host (HtoD and DtoH)");
  copies.erase(0);
  EXPECT_EQ(state_of("no_fallback"), "pass");
  EXPECT_HAS(why_of("no_fallback"), "only 40 bytes");
  copies[0]["bytes"] = nullptr;
  EXPECT_EQ(state_of("no_fallback"), "unknown");
  EXPECT_HAS(why_of("no_fallback"), "not how large");
  copies[0] = {{"kind", "DtoD"}, {"count", 1.0}, {"bytes", 1e6}, {"us", 1.0}};
  EXPECT_EQ(state_of("no_fallback"), "pass");
}

TEST_F(verdict_test, no_kernel_is_a_fail_but_for_views_and_empty_outputs) {
  evidence()["profiler"] = profiler_of(0.0, 0.0);
  evidence()["profiler"]["kernels"] = json::array();
  EXPECT_EQ(state_of("no_fallback"), "fail");
  EXPECT_EQ(why_of("no_fallback"), "no kernel ran on the device");
  evidence()["trace"]["ops"] = json::array({traced("aten::transpose.int"), traced("aten::view")});
  EXPECT_EQ(state_of("no_fallback"), "pass");
  evidence()["trace"]["ops"] = json::array({traced("aten::gelu")});
  result_["outputs"][0]["shape"] = {0, 3};
  EXPECT_EQ(state_of("no_fallback"), "pass");
  result_["outputs"][0]["shape"] = {2, 3};
  evidence()["profiler"]["memset_us"] = 2.0;  // zeros() is one
  EXPECT_EQ(state_of("no_fallback"), "pass");
}

TEST_F(verdict_test, what_was_not_seen_is_at_best_unknown) {
  evidence()["profiler"] = {{"state", "unknown"}, {"why", "no permission"}};
  EXPECT_EQ(state_of("no_fallback"), "unknown");
  EXPECT_EQ(why_of("no_fallback"), "no permission");
  evidence()["trace"]["ops"][0]["kernel"] = "boxed";
  EXPECT_EQ(state_of("no_fallback"), "warn");
  EXPECT_HAS(why_of("no_fallback"), "boxed kernel, as a fallback is");
  evidence()["trace"]["ops"][0]["cpu_elements"] = 100;
  EXPECT_EQ(state_of("no_fallback"), "fail");
  evidence() = evidence_of({{"trace", {{"state", "unknown"}, {"why", "no trace"}}}});
  EXPECT_EQ(state_of("no_fallback"), "unknown");
  EXPECT_EQ(why_of("no_fallback"), "no trace");
  evidence()["profiler"]["kernel_count"] = 0.0;
  EXPECT_EQ(state_of("no_fallback"), "unknown");
  evidence() = evidence_of();
  evidence()["trace"]["left_out"] = 10;
  EXPECT_EQ(state_of("no_fallback"), "unknown");
}

TEST_F(verdict_test, a_boxed_kernel_is_innocent_where_the_device_worked) {
  evidence()["trace"]["ops"][0]["kernel"] = "boxed";
  EXPECT_EQ(state_of("no_fallback"), "pass");
  EXPECT_EQ(state_of("path"), "pass");
}

TEST_F(verdict_test, on_the_cpu_nothing_may_lie_elsewhere) {
  on_the_cpu();
  EXPECT_EQ(judged()["verdict"], "pass") << judged().dump(1);
  evidence()["trace"]["ops"][0]["devices"] = {"cpu", "cuda:0"};
  EXPECT_EQ(state_of("no_fallback"), "fail");
  EXPECT_EQ(why_of("no_fallback"), "aten::gelu had tensors on cuda:0");
  evidence()["trace"] = {{"state", "unknown"}, {"why", "no trace"}};
  EXPECT_EQ(state_of("no_fallback"), "unknown");
}

// ---- correct

TEST_F(verdict_test, the_bound_follows_from_roundings_and_sums) {
  json& output = evidence()["correct"]["outputs"][0];
  const auto passes = [&](double error) {
    output["normalised_error"] = error;
    output["scaled_max_error"] = error;
    return state_of("correct") == "pass";
  };
  const double u = std::ldexp(1.0, -24);
  EXPECT_TRUE(passes(4.999 * u));
  EXPECT_FALSE(passes(5.001 * u));
  check_["accuracy"]["terms"] = 10000.0;
  EXPECT_TRUE(passes(103.999 * u));
  EXPECT_FALSE(passes(104.001 * u));
  EXPECT_HAS(why_of("correct"), "4 roundings, sums of 10000");
  result_["dtype"] = "float16";
  const double half = 4.0 * std::ldexp(1.0, -11) + 100.0 * u;
  EXPECT_TRUE(passes(0.999 * half));
  EXPECT_FALSE(passes(1.001 * half));
  result_["dtype"] = "bfloat16";
  EXPECT_TRUE(passes(4.0 * std::ldexp(1.0, -8)));
  result_["dtype"] = "float64";
  EXPECT_FALSE(passes(1e-13));
  EXPECT_TRUE(passes(1e-14));
}

TEST_F(verdict_test, tf32_widens_the_bound_where_it_may_be_used) {
  json& output = evidence()["correct"]["outputs"][0];
  output["normalised_error"] = output["scaled_max_error"] = 4e-4;
  EXPECT_EQ(state_of("correct"), "fail");
  evidence()["correct"]["tf32"] = true;
  EXPECT_EQ(state_of("correct"), "fail");  // the check has no contraction
  check_["accuracy"]["contraction"] = true;
  EXPECT_EQ(state_of("correct"), "pass");
  EXPECT_HAS(why_of("correct"), "TF32");
  on_the_cpu();
  EXPECT_EQ(state_of("correct"), "fail");
}

TEST_F(verdict_test, one_element_may_be_eight_times_as_far_off) {
  json& output = evidence()["correct"]["outputs"][0];
  const double bound = 5.0 * std::ldexp(1.0, -24);
  output["scaled_max_error"] = 7.9 * bound;
  EXPECT_EQ(state_of("correct"), "pass");
  output["scaled_max_error"] = 8.1 * bound;
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "error of one element");
}

TEST_F(verdict_test, in_a_half_type_one_element_may_be_off_by_its_roundings) {
  result_["dtype"] = "bfloat16";
  check_["accuracy"].update({{"contraction", true}, {"roundings", 2.0}, {"terms", 512.0}});
  json& output = evidence()["correct"]["outputs"][0];
  const double u = std::ldexp(1.0, -8);
  output["normalised_error"] = 0.43 * u;
  output["scaled_max_error"] = 0.75 * u;  // as an H200's are
  EXPECT_EQ(state_of("correct"), "pass");
  output["scaled_max_error"] = 1.0 / 40.0;  // 1 too much, of numbers of about 22
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "error of one element 0.025, at most 0.0078 allowed");
  output["normalised_error"] = 0.74 * u;  // noise of all elements: one may stand out of it
  output["scaled_max_error"] = 2.3 * u;
  EXPECT_EQ(state_of("correct"), "pass");
}

TEST_F(verdict_test, winograd_is_allowed_for_where_a_kernel_tells_of_it) {
  result_["dtype"] = "float16";
  check_["accuracy"].update({{"contraction", true}, {"roundings", 2.0}, {"terms", 512.0}});
  json& output = evidence()["correct"]["outputs"][0];
  output["normalised_error"] = 11.0 * std::ldexp(1.0, -11);
  output["scaled_max_error"] = 50.0 * std::ldexp(1.0, -11);
  EXPECT_EQ(state_of("correct"), "fail");
  evidence()["profiler"]["kernels"][0]["name"] = "miopenSp3AsmConv_v30_3_1_gfx9_fp16_f2x3";
  EXPECT_EQ(state_of("correct"), "pass");
  EXPECT_HAS(why_of("correct"), "Winograd");
}

TEST_F(verdict_test, a_check_that_states_no_accuracy_has_a_default) {
  check_["accuracy"] = nullptr;
  json& output = evidence()["correct"]["outputs"][0];
  output["normalised_error"] = output["scaled_max_error"] = 16.9 * std::ldexp(1.0, -24);
  EXPECT_EQ(state_of("correct"), "pass");
  EXPECT_HAS(why_of("correct"), "by default");
  output["normalised_error"] = 17.1 * std::ldexp(1.0, -24);
  EXPECT_EQ(state_of("correct"), "fail");
}

TEST_F(verdict_test, exact_outputs_and_picks) {
  json& output = evidence()["correct"]["outputs"][0];
  output.update({{"kind", "exact"}, {"normalised_error", nullptr}, {"scaled_max_error", nullptr}});
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_EQ(why_of("correct"), "12 of 1000 elements differ from the reference");
  output["mismatched_picks"] = 0;
  EXPECT_EQ(state_of("correct"), "pass");
  output["mismatched_picks"] = 3;
  EXPECT_EQ(why_of("correct"), "3 of 1000 elements pick another value than the reference's");
  output = compared({{"mismatched", 0}});
  check_["accuracy"]["exact"] = true;
  EXPECT_EQ(state_of("correct"), "pass");
  output["mismatched"] = 1;
  EXPECT_EQ(state_of("correct"), "fail");
  output["mismatched"] = nullptr;
  EXPECT_EQ(state_of("correct"), "unknown");
}

TEST_F(verdict_test, what_no_tolerance_excuses) {
  json& output = evidence()["correct"]["outputs"][0];
  output["nan_mismatched"] = 2;
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "2 of 1000 elements are NaN");
  output = compared({{"inf_mismatched", 1}});
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "infinite");
  output = compared({{"constant", true}});
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "mistrusted");
  output = compared({{"constant", true}, {"all_zero", true}});
  EXPECT_HAS(why_of("correct"), "mistrusted: it is all zeros");
  output = compared({{"constant", true}, {"reference_constant", true}});
  EXPECT_EQ(state_of("correct"), "pass");
  output = compared();
  evidence()["correct"]["margins"] = {{"state", "overwritten"}, {"why", "4 bytes behind output 0"}};
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "memory beside the output was overwritten: 4 bytes");
}

TEST_F(verdict_test, facts_about_the_output_that_are_no_fault) {
  evidence()["correct"]["repeatable"] = false;
  evidence()["correct"]["margins"] = {{"state", "unknown"}, {"why", "no out= overload"}};
  EXPECT_EQ(state_of("correct"), "pass");
  EXPECT_HAS(why_of("correct"), "not the same bit for bit when repeated");
  evidence()["correct"]["outputs"][0]["elements"] = 0;
  EXPECT_EQ(state_of("correct"), "pass");
  evidence()["correct"]["outputs"] = json::array();
  EXPECT_EQ(state_of("correct"), "unknown");
}

TEST_F(verdict_test, the_worst_output_counts) {
  evidence()["correct"]["outputs"].push_back(compared({{"normalised_error", 0.1}}));
  EXPECT_EQ(state_of("correct"), "fail");
  EXPECT_HAS(why_of("correct"), "output 1: error 0.1");
  evidence()["correct"]["outputs"][1] = compared({{"normalised_error", nullptr}});
  EXPECT_EQ(state_of("correct"), "unknown");
}

// ---- path

json declared(const std::string& name, const std::string& grade, const std::string& source,
              const std::string& pattern) {
  return {{"name", name}, {"grade", grade}, {"source", source}, {"pattern", pattern}};
}

TEST_F(verdict_test, the_first_declared_path_that_matches_names_it) {
  check_["paths"] = {declared("other", "fast", "operator", "aten::other*"),
                     declared("fused", "fast", "kernel", "*gelu_kernel*"),
                     declared("plain", "slow", "operator", "aten::gelu")};
  EXPECT_EQ(judged()["path"], "fused");
  EXPECT_EQ(state_of("path"), "pass");
  check_["paths"][1]["pattern"] = "nothing*";
  EXPECT_EQ(judged()["path"], "plain");
  EXPECT_EQ(state_of("path"), "warn");
  check_["paths"][2]["grade"] = "acceptable";
  EXPECT_EQ(state_of("path"), "pass");
  EXPECT_EQ(why_of("path"), "a faster path exists on some devices");
}

TEST_F(verdict_test, a_pattern_may_leave_the_overload_out) {
  evidence()["trace"]["ops"][0]["op"] = "aten::gelu.out";
  check_["paths"] = {declared("g", "fast", "operator", "aten::gelu")};
  EXPECT_EQ(judged()["path"], "g");
  check_["paths"][0]["pattern"] = "aten::gelu.out";
  EXPECT_EQ(judged()["path"], "g");
}

TEST_F(verdict_test, slow_attention_is_quoted_with_libtorchs_reasons) {
  check_["paths"] = {declared("math", "slow", "operator", "*_math")};
  evidence()["trace"]["ops"][0]["op"] = "aten::_scaled_dot_product_attention_math";
  evidence()["sdp_reasons"] = {"Efficient not used because:", "head dim is odd\nmore",
                               "Flash not used because:", "head dim is odd", "no flash here"};
  EXPECT_EQ(why_of("path"),
            "math is a slow path; LibTorch: Efficient not used because: head dim is odd; Flash not "
            "used because: head dim is odd; no flash here");
  EXPECT_EQ(judged()["verdict"], "warn");
  evidence()["sdp_reasons"] = json::array();
  EXPECT_EQ(why_of("path"), "math is a slow path; LibTorch gives no reason");
}

TEST_F(verdict_test, of_other_slow_paths_libtorch_is_not_asked) {
  check_["paths"] = {declared("plain", "slow", "operator", "aten::gelu")};
  EXPECT_EQ(why_of("path"), "plain is a slow path");
}

TEST_F(verdict_test, kernels_that_were_not_seen_leave_the_path_unknown) {
  check_["paths"] = {declared("fused", "fast", "kernel", "*fused*")};
  evidence()["profiler"] = {{"state", "unknown"}, {"why", "no permission"}};
  EXPECT_EQ(state_of("path"), "unknown");
  EXPECT_EQ(why_of("path"), "no permission");
  EXPECT_TRUE(judged()["path"].is_null());
  check_["paths"].push_back(declared("plain", "fast", "operator", "aten::gelu"));
  EXPECT_EQ(judged()["path"], "plain");
  check_["paths"].erase(1);
  on_the_cpu();  // where there are no kernels to see
  EXPECT_EQ(judged()["path"], "native");
}

TEST_F(verdict_test, without_a_declared_path_the_kernels_of_the_leaves_tell) {
  json& ops = evidence()["trace"]["ops"];
  ops = json::array(
      {traced("aten::linear", 0, {{"leaf", false}, {"kernel", "none"}}), traced("aten::addmm", 1)});
  EXPECT_EQ(judged()["path"], "native");
  ops[1]["kernel"] = "none";
  EXPECT_EQ(state_of("path"), "unknown");
  EXPECT_HAS(why_of("path"), "aten::addmm (none)");
  ops = json::array();
  EXPECT_EQ(state_of("path"), "unknown");
  evidence()["trace"] = {{"state", "unknown"}, {"why", "no trace"}};
  EXPECT_EQ(why_of("path"), "no trace");
}

TEST_F(verdict_test, leaves_follow_from_the_depth_where_they_are_not_marked) {
  json& ops = evidence()["trace"]["ops"];
  ops = json::array({traced("aten::linear", 0, {{"kernel", "none"}}), traced("aten::addmm", 1)});
  ops[0].erase("leaf");
  ops[1].erase("leaf");
  EXPECT_EQ(judged()["path"], "native");
}

}  // namespace
}  // namespace assay
