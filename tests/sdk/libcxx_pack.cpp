// SPDX-License-Identifier: Apache-2.0
//
// A pack for the end-to-end tests, built with another compiler and another standard library than
// the host: a check, a probe and a classifier.
#include <assay/plugin.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace assay;

namespace {

struct standard_library_probe : probe {
  std::string id() const override { return "test.libcxx.standard_library"; }
  std::string summary() const override { return "is the pack built with libc++?"; }
  probe_answer look(const probe_site&) override {
#ifdef _LIBCPP_VERSION
    return {probe_state::yes, "libc++ " + std::to_string(_LIBCPP_VERSION)};
#else
    return {probe_state::no, "another standard library"};
#endif
  }
};

// Knows every failure of its own category, so that a test can tell that it was asked.
struct own_failures : classifier {
  std::string id() const override { return "test.libcxx.own_failures"; }
  std::string summary() const override { return "recognises failures of libcxx_pack checks"; }
  std::vector<diagnosis> classify(const failure& f) override {
    if (!f.check.starts_with("libcxx_pack/")) {
      return {};
    }
    return {{"test_failure",
             "a check of the test pack failed",
             "nothing: it is a test",
             "likely",
             {std::string(f.error_text)}}};
  }
};

}  // namespace

ASSAY_PLUGIN("test.libcxx_pack", "1.0", "assay tests")(registry& plugin) {
  auto& group = plugin.category("libcxx_pack", "an op pack built with clang++ and libc++");
  group.check("mul_add", {randn({128, 512}), randn({128, 512})},
              call("aten::mul.Tensor", in(0), in(1)),
              call("aten::add.Tensor", result(0), in(1), arg("alpha", 2)));
  plugin.add(std::make_unique<standard_library_probe>());
  plugin.add(std::make_unique<own_failures>());
}
