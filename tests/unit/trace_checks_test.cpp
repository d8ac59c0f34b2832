// SPDX-License-Identifier: Apache-2.0
//
// From a log to the records of its checks, through the same registration as a plugin's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/worker/trace_plugins.hpp"
#include "temp_dir.hpp"

namespace assay::worker {
namespace {

using nlohmann::json;

struct loaded {
  std::vector<json> records;

  [[nodiscard]] json one(const std::string& kind, std::size_t which = 0) const {
    for (const json& record : records) {
      if (record.at("record") == kind && which-- == 0) {
        return record;
      }
    }
    return json::object();
  }
  [[nodiscard]] json check(const std::string& id) const {
    for (const json& record : records) {
      if (record.value("check", "") == id) {
        return record;
      }
    }
    ADD_FAILURE() << "no check " << id;
    return json::object();
  }
};

loaded load(const std::vector<std::string>& logs) {
  const testing::temp_dir folder;
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    files.push_back(folder.write("Model " + std::to_string(i) + ".txt", logs[i]));
  }
  loaded result;
  const auto write = [&](const json& record) { result.records.push_back(record); };
  plugin_registry plugins(write);
  load_traces(plugins, files, {}, true, write);
  return result;
}

/// The check of one entry.
json check_of(const std::string& op, const std::string& arguments) {
  const loaded all = load({"Operator: " + op + "\ncnt: 2, " + arguments + "\n"});
  EXPECT_EQ(all.one("plugin").value("reason", ""), "");
  return all.one("check");
}

std::string why_skipped(const std::string& op, const std::string& arguments) {
  const loaded all =
      load({"Operator: aten.relu.default\ncnt: 1, ((T([4], f32),), {})\nOperator: " + op +
            "\ncnt: 2, " + arguments + "\n"});
  const json skipped = all.one("trace").value("skipped", json::array());
  return skipped.size() == 1 ? skipped[0].at("reason").get<std::string>() : skipped.dump();
}

json fill(const json& check, std::size_t position) {
  const json& input = check.at("inputs").at(position);
  return {input.at("fill"), input.at("low"), input.at("high")};
}

TEST(trace_checks, an_entry_becomes_a_check) {
  const loaded all =
      load({"Operator: aten.addmm.default\n"
            "cnt: 3, ((T([64], f16), T([8, 32], f16), T([32, 64], f16, stride=(1, "
            "32))), {})\n"});
  EXPECT_EQ(all.one("plugin").at("id"), "trace.model_0");
  const json check = all.check("trace/addmm_1");
  EXPECT_EQ(check.at("weight"), 3);
  EXPECT_EQ(check.at("source"), "Model 0.txt:2");
  EXPECT_EQ(check.at("plan")[0].at("source"), "Model 0.txt:2");
  EXPECT_EQ(check.at("plan")[0].at("op"), "aten::addmm");
  EXPECT_EQ(check.at("summary"),
            "aten.addmm.default ((T([64], f16), T([8, 32], f16), T([32, 64], f16, stride=(1, "
            "32))), {})");
  EXPECT_EQ(check.at("dtypes"), json({"float16", "float32", "bfloat16", "float64"}));
  EXPECT_EQ(check.at("inputs")[0].at("dtype"), nullptr) << "it follows --dtype";
  EXPECT_EQ(check.at("inputs")[2].at("strides"), json({1, 32}));
  EXPECT_EQ(check.at("cost").at("flops"), 2.0 * 8 * 32 * 64);
  EXPECT_EQ(check.at("cost").at("matrix"), true);
}

TEST(trace_checks, equal_entries_are_one_check_and_names_go_on_from_log_to_log) {
  const std::string text =
      "Operator: aten.sum.SymInt\ncnt: 2, ((T([4, 4], f32), [0], True), {})\n"
      "Operator: aten.sum.dim_IntList\ncnt: 5, ((T([4, 4],f32,), [0,], True,), {})\n"
      "cnt: 1, ((T([4, 8], f32), [0], True), {})\n";
  const loaded all = load({text, text});
  EXPECT_EQ(all.check("trace/sum_dim_intlist_1").at("weight"), 7);
  EXPECT_EQ(all.check("trace/sum_dim_intlist_1").at("plan")[0].at("op"), "aten::sum.dim_IntList");
  EXPECT_EQ(all.check("trace/sum_dim_intlist_2").at("weight"), 1);
  EXPECT_EQ(all.check("trace/sum_dim_intlist_3").at("plugin"), "trace.model_1");
  const json trace = all.one("trace");
  EXPECT_EQ(trace.at("entries"), 3);
  EXPECT_EQ(trace.at("calls"), 8);
  EXPECT_EQ(trace.at("checks").size(), 2U);
}

TEST(trace_checks, arguments_of_each_kind) {
  const json check = check_of(
      "aten.op.default",
      "((T([4], f16), T([4], f32), 1, 1.5, -inf, True, None, 'mean', [1, 2], [1, 2.5], [True, "
      "False], [T([2], f16), None], (3,), (), f16, torch.float32, 'cuda'), {'memory_format': "
      "torch.channels_last, 'device': \"torch.device('cpu')\", 'layout': torch.strided, "
      "'pin_memory': False, 'dtype': i64})");
  std::string kinds;
  for (const json& argument : check.at("plan")[0].at("arguments")) {
    kinds += argument.at("kind").get<std::string>() + " ";
  }
  EXPECT_EQ(kinds,
            "input input int float float bool none string int_list float_list bool_list list "
            "int_list int_list dtype dtype device string device dtype ");
  const json& arguments = check.at("plan")[0].at("arguments");
  EXPECT_EQ(arguments[4].at("value"), "-inf");
  EXPECT_EQ(arguments[14].at("value"), nullptr) << "the check's dtype";
  EXPECT_EQ(arguments[15].at("value"), "float32");
  EXPECT_EQ(arguments[17].at("argument"), "memory_format");
  EXPECT_EQ(arguments[17].at("value"), "channels_last");
  EXPECT_EQ(check.at("inputs")[1].at("dtype"), "float32");
}

TEST(trace_checks, indices_are_in_range) {
  const auto index = [](double end) { return json({"index", 0.0, end}); };
  const auto distinct = [](double end) { return json({"distinct", 0.0, end}); };
  EXPECT_EQ(fill(check_of("aten.embedding.default", "((T([30, 8], f32), T([5], i64), 0), {})"), 1),
            index(30));
  EXPECT_EQ(fill(check_of("aten.embedding_dense_backward.default",
                          "((T([5, 8], f32), T([5], i64), 77, 0, False), {})"),
                 1),
            index(77));
  EXPECT_EQ(fill(check_of("aten.gather.default", "((T([3, 9], f32), -1, T([3, 2], i64)), {})"), 1),
            index(9));
  EXPECT_EQ(
      fill(check_of("aten.index_select.default", "((T([3, 9], f32), 0, T([7], i64)), {})"), 1),
      index(3));
  EXPECT_EQ(fill(check_of("aten.take.default", "((T([3, 9], f32), T([7], i64)), {})"), 1),
            index(27));
  EXPECT_EQ(fill(check_of("aten.one_hot.default", "((T([7], i64), 12), {})"), 0), index(12));
  EXPECT_EQ(fill(check_of("aten.scatter_.src",
                          "((T([3, 9], f32), 1, T([3, 4], i64), T([3, 4], f32)), {})"),
                 1),
            distinct(9));
  const json indexed = check_of("aten.index.Tensor",
                                "((T([3, 4, 5, 6], f32), [None, T([4, 5], b8), T([2], i64)]), {})");
  EXPECT_EQ(fill(indexed, 1), json({"mask", 0.5, 0.0}));
  EXPECT_EQ(fill(indexed, 2), index(6)) << "the mask takes two dimensions";
  EXPECT_EQ(fill(check_of("aten.max_pool2d_with_indices_backward.default",
                          "((T([1, 2, 4, 4], f32), T([1, 2, 8, 8], f32), [2, 2], [2, 2], [0, 0], "
                          "[1, 1], False, T([1, 2, 4, 4], i64)), {})"),
                 2),
            index(64));
  for (const char* loss : {"aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default"}) {
    EXPECT_EQ(fill(check_of(loss, "((T([6, 10], f32), T([6], i64), None, 1, -100), {})"), 1),
              index(10));
  }
  const json backward = check_of("aten.nll_loss_backward.default",
                                 "((T([], f32), T([6, 10], f32), T([6], i64), None, 1, -100, T([], "
                                 "f32)), {})");
  EXPECT_EQ(fill(backward, 2), index(10));
  EXPECT_EQ(fill(backward, 3), json({"uniform", 1.0, 2.0}));
}

TEST(trace_checks, where_an_index_may_come_twice_the_values_are_the_same) {
  const json one = {"index", 1.0, 2.0};
  EXPECT_EQ(
      fill(check_of("aten.index_put.default", "((T([9], f32), [T([4], i64)], T([4], f32)), {})"),
           2),
      one);
  EXPECT_EQ(fill(check_of("aten.index_put.default",
                          "((T([9], f32), [T([4], i64)], T([4], f32), True), {})"),
                 2)
                .at(0),
            "normal")
      << "they are added";
  EXPECT_EQ(fill(check_of("aten.scatter.src",
                          "((T([3, 2], f32), 1, T([3, 4], i64), T([3, 4], f32)), {})"),
                 2),
            one)
      << "four places of two";
}

TEST(trace_checks, values_are_where_the_operator_is_defined) {
  EXPECT_EQ(fill(check_of("aten.rsqrt_.default", "((T([9], f32),), {})"), 0),
            json({"uniform", 0.1, 4.0}));
  EXPECT_EQ(fill(check_of("aten.pow.Tensor_Scalar", "((T([9], f32), 0.5), {})"), 0).at(0),
            "uniform");
  EXPECT_EQ(fill(check_of("aten.pow.Tensor_Scalar", "((T([9], f32), 2), {})"), 0).at(0), "normal");
  EXPECT_EQ(fill(check_of("aten.mul_.Tensor", "((T([9], f32), T([9], f32)), {})"), 1),
            json({"uniform", 0.9, 1.1}))
      << "repeated in place, it stays finite";
  const json norm =
      check_of("aten.native_batch_norm.default",
               "((T([2, 3, 4, 4], f16), T([3], f32), T([3], f32), T([3], f32), T([3], "
               "f32), False, 0.1, 1e-05), {})");
  EXPECT_EQ(fill(norm, 4), json({"uniform", 0.5, 2.0}));
  EXPECT_EQ(fill(norm, 3).at(0), "normal");
}

TEST(trace_checks, what_made_inputs_cannot_show_is_not_compared) {
  const auto incomparable = [](const char* op, const std::string& arguments) {
    return check_of(op, arguments).at("accuracy").at("incomparable");
  };
  EXPECT_EQ(incomparable("aten.max_pool2d_with_indices_backward.default",
                         "((T([1, 2, 4, 4], f32), T([1, 2, 8, 8], f32), [2, 2], [2, 2], [0, 0], "
                         "[1, 1], False, T([1, 2, 4, 4], i64)), {})"),
            true);
  const char* const norm =
      "((T([2, 3, 4, 4], f32), T([3], f32), T([3], f32), T([3], f32), T([3], f32), {}, 0.1, "
      "1e-05), {{}})";
  EXPECT_EQ(
      incomparable("aten.native_batch_norm.default", fmt::format(fmt::runtime(norm), "False")),
      true);
  EXPECT_EQ(incomparable("aten.native_batch_norm.default", fmt::format(fmt::runtime(norm), "True")),
            false);
}

TEST(trace_checks, whole_numbers_that_no_rule_covers_are_said) {
  const loaded all =
      load({"Operator: aten.mystery.default\n"
            "cnt: 1, ((T([4], f32), T([4], i64)), {})\n"});
  EXPECT_EQ(fill(all.one("check"), 1), json({"index", 1.0, 8.0}));
  EXPECT_EQ(all.one("trace").at("checks")[0].at("guessed"), json({1}));
}

TEST(trace_checks, what_cannot_be_replayed_is_skipped_with_its_reason) {
  EXPECT_EQ(why_skipped("aten.mul.Tensor", "((T([4], c64), 2), {})"),
            "it has complex numbers (c64), which assay does not make");
  EXPECT_EQ(why_skipped("aten.mul.Tensor", "((T([4], f32), 2j), {})"),
            "it has a complex number, which assay does not pass");
  EXPECT_EQ(why_skipped("aten.mm.default",
                        "((ST([3, 4], f32, torch.sparse_coo, False, 5), T([4, 4], f32)), {})"),
            "it has a sparse tensor, which assay does not make");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([4], torch.qint8),), {})"),
            "assay does not make tensors of dtype torch.qint8");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([4], f32),), {'layout': torch.sparse_coo})"),
            "it has layout torch.sparse_coo, of which assay makes no tensors");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([99999999999, 99999999999], f32),), {})"),
            "it has a tensor that no memory holds");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([4, 4], f32, stride=(1, 1)),), {})"),
            "it has a tensor whose elements lie upon each other in memory");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([4], f32), {'a': 1}), {})"),
            "it has a dictionary among its arguments");
  EXPECT_EQ(why_skipped("aten.op.default", "((T([4], f32), [[1], [2]]), {})"),
            "it has a list that is neither of numbers nor of tensors");
  EXPECT_EQ(why_skipped("aten.empty_like.default", "((T([4], f32),), {})"),
            "it makes memory without values: there is nothing to check");
  EXPECT_EQ(
      why_skipped("aten.index_put_.default", "((T([9], f32), [T([9], b8)], T([4], f32)), {})"),
      "its values are as many as its mask lets through, and a log does not say which");
}

