// SPDX-License-Identifier: Apache-2.0
//
// A classifier and a probe with one fault: CMakeLists.txt defines PLUGIN_ID and one of the BAD_
// names, or none.
#include <assay/plugin.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

void do_the_fault() {
#if defined(BAD_CRASHES)
  std::fputs("planted: about to crash\n", stderr);
  std::raise(SIGSEGV);
#elif defined(BAD_HANGS)
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
#elif defined(BAD_ABORTS)
  std::fputs("planted: about to abort\n", stderr);
  std::abort();
#elif defined(BAD_EXITS)
  std::exit(0);
#elif defined(BAD_THROWS)
  throw std::runtime_error("planted: it threw");
#endif
}

class planted_classifier : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return PLUGIN_ID ".classifier"; }
  [[nodiscard]] std::string summary() const override { return "planted"; }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override {
    const std::string all = std::string(f.log) + std::string(f.error_text);
    if (all.find("planted") == std::string::npos) {
      return {};
    }
    do_the_fault();
    assay::diagnosis answer;
    answer.code = "PLANTED-" PLUGIN_CODE;
    answer.confidence = "likely";
    answer.evidence = {"what the classifier of " PLUGIN_ID " read"};
#if defined(BAD_NONSENSE)
    answer.code = "NO-SUCH-CODE";
    assay::diagnosis sure = answer;
    sure.code = "PLANTED-" PLUGIN_CODE;
    sure.confidence = "certain";
    sure.cause = "bytes that are no text: \xff\xfe\x01";
    sure.evidence = {std::string(100000, 'x'), "", "two\nlines"};
    return {answer, sure};
#else
    return {answer};
#endif
  }
};

class planted_probe : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return PLUGIN_ID ".probe"; }
  [[nodiscard]] std::string summary() const override { return "planted?"; }
  assay::probe_answer look(const assay::probe_site& /*site*/) override {
    do_the_fault();
    assay::probe_answer answer;
    answer.state = assay::probe_state::no;
    answer.fact = "what the probe of " PLUGIN_ID " saw";
    answer.findings = {"PLANTED-" PLUGIN_CODE};
#if defined(BAD_NONSENSE)
    answer.fact = "bytes that are no text: \xff\xfe\x01";
    answer.findings = {"NO-SUCH-CODE", "not even a code"};
#endif
    return answer;
  }
};

}  // namespace

ASSAY_DIAGNOSTIC_PLUGIN(PLUGIN_ID, "1.0", "assay tests")(assay::registry& plugin) {
  plugin.add(std::make_unique<planted_classifier>());
  plugin.add(std::make_unique<planted_probe>());
}
