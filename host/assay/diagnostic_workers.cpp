// SPDX-License-Identifier: Apache-2.0
#include "diagnostic_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "collected_run.hpp"
#include "errors.hpp"
#include "worker_pool.hpp"

namespace assay {

namespace {

using nlohmann::json;
using event = worker_process::event;

constexpr double classifier_limit_s = 5.0;
constexpr unsigned most_at_a_time = 8;

std::string how_it_ended(worker_process& worker, event what, double limit_s) {
  worker.end(std::chrono::milliseconds(0));
  const std::string line = last_line(worker.stderr_between({}, worker.output_so_far()));
  const std::string fault =
      what == event::timeout ? fmt::format("it did not answer within {:g} s", limit_s)
      : what == event::flood ? std::string("it printed without end")
                             : "it ended its process (" + in_words(worker.ending()) + ")";
  return fault + (line.empty() ? "" : "; it printed last: " + line);
}

std::vector<std::string> strings_of(const json& record, const char* member) {
  std::vector<std::string> list;
  for (const json& text : list_of(record, member)) {
    list.push_back(printable(text.get<std::string>()));
  }
  return list;
}

}  // namespace

diagnostic_workers::diagnostic_workers(const installation& here, const run_options& options,
                                       const catalogue& found)
    : here_(here), options_(options) {
  for (const json& plugin : found.plugins) {
    if (text_of(plugin, "status") != "loaded") {
      continue;
    }
    const auto add = [&](const char* member, std::vector<tool>& to) {
      for (const json& one : list_of(plugin, member)) {
        to.push_back({text_of(one, "id"), text_of(one, "summary"), text_of(plugin, "file")});
      }
    };
    add("probes", probes_);
    add("classifiers", classifiers_);
  }
}

void diagnostic_workers::look_at(const std::filesystem::path& torch_dir,
                                 const std::string& architecture) {
  torch_dir_ = torch_dir;
  architecture_ = architecture;
}

std::unique_ptr<worker_process> diagnostic_workers::start(const tool& one, int ordinal,
                                                          bool prefixed, std::string& fault) const {
  auto worker = std::make_unique<worker_process>(
      here_.worker, scratch_.path(), ordinal, std::vector<std::filesystem::path>(),
      prefixed ? options_.probe_prefix : std::vector<std::string>());
  worker->send(setup_command(*worker, {one.file.string()}, options_));
  const auto deadline = worker_process::seconds_from_now(options_.probe_timeout_s);
  for (;;) {
    const auto [what, record] = worker->next(deadline);
    if (what == event::interrupted) {
      throw interrupted_error();
    }
    if (what != event::record) {
      fault = how_it_ended(*worker, what, options_.probe_timeout_s);
      return nullptr;
    }
    if (record.value("record", "") == "engine") {
      return worker;
    }
  }
}

probe_result diagnostic_workers::ask_one(const tool& probe, int ordinal, bool& began) const {
  probe_result result;
  result.id = probe.id;
  result.state = "unknown";
  const auto worker = start(probe, ordinal, true, result.fact);
  began = worker != nullptr;
  if (!began) {
    return result;
  }
  worker->send({{"do", "probe"},
                {"id", probe.id},
                {"root", options_.sysroot.string()},
                {"torch_dir", torch_dir_.string()},
                {"architecture", architecture_}});
  const auto [what, record] =
      worker->next(worker_process::seconds_from_now(options_.probe_timeout_s));
  if (what == event::interrupted) {
    throw interrupted_error();
  }
  if (what != event::record) {
    result.fact = how_it_ended(*worker, what, options_.probe_timeout_s);
    return result;
  }
  const worker_process::printed all = worker->output_so_far();
  result.printed = worker->stdout_between({}, all) + worker->stderr_between({}, all);
  worker->quit();
  result.answered = true;
  if (const json& said = member_of(record, "said"); said.is_string()) {
    result.said = said.get<std::string>();
  }
  result.state = text_of(record, "state");
  result.fact = printable(text_of(record, "fact"));
  result.evidence = strings_of(record, "evidence");
  result.findings = strings_of(record, "findings");
  result.values = record.value("values", json::object());
  result.elapsed_ms = number_of(record, "elapsed_ms");
  return result;
}

const std::map<std::string, probe_result>& diagnostic_workers::ask(
    const std::set<std::string>& ids) {
  std::vector<const tool*> wanted;
  for (const std::string& id : ids) {
    if (answers_.contains(id)) {
      continue;
    }
    const auto known = std::find_if(probes_.begin(), probes_.end(),
                                    [&](const tool& probe) { return probe.id == id; });
    if (known == probes_.end()) {
      answers_[id] = {id, "unknown", "no plugin that was loaded has this probe", {}, {}};
    } else {
      wanted.push_back(&*known);
    }
  }
  std::vector<probe_result> results(wanted.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> interrupted{false};
  std::atomic<bool> any_began{false};
  const int first = started_;
  started_ += static_cast<int>(wanted.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < wanted.size() && !interrupted; i = next++) {
      bool began = false;
      try {
        results[i] = ask_one(*wanted[i], first + static_cast<int>(i), began);
      } catch (const interrupted_error&) {
        interrupted = true;
      } catch (const std::exception& e) {
        results[i] = {wanted[i]->id, "unknown", e.what(), {}, {}};
      }
      if (began) {
        any_began = true;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, most_at_a_time);
    for (unsigned t = 1; t < std::min<std::size_t>(count, wanted.size()); ++t) {
      threads.emplace_back(work);
    }
    work();
  }
  if (interrupted) {
    throw interrupted_error();
  }
  if (!results.empty() && !any_began) {
    why_none_started_ =
        fmt::format("no probe's process could be started: {}{}", results.front().fact,
                    options_.probe_prefix.empty() ? "" : "; mend --probe-prefix");
  }
  for (probe_result& result : results) {
    answers_[result.id] = std::move(result);
  }
  return answers_;
}

std::vector<std::vector<diagnostic_workers::classified>> diagnostic_workers::classify(
    const std::vector<json>& failures) {
  std::vector<std::vector<classified>> all(failures.size());
  for (const tool& classifier : classifiers_) {
    std::unique_ptr<worker_process> worker;
    for (std::size_t i = 0; i < failures.size(); ++i) {
      classified& mine = all[i].emplace_back();
      mine.classifier = classifier.id;
      if (!worker) {
        worker = start(classifier, started_++, false, mine.fault);
      }
      if (!worker) {
        mine.answered = false;
        continue;
      }
      const worker_process::printed before = worker->output_so_far();
      worker->send({{"do", "classify"}, {"id", classifier.id}, {"failure", failures[i]}});
      const auto [what, record] =
          worker->next(worker_process::seconds_from_now(classifier_limit_s));
      if (what == event::interrupted) {
        throw interrupted_error();
      }
      if (what != event::record) {
        mine.fault = how_it_ended(*worker, what, classifier_limit_s);
        mine.answered = false;
        worker.reset();
        continue;
      }
      const worker_process::printed after = worker->output_so_far();
      mine.printed = worker->stdout_between(before, after) + worker->stderr_between(before, after);
      mine.fault = text_of(record, "reason");
      for (const json& answer : list_of(record, "answers")) {
        mine.answers.push_back(answer);
      }
    }
    if (worker) {
      worker->quit();
    }
  }
  return all;
}

void take_answers(const std::vector<diagnostic_workers::classified>& classified,
                  const diagnoser& judge, std::vector<found_diagnosis>& found,
                  std::vector<std::string>& remarks) {
  for (const auto& one : classified) {
    if (!one.fault.empty()) {
      remarks.push_back(fmt::format("classifier {}: {}", one.classifier, one.fault));
    }
    for (const json& answer : one.answers) {
      std::string why;
      if (auto d = judge.by_classifier(answer, one.classifier, why)) {
        found.push_back(std::move(*d));
      } else {
        remarks.push_back(std::move(why));
      }
    }
  }
}

json failure_json(const failure_facts& f) {
  return {{"check", f.check},
          {"status", f.status},
          {"phase", f.phase},
          {"device", f.device},
          {"error_type", f.error_type},
          {"error_text", f.error_text},
          {"stderr_text", f.stderr_text},
          {"warnings", f.warnings},
          {"torch_version", f.torch_version},
          {"torch_build", f.torch_build},
          {"stdout_text", f.stdout_text},
          {"log", f.log},
          {"trace", f.trace},
          {"end", f.end},
          {"operators", fmt::format("{}", fmt::join(f.operators, "\n"))},
          {"dtype", f.dtype},
          {"architecture", f.architecture},
          {"device_name", f.device_name},
          {"platform", f.platform},
          {"chain", f.chain},
          {"environment",
           f.environment ? fmt::format("{}", fmt::join(*f.environment, "\n")) : std::string()}};
}

}  // namespace assay
