// SPDX-License-Identifier: Apache-2.0
#include "host/worker/trace_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::worker {
namespace {

using form = log_value::form;

std::vector<log_entry> read(const std::string& text) {
  std::vector<log_entry> entries;
  read_trace_log(text, [&](log_entry entry) { entries.push_back(std::move(entry)); });
  return entries;
}

log_entry one(const std::string& arguments) {
  const auto entries = read("Operator: aten.mm.default\ncnt: 3, " + arguments + "\n");
  EXPECT_EQ(entries.size(), 1U);
  return entries.at(0);
}

log_value only(const std::string& value) { return one("((" + value + ",), {})").arguments.at(0); }

std::string fault(const std::string& text) {
  try {
    read(text);
  } catch (const trace_error& e) {
    return e.what();
  }
  return "none";
}

std::string fault_in(const std::string& arguments) {
  return fault("Operator: aten.mm.default\ncnt: 3, " + arguments + "\n");
}

TEST(trace_log, headers_and_entries) {
  const auto entries = read(
      "Operator: aten.addmm.default\n"
      "cnt: 3, ((T([64], f16), T([8, 32], f16), T([32, 64], f16, stride=(1, 32))), {})\n"
      "Operator: aten.none.default\n\n"
      "Operator: aten.relu_.default\n"
      "cnt: 0, ((T([], i64),), {'dtype': f32})\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].op, "aten.addmm.default");
  EXPECT_EQ(entries[0].line, 2U);
  EXPECT_EQ(entries[0].count, 3U);
  ASSERT_EQ(entries[0].arguments.size(), 3U);
  EXPECT_EQ(entries[0].arguments[2].sizes, (std::vector<std::int64_t>{32, 64}));
  EXPECT_EQ(entries[0].arguments[2].strides, (std::vector<std::int64_t>{1, 32}));
  EXPECT_EQ(entries[1].line, 6U);
  EXPECT_EQ(entries[1].count, 0U);
  EXPECT_EQ(entries[1].text, "((T([], i64),), {'dtype': f32})");
  ASSERT_EQ(entries[1].named.size(), 1U);
  EXPECT_EQ(entries[1].named[0].first, "dtype");
  EXPECT_EQ(entries[1].named[0].second.text, "f32");
}

TEST(trace_log, line_ends_and_byte_order_mark) {
  EXPECT_EQ(read("\xEF\xBB\xBFOperator: a.b\r\ncnt: 1, ((), {})\r\n").size(), 1U);
  EXPECT_EQ(read("Operator: a.b\ncnt: 1, ((), {})").size(), 1U);
  EXPECT_EQ(read("").size(), 0U);
}

TEST(trace_log, every_spelling_of_strides_is_the_same) {
  const log_value plain = only("T([4, 8], f16, stride=(1, 4))");
  EXPECT_EQ(only("T([4, 8], f16, [1, 4])"), plain);
  EXPECT_EQ(only("T([4,8,],f16,stride=[1, 4,])"), plain);
  EXPECT_EQ(only("T([4, 8], f16, (1, 4))"), plain);
  EXPECT_TRUE(only("T([4, 8], f16)").strides.empty());
}

TEST(trace_log, numbers_and_words) {
  EXPECT_EQ(only("-9223372036854775808").integer, INT64_MIN);
  EXPECT_DOUBLE_EQ(only("1e-05").real, 1e-5);
  EXPECT_DOUBLE_EQ(only("-.5").real, -0.5);
  EXPECT_EQ(only("2.").is, form::real);
  EXPECT_TRUE(std::isinf(only("inf").real));
  EXPECT_LT(only("-inf").real, 0.0);
  EXPECT_TRUE(std::isnan(only("nan").real));
  EXPECT_EQ(only("True").integer, 1);
  EXPECT_EQ(only("None").is, form::none);
  EXPECT_EQ(only("torch.channels_last").text, "torch.channels_last");
  EXPECT_EQ(only("1j").is, form::complex);
  EXPECT_EQ(only("(1+2.5e3j)").items.at(0).is, form::complex);
  EXPECT_EQ(only("{'a': {'b': 1}}").is, form::dict);
  EXPECT_TRUE(one("((), {})").arguments.empty());
  EXPECT_TRUE(only("()").items.empty());
  EXPECT_EQ(only("[[1, 2], [3,],]").items.at(1).items.at(0).integer, 3);
}

TEST(trace_log, texts_and_devices) {
  EXPECT_EQ(only(R"('it\'s "a" \\ \n')").text, "it's \"a\" \\ \n");
  EXPECT_EQ(only(R"("mean")").text, "mean");
  EXPECT_EQ(only("'mean'").is, form::text);
  for (const char* cuda : {"'cuda:1'", R"x("torch.device('cuda', 1)")x", "torch.device('cuda', 1)",
                           "device(type='cuda', index=1)", R"x("device(type='cuda', index=1)")x"}) {
    EXPECT_EQ(only(cuda).is, form::device) << cuda;
    EXPECT_EQ(only(cuda).text, "cuda:1") << cuda;
  }
  EXPECT_EQ(only("'cuda'").text, "cuda");
  EXPECT_EQ(only(R"x("torch.device('cpu')")x").text, "cpu");
  EXPECT_EQ(only("'torch.device('").is, form::text);
}

TEST(trace_log, sparse_tensors_are_understood) {
  const log_value v = only("ST([3, 4], f32, torch.sparse_coo, False, 5)");
  EXPECT_EQ(v.is, form::sparse_tensor);
  EXPECT_EQ(v.sizes, (std::vector<std::int64_t>{3, 4}));
}

TEST(trace_log, each_fault_says_line_column_and_what_was_expected) {
  const std::pair<std::string, std::string> faults[] = {
      {fault("cnt: 1, ((), {})"),
       "1:1: found an entry, expected a line 'Operator: NAME' before it"},
      {fault("# a comment"), "1:1: found '#', expected 'Operator: NAME' or 'cnt: N, ((..), {..})'"},
      {fault("Operator: mm\n"),
       "1:11: found 'mm', expected an operator's name with dots, such as aten.add.Tensor"},
      {fault("Operator: aten::mm\n"),
       "1:11: found 'aten', expected an operator's name with dots, such as aten.add.Tensor"},
      {fault("Operator: aten.mm.default x\n"),
       "1:27: found 'x', expected the end of the line after the operator's name"},
      {fault("Operator: a.b\ncnt: x, ((), {})"), "2:6: found 'x', expected a number"},
      {fault("Operator: a.b\ncnt: -1, ((), {})"),
       "2:6: found '-1', expected a count: a whole number from 0 on"},
      {fault("Operator: a.b\ncnt: 1 ((), {})"), "2:8: found '(', expected ',' after the count"},
      {fault("Operator: a.b\ncnt: 1, [(), {}]"), "2:9: found '[', expected '(' and the arguments"},
      {fault_in("()"), "2:10: found ')', expected '('"},
      {fault_in("((), {}"), "2:16: found the end of the line, expected ')' that ends the entry"},
      {fault_in("((), {}) x"), "2:18: found 'x', expected the end of the line"},
      {fault_in("((1 2), {})"), "2:13: found '2', expected ',' or ')'"},
      {fault_in("(([1 2],), {})"), "2:14: found '2', expected ',' or ']'"},
      {fault_in("((), [])"), "2:14: found '[', expected '{' and the named arguments"},
      {fault_in("(())"), "2:12: found ')', expected ',' and the named arguments"},
      {fault_in("((), {a: 1})"), "2:15: found 'a', expected an argument's name in quotes, or '}'"},
      {fault_in("((), {'a' 1})"), "2:19: found '1', expected ':' after an argument's name"},
      {fault_in("((), {'a': 1 'b': 2})"), "2:22: found ''', expected ',' or '}'"},
      {fault_in("((?,), {})"),
       "2:11: found '?', expected a value: a tensor T(..), a list, a number, a text, True, False, "
       "None or a dtype"},
      {fault_in("((q7,), {})"),
       "2:11: found 'q7', expected T(..), True, False, None, inf, a dtype (f32, i64, b8, ..) or "
       "torch.NAME"},
      {fault_in("((T[4],), {})"), "2:12: found '[', expected '(' and a tensor's sizes"},
      {fault_in("((T(4, f32),), {})"), "2:13: found '4', expected a tensor's sizes in brackets"},
      {fault_in("((T([4.5], f32),), {})"),
       "2:14: found '4.5', expected a tensor's sizes: whole numbers from 0 on"},
      {fault_in("((T([-4], f32),), {})"),
       "2:14: found '-4', expected a tensor's sizes: whole numbers from 0 on"},
      {fault_in("((T([4 5], f32),), {})"), "2:16: found '5', expected ',' or ']'"},
      {fault_in("((T([4] f32),), {})"), "2:17: found 'f32', expected ',' and a tensor's dtype"},
      {fault_in("((T([4], float),), {})"),
       "2:18: found 'float', expected a dtype: f32, f16, bf16, f64, i64, i32, i16, i8, u8, b8, c64 "
       "or torch.NAME"},
      {fault_in("((T([4, 4], f32, stride=(1,)),), {})"),
       "2:26: found 1 stride, expected 2, one for each size"},
      {fault_in("((T([4], f32, 7),), {})"),
       "2:23: found '7', expected a tensor's strides in brackets"},
      {fault_in("((T([4], f32, [1], 2),), {})"), "2:26: found ',', expected ')' after a tensor"},
      {fault_in("((ST([4], f32),), {})"), "2:22: found ')', expected ',' and a layout"},
      {fault_in("(('a,), {})"), "2:11: found a text without its end, expected a closing '"},
      {fault_in("(('\\q',), {})"),
       R"(2:13: found 'q', expected one of \ ' " n t r after a backslash)"},
      {fault_in("((99999999999999999999,), {})"),
       "2:11: found '99999999999999999999', expected a whole number of at most 64 bits"},
      {fault_in("((1e999,), {})"), "2:11: found '1e999', expected a number that a double can hold"},
      {fault_in("((1e,), {})"), "2:13: found ',', expected the digits of an exponent"},
      {fault_in("((-x,), {})"), "2:11: found '-', expected a number"},
      {fault_in("((1+2,), {})"), "2:14: found ',', expected the j of a complex number"},
      {fault_in("((torch.device,), {})"), "2:23: found ',', expected '(' and a device"},
      {fault_in("((device(7),), {})"), "2:18: found '7', expected a device in quotes"},
      {fault_in("((device('cpu' 7),), {})"), "2:24: found '7', expected ')' after a device"},
      {fault_in("((), {'a': 1, 'b': 2, 'a': 3})"),
       "2:31: found 'a' a second time, expected each name once"},
      {fault_in("(('\xFF',), {})"), "2:1: found bytes that are no UTF-8, expected a log in UTF-8"},
      {fault_in("(('\u00E9', 7 8), {})"), "2:19: found '8', expected ',' or ')'"},
      {fault_in("((\x01,), {})").substr(0, 20), "2:11: found byte 0x0"},
      {fault_in("((" + std::string(80, '[') + "),{})").substr(0, 40),
       std::string("2:75: found '[', expected brackets at most 64 deep").substr(0, 40)},
  };
  for (const auto& [found, expected] : faults) {
    EXPECT_EQ(found, expected);
  }
}

TEST(trace_log, cut_off_anywhere_it_is_read_or_refused) {
  const std::string text =
      "\xEF\xBB\xBFOperator: aten.op.Tensor\r\n"
      "cnt: 12, ((T([4, 8], f16, stride=(1, 4)), T([], b8), ST([3], c64, torch.sparse_coo, True, "
      "5), [None, 1e-05, -inf], (True,), \"torch.device('cuda', 0)\", 'a\\'b', {'k': 1j}, "
      "T([2], torch.uint8, [1])), {'dtype': torch.bool, 'x': (1+2j)})\r\n"
      "Operator: aten.op.default\n\ncnt: 0, ((), {})\n";
  ASSERT_EQ(read(text).size(), 2U);
  for (std::size_t length = 0; length < text.size(); ++length) {
    // In memory of its own, so that a reader that goes on is seen by the sanitizers.
    const std::vector<char> part(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    std::size_t entries = 0;
    try {
      read_trace_log({part.data(), part.size()}, [&](const log_entry&) { ++entries; });
    } catch (const trace_error& e) {
      EXPECT_NE(std::string(e.what()).find(", expected "), std::string::npos) << e.what();
    }
    EXPECT_LE(entries, 2U);
  }
}

}  // namespace
}  // namespace assay::worker
