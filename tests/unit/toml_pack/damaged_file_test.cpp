// SPDX-License-Identifier: Apache-2.0
//
// Files that were cut off or spoilt on their way: refused with a line, or read, but nothing else.
#include "packs.hpp"

#include "host/common/pack_contents.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

const std::string whole = one_check(R"(sizes = { m = 4, eps = 1e-5 }
large = { m = 8 }
inputs = [{ shape = ["m", "2*m"] }, { shape = [4], fill = "index", range = [0, "m"] }]
calls = ['r0 = aten::x(in0, [m, 3], "s", (m+1))', 'aten::y(r0[1], [None, in1], f=-inf, d=[True])']
cost = { elements = "in0 + in1", flops = 1.5e3 }
accuracy = { terms = "m", roundings = 8 }
paths = [{ name = "p", grade = "fast", kernel = "*" }]
needs = { accelerator = "rocm,cuda" }
[check.large_form])");

// Read, or refused in one line that begins with the file's name.
void expect_an_answer(const std::string& text) {
  static_cast<void>(contents_of(text));
  const std::string reason = refusal(text);
  if (!reason.empty()) {
    EXPECT_TRUE(reason.starts_with("acme.assay.toml:")) << reason << "\n" << text;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  }
}

TEST(damaged_file, cut_off_at_every_byte) {
  for (std::size_t length = 0; length < whole.size(); ++length) {
    expect_an_answer(whole.substr(0, length));
  }
}

TEST(damaged_file, every_byte_lost_or_replaced) {
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text.erase(at, 1);
    expect_an_answer(text);
    for (const char c : {'"', '\'', '[', ')', '\0', '\xFF', '9'}) {
      text = whole;
      text[at] = c;
      expect_an_answer(text);
    }
  }
}

TEST(damaged_file, no_end_of_nesting) {
  for (const char* piece : {"[", "{ a = ", "[[", "("}) {
    std::string text = head + "x = ";
    for (int i = 0; i < 20000; ++i) {
      text += piece;
    }
    expect_an_answer(text);
  }
  expect_an_answer(one_check("calls = ['aten::x(" + std::string(100000, '(') + "']"));
  expect_an_answer(one_check("calls = ['aten::x(" + std::string(100000, '[') + "']"));
}

}  // namespace
