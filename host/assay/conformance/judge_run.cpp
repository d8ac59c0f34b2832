// SPDX-License-Identifier: Apache-2.0
//
// From what a check's run left behind to findings about the pack.
#include <fmt/format.h>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/assay/verdict.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;

std::string link_state(const json& evidence, const char* link) {
  return text_of(member_of(member_of(member_of(evidence, "verdict"), "links"), link), "state");
}

std::string link_why(const json& evidence, const char* link) {
  return text_of(member_of(member_of(member_of(evidence, "verdict"), "links"), link), "why");
}

bool only_aten(const json& check) {
  for (const json& call : list_of(check, "plan")) {
    if (!text_of(call, "op").starts_with("aten::")) {
      return false;
    }
  }
  return true;
}

void failed(examined_file& one, const std::string& id, const json& result) {
  const std::string message = first_words(text_of(member_of(result, "error"), "message"));
  one.add(level::error, "check-fails", id,
          fmt::format("{} on the CPU: {} ({})", text_of(result, "status"), message,
                      text_of(result, "phase")),
          "where the CPU does not run it, there is no reference for any device",
          "mend its plan or its inputs, or leave the dtype out with dtypes()");
}

void skipped(examined_file& one, const std::string& id, const json& result) {
  const json& error = member_of(result, "error");
  const std::string message = first_words(text_of(error, "message"));
  const bool misspelt = message.find("did you mean") != std::string::npos;
  if (text_of(error, "type") == "missing_operator" && misspelt) {
    one.add(level::warning, "operator-unknown", id, "it is skipped: " + message,
            "a name that is misspelt is skipped for ever, and nobody notices", "mend the name");
    return;
  }
  one.add(level::note, "check-skipped", id, "it is skipped: " + message,
          "nothing is known of it here", "nothing to do where another LibTorch or device has it");
}

void look_at_correct(examined_file& one, const std::string& id, const json& evidence) {
  const std::string state = link_state(evidence, "correct");
  if (state == "fail") {
    one.add(level::error, "wrong-result", id,
            "its output is not the reference's: " + link_why(evidence, "correct"),
            "it would fail on every device",
            "mend the plan or reference(); where both are right, state with rounds() or "
            "contracts() how exact it can be");
  } else if (state == "unknown") {
    one.add(level::warning, "not-compared", id,
            "its output could not be compared: " + first_words(link_why(evidence, "correct")),
            "a wrong result would not be noticed on any device",
            "give it a reference() that runs on the CPU in float64");
  }
  if (link_state(evidence, "on_device") == "fail") {
    one.add(level::error, "wrong-result", id, link_why(evidence, "on_device"),
            "it would fail on every device", "mend the plan or reference()");
  }
  const json& correct = member_of(member_of(evidence, "evidence"), "correct");
  if (flag_is(correct, "repeatable", false)) {
    one.add(level::warning, "varies", id, "it is not the same bit for bit when repeated on the CPU",
            "what differs from run to run hides a device that computes wrongly",
            "take out what draws random numbers or leaves memory unset (aten::empty)");
  }
}

// Non-matrix FLOPs have no ceiling of their own; matrix units are never the slower ones.
void look_at_rate(examined_file& one, const std::string& id, const std::string& dtype,
                  const json& evidence, const json& ceilings) {
  constexpr double surely = 2.0;  // a ceiling of a CPU that others use meanwhile is that far off
  const json& verdict = member_of(evidence, "verdict");
  const auto reached = number_if_any(verdict, "tflop_per_s");
  const json& rates = member_of(ceilings, "matrix_tflop_per_s");
  auto ceiling = number_if_any(rates, dtype);
  const auto single = number_if_any(rates, "float32");
  if (!ceiling || (single && *single > *ceiling)) {
    ceiling = single;  // a CPU computes the half types in float32
  }
  if (reached && ceiling && *reached > surely * *ceiling) {
    one.add(level::warning, "flops", id,
            fmt::format("what it declares comes to {:.3g} TFLOP/s, and this CPU reaches {:.3g}",
                        *reached, *ceiling),
            "more than 100 % of a ceiling means that too much is declared",
            "count the operations of the algorithm once, a multiply-add as 2");
  }
}

void look_at_side_effects(examined_file& one, const std::string& id, const json& check,
                          const json& result) {
  for (const char* stream : {"stdout", "stderr"}) {
    if (const std::string text = text_of(result, stream); !text.empty()) {
      one.add(level::warning, "prints", id,
              fmt::format("'{}' on {} while it ran", first_words(text), stream),
              "an operator is silent; what it prints in a timed loop is timed with it",
              "take the output out of the operator");
    }
  }
  // LibTorch's own libraries keep pools of threads.
  const auto threads = number_if_any(result, "extra_threads");
  if (!only_aten(check) && threads && *threads > 0.0) {
    one.add(level::warning, "thread-left", id,
            fmt::format("{:.0f} thread{} more run after it than before", *threads,
                        *threads == 1.0 ? "" : "s"),
            "they take part in the times of every check behind it",
            "join them before the operator returns, or use at::parallel_for");
  }
}

}  // namespace

void judge_run(examined_file& one, const json& check, const json& result, const json& evidence,
               const json& ceilings) {
  const std::string id = text_of(result, "id");
  const std::string dtype = text_of(result, "dtype");
  const std::string status = text_of(result, "status");
  if (status == "skipped") {
    return skipped(one, id, result);
  }
  look_at_side_effects(one, id, check, result);
  if (status != "ok") {
    return failed(one, id, result);
  }
  if (const std::string again = text_of(evidence, "status"); !again.empty() && again != "ok") {
    return failed(one, id, evidence);
  }
  look_at_correct(one, id, evidence);
  look_at_rate(one, id, dtype, evidence, ceilings);
}

}  // namespace assay::conformance