TEST(trace_checks, a_log_of_no_use_is_refused_as_a_whole) {
  const auto reason = [](const std::string& text) {
    return load({text}).one("plugin").value("reason", "");
  };
  EXPECT_EQ(reason(""), "it has no entry: no line 'cnt: N, ((..), {..})'");
  EXPECT_EQ(reason("Operator: a.b\ncnt: 1 ((), {})\n"),
            "Model 0.txt:2:8: found '(', expected ',' after the count");
  EXPECT_EQ(reason("Operator: a.b\ncnt: 1, ((T([1], c64),), {})\n"),
            "none of its 1 entries can be replayed; line 2: it has complex numbers (c64), which "
            "assay does not make");
}

TEST(trace_checks, a_backends_own_operators_are_for_that_backend) {
  EXPECT_EQ(check_of("aten.cudnn_batch_norm.default", "((T([4], f32),), {})")
                .at("needs")
                .at("accelerator"),
            "cuda");
  EXPECT_EQ(check_of("aten.miopen_batch_norm.default", "((T([4], f32),), {})")
                .at("needs")
                .at("accelerator"),
            "rocm");
}

TEST(trace_checks, work_follows_from_the_shapes) {
  const auto flops = [](const std::string& op, const std::string& arguments) {
    return check_of(op, arguments).at("cost").at("flops").get<double>();
  };
  EXPECT_EQ(flops("aten.bmm.default", "((T([5, 2, 3], f32), T([5, 3, 7], f32)), {})"),
            2.0 * 5 * 2 * 3 * 7);
  const std::string rest = "[1, 1], [1, 1], False, [0, 0], 1";
  EXPECT_EQ(flops("aten.convolution.default",
                  "((T([2, 4, 8, 8], f32), T([6, 4, 3, 3], f32), None, "
                  "[2, 2], " +
                      rest + "), {})"),
            2.0 * 2 * 6 * 4 * 4 * 4 * 9)
      << "an output of 4 x 4";
  EXPECT_EQ(flops("aten.convolution.default",
                  "((T([2, 4, 8, 8], f32), T([4, 6, 2, 2], f32), None, [2, 2], [0, 0], [1, 1], "
                  "True, [0, 0], 1), {})"),
            2.0 * 2 * 4 * 8 * 8 * 6 * 4)
      << "transposed: each input element goes to 6 channels of 2 x 2";
  EXPECT_EQ(flops("aten.convolution_backward.default",
                  "((T([2, 6, 8, 8], f32), T([2, 4, 8, 8], f32), T([6, 4, 3, 3], f32), [0], [1, "
                  "1], " +
                      rest + ", [False, True, False]), {})"),
            2.0 * 2 * 6 * 8 * 8 * 4 * 9)
      << "the weight's gradient alone";
  EXPECT_EQ(flops("aten._scaled_dot_product_efficient_attention.default",
                  "((T([2, 3, 16, 8], f16), T([2, 3, 32, 8], f16), T([2, 3, 32, 8], f16), None, "
                  "False), {})"),
            4.0 * 2 * 3 * 16 * 32 * 8);
  const json looked_up =
      check_of("aten.embedding.default", "((T([3000, 8], f32), T([5], i64)), {})").at("cost");
  EXPECT_EQ(looked_up.at("elements"), 2.0 * 5 * 8) << "not the whole table";
  EXPECT_EQ(looked_up.at("bytes"), 40.0);
}

}  // namespace
}  // namespace assay::worker
