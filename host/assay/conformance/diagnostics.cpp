// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/assay/diagnostic_workers.hpp"
#include "host/assay/rule_files.hpp"
#include "host/diagnosis/diagnose.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;

std::string without_numbers(const std::string& text) {
  std::string shape;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      shape += c;
    } else if (shape.empty() || shape.back() != '0') {
      shape += '0';
    }
  }
  return shape;
}

void say_printed(examined_file& one, const std::string& id, const std::string& printed) {
  if (!printed.empty()) {
    one.add(level::warning, "prints", id, fmt::format("it prints '{}'", first_words(printed)),
            "what it has to say belongs in its answer; output mixes with the user's",
            "take the output out, or put it as evidence");
  }
}

void look_at_words(examined_file& one, const probe_result& answer) {
  const auto wrong = [&](const std::string& what, const char* advice) {
    one.add(level::error, "probe-words", answer.id, what,
            "rules and assay doctor read the answer by its words", advice);
  };
  if (!answer.said) {
    wrong("it puts no state", "put \"state\": \"yes\", \"no\" or \"unknown\"");
  } else if (*answer.said != "yes" && *answer.said != "no" && *answer.said != "unknown") {
    wrong(fmt::format("its state is '{}'", first_words(*answer.said)),
          "put \"yes\", \"no\" or \"unknown\"; whatever else it knows is a value of its own");
  }
  if (answer.fact.empty()) {
    wrong("it puts no fact", "say in one line what was seen, also where it could not look");
  } else if (answer.fact.find('\n') != std::string::npos) {
    wrong("its fact has several lines", "put one line, and the others as evidence");
  }
}

void look_at_codes(examined_file& one, const probe_result& answer, const knowledge& known) {
  for (const std::string& code : answer.findings) {
    if (known.find(code) == nullptr) {
      one.add(level::warning, "unknown-code", answer.id,
              fmt::format("it finds {}, which no rule file has", first_words(code)),
              "the finding is dropped, with a remark",
              "bring the code in the rule file beside the plugin");
    }
  }
}

void look_at_probe(examined_file& one, const probe_result& first, const probe_result& second,
                   const knowledge& known) {
  if (!first.answered || !second.answered) {
    one.add(level::error, "probe-fails", first.id,
            (first.answered ? "the second time, " : "") +
                first_words(first.answered ? second.fact : first.fact),
            "what it would find is never known",
            "catch what may fail and answer \"unknown\"; look at less, or raise nothing that ends "
            "the process");
    return;
  }
  look_at_words(one, first);
  look_at_codes(one, first, known);
  say_printed(one, first.id, first.printed);
  if (first.state != second.state || first.findings != second.findings ||
      without_numbers(first.fact) != without_numbers(second.fact)) {
    one.add(level::warning, "probe-varies", first.id,
            fmt::format("asked twice, it answers {}: '{}', then {}: '{}'", first.state,
                        first_words(first.fact), second.state, first_words(second.fact)),
            "what it confirms in one run it would refute in the next",
            "answer from what stays as it is for a second");
  }
}

std::vector<std::string> triggers_of(const std::string& classifier, const knowledge& known) {
  std::vector<std::string> texts;
  for (const known_classifier& one : known.classifiers) {
    if (one.id == classifier) {
      for (const std::size_t position : one.any) {
        texts.push_back(known.patterns[position].text);
      }
    }
  }
  return texts;
}

/// What no program prints, around the texts that the classifiers wait for.
std::vector<json> odd_failures(const std::vector<std::string>& triggers) {
  constexpr std::size_t long_bytes = 2U << 20U;
  std::vector<json> failures{{{"status", ""}}, {{"status", "error"}}};
  std::string several;
  std::string odd;
  for (const std::string& trigger : triggers) {
    several += trigger + " 99999999999999999999999 GiB\n" + trigger + "\n";
    odd +=
        trigger + " -1 MiB (of 0x1p+4096) %s%n%1000000d [nan KiB] \xE2\x80\xAE\xF0\x9F\x92\xA5\n";
    odd += trigger.substr(0, trigger.size() / 2) + "\n" + trigger + trigger + trigger + "\n";
  }
  std::string longest = several;
  while (longest.size() < long_bytes) {
    longest += longest.empty() ? "line of a log\n" : longest;
  }
  std::string one_line = longest;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  failures.push_back({{"status", "error"}, {"error_text", several}, {"log", several}});
  failures.push_back(
      {{"status", "crash"}, {"stderr_text", odd}, {"log", odd}, {"error_text", odd}});
  failures.push_back({{"status", "error"}, {"log", longest}});
  failures.push_back({{"status", "timeout"}, {"error_text", one_line}});
  return failures;
}

void look_at_classifier(examined_file& one, const std::string& id,
                        const std::vector<diagnostic_workers::classified>& answers,
                        const knowledge& known) {
  constexpr std::size_t empty_failures = 2;
  const diagnoser judge(known);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const diagnostic_workers::classified& answer = answers[i];
    if (!answer.answered) {
      one.add(level::error, "classifier-fails", id,
              fmt::format("{} it {}", i < empty_failures ? "of an empty failure" : "of an odd text",
                          first_words(answer.fault)),
              "logs are long, cut off and full of other programs' words",
              "read with bounds, believe no number, and answer nothing where nothing is sure");
      return;
    }
    say_printed(one, id, answer.printed);
    if (!answer.fault.empty()) {
      one.add(level::warning, "classifier-words", id,
              fmt::format("it could not work: {}", first_words(answer.fault)),
              "an odd text is no reason to give up", "answer nothing instead");
      return;
    }
    if (i < empty_failures && !answer.answers.empty()) {
      one.add(level::error, "classifier-guesses", id,
              fmt::format("it answers {} to a failure of which nothing is known",
                          text_of(answer.answers.front(), "code")),
              "it would explain every failure there is",
              "answer only where a line of the failure says so");
      return;
    }
    for (const json& said : answer.answers) {
      std::string why;
      if (!judge.by_classifier(said, id, why)) {
        one.add(level::warning, "classifier-words", id, first_words(why),
                "the answer is dropped, with a remark",
                "name a code of a rule file, and \"possible\" or \"likely\"");
        return;
      }
    }
  }
}

}  // namespace

void examine_diagnostics(examined_file& one, const installation& here, const run_options& options,
                         const knowledge& known) {
  if (!one.loaded() ||
      (list_of(one.plugin, "probes").empty() && list_of(one.plugin, "classifiers").empty())) {
    return;
  }
  catalogue alone;
  alone.plugins.push_back(one.plugin);
  diagnostic_workers once(here, options, alone);
  diagnostic_workers again(here, options, alone);
  std::set<std::string> ids;
  for (const diagnostic_workers::tool& probe : once.probes()) {
    ids.insert(probe.id);
  }
  once.ask(ids);
  again.ask(ids);
  for (const std::string& id : ids) {
    look_at_probe(one, once.answers().at(id), again.answers().at(id), known);
  }
  for (const json& classifier : list_of(one.plugin, "classifiers")) {
    const std::string id = text_of(classifier, "id");
    once.use_classifiers({{id, text_of(classifier, "summary"), one.file}});
    std::vector<diagnostic_workers::classified> answers;
    for (auto& of_one_failure : once.classify(odd_failures(triggers_of(id, known)))) {
      answers.push_back(std::move(of_one_failure.front()));
    }
    look_at_classifier(one, id, answers, known);
  }
}

}  // namespace assay::conformance
