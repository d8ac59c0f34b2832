// What needs code in @name@: a probe that looks at the machine, and a classifier that reads a
// number out of a message. Everything else stands in rules/.
#include <assay/plugin.hpp>

#include <fstream>
#include <memory>
#include <string>
#include <system_error>

namespace {

// A probe answers one question about the machine. It runs in a process of its own, under a
// deadline.
class config_probe : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "@name@.config"; }
  [[nodiscard]] std::string summary() const override { return "can /etc/@name@.conf be read?"; }

  assay::probe_answer look(const assay::probe_site& site) override {
    const auto file = site.at("/etc/@name@.conf");
    assay::probe_answer answer;
    std::error_code error;
    if (std::ifstream(file).good()) {
      answer.state = assay::probe_state::yes;
      answer.fact = file.string() + " can be read";
    } else if (!std::filesystem::exists(file.parent_path(), error)) {
      answer.fact = file.parent_path().string() + " cannot be looked at";  // state: unknown
    } else {
      answer.state = assay::probe_state::no;
      answer.fact = file.string() +
                    (std::filesystem::exists(file, error) ? " cannot be read" : " is not there");
      // answer.findings = {"@ID@-CONFIG-MISSING"}: where it is a fault on every machine, also where
      // @name@ was never installed. Here a rule asks the probe, once a message points at it.
    }
    return answer;
  }
};

// A classifier reads one failure. It answers only where a line of the failure says so.
class limit_classifier : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "@name@.limit"; }
  [[nodiscard]] std::string summary() const override { return "which limit of @name@ was reached"; }

  std::vector<assay::diagnosis> classify(const assay::failure& f) override {
    constexpr std::string_view token = "@name@: limit of ";
    for (const std::string_view text : {f.error_text, f.stderr_text, f.log}) {
      const auto at = text.find(token);
      if (at == std::string_view::npos) {
        continue;
      }
      const std::string line(text.substr(at, std::min<std::size_t>(text.find('\n', at) - at, 200)));
      assay::diagnosis answer;
      answer.code = "@ID@-LIMIT";
      answer.confidence = "likely";
      answer.cause = "The message names the limit: " + line.substr(token.size()) + ".";
      answer.evidence = {line};
      return {answer};
    }
    return {};
  }
};

}  // namespace

ASSAY_PLUGIN("@id@", "0.1.0", "@vendor@")(assay::registry& plugin) {
  plugin.add(std::make_unique<config_probe>());
  plugin.add(std::make_unique<limit_classifier>());
}
