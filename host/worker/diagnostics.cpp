// SPDX-License-Identifier: Apache-2.0
#include "diagnostics.hpp"

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::worker {

namespace {

using nlohmann::json;

/// The texts of a command as a C struct wants them: NULL where there is none.
class texts_of {
 public:
  explicit texts_of(const json& from) : from_(from) {}

  const char* operator()(const char* member) {
    const auto found = from_.find(member);
    if (found == from_.end() || !found->is_string() ||
        found->get_ref<const std::string&>().empty()) {
      return nullptr;
    }
    return kept_.emplace_back(found->get<std::string>()).c_str();
  }

 private:
  const json& from_;
  std::deque<std::string> kept_;
};

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

/// A sink whose texts go to `put`.
template <typename Put>
struct sink_of {
  explicit sink_of(Put& put) {
    c_form.struct_size = sizeof c_form;
    c_form.context = &put;
    c_form.put = [](const assay_sink* self, const char* name, const char* text) {
      (*static_cast<Put*>(self->context))(text_of(name), text_of(text));
    };
  }
  assay_sink c_form{};
};

}  // namespace

json ask_probe(const assay_probe& probe, const json& command) {
  json record{{"record", "probe"},         {"id", command.at("id")},
              {"state", "unknown"},        {"fact", ""},
              {"evidence", json::array()}, {"findings", json::array()},
              {"values", json::object()},  {"said", nullptr}};
  auto put = [&record](const std::string& name, const std::string& text) {
    if (name == "state") {
      record["state"] = text == "yes" || text == "no" ? text : "unknown";
      record["said"] = text;
    } else if (name == "fact" || name == "reason") {
      record["fact"] = text;
    } else if (name == "evidence") {
      record["evidence"].push_back(text);
    } else if (name == "finding") {
      record["findings"].push_back(text);
    } else {
      record["values"][name] = text;
    }
  };
  const sink_of sink(put);
  texts_of text(command);
  assay_site site{};
  site.struct_size = sizeof site;
  site.root = text("root");
  site.torch_dir = text("torch_dir");
  site.architecture = text("architecture");
  const auto begin = std::chrono::steady_clock::now();
  const int status = probe.look != nullptr ? probe.look(probe.self, &site, &sink.c_form)
                                           : probe.run(probe.self, &sink.c_form);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  if (status != 0) {
    record["state"] = "unknown";
    record["said"] = "unknown";
    if (record["fact"].get_ref<const std::string&>().empty()) {
      record["fact"] = "the probe could not look and gave no reason";
    }
  }
  record["elapsed_ms"] = elapsed.count();
  return record;
}

json ask_classifier(const assay_classifier& classifier, const json& command) {
  const json& failure = command.at("failure");
  json record{{"record", "classified"},
              {"id", command.at("id")},
              {"answers", json::array()},
              {"reason", ""}};
  auto put = [&record](const std::string& name, const std::string& text) {
    json& answers = record["answers"];
    if (name == "code") {
      answers.push_back({{"code", text}, {"evidence", json::array()}});
    } else if (name == "reason") {
      record["reason"] = text;
    } else if (answers.empty()) {
      record["reason"] = "it put '" + name + "' before a code";
    } else if (name == "evidence") {
      answers.back()["evidence"].push_back(text);
    } else {
      answers.back()[name] = text;
    }
  };
  const sink_of sink(put);
  texts_of text(failure);
  assay_failure f{};
  f.struct_size = sizeof f;
  f.check = text("check");
  f.status = text("status");
  f.phase = text("phase");
  f.device = text("device");
  f.error_type = text("error_type");
  f.error_text = text("error_text");
  f.stderr_text = text("stderr_text");
  f.warnings = text("warnings");
  f.torch_version = text("torch_version");
  f.torch_build = text("torch_build");
  f.stdout_text = text("stdout_text");
  f.log = text("log");
  f.trace = text("trace");
  f.end = text("end");
  f.operators = text("operators");
  f.dtype = text("dtype");
  f.architecture = text("architecture");
  f.device_name = text("device_name");
  f.platform = text("platform");
  f.chain = text("chain");
  f.environment = text("environment");
  f.probes = text("probes");
  if (classifier.classify(classifier.self, &f, &sink.c_form) != 0) {
    record["answers"] = json::array();
    if (record["reason"].get_ref<const std::string&>().empty()) {
      record["reason"] = "it could not work and gave no reason";
    }
  }
  return record;
}

}  // namespace assay::worker
