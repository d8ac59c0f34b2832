// SPDX-License-Identifier: Apache-2.0
#include "report_command.hpp"

#include <fmt/format.h>

#include <iostream>

#include "errors.hpp"
#include "host/results/saved_run.hpp"
#include "reports.hpp"

namespace assay {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

namespace {

using nlohmann::json;

std::string number_cell(const json& object, std::string_view member) {
  const auto number = number_if_any(object, member);
  return number ? fmt::format("{:.6g}", *number) : "";
}

}  // namespace

std::string csv_report(const collected_run& run) {
  std::string text =
      "id,device,status,verdict,on_device,no_fallback,correct,path_link,speed,path,bound,wall_us,"
      "device_us,submit_us,first_call_us,note\r\n";
  for (const auto& entry : run.entries) {
    const json& verdict = member_of(entry.evidence, "verdict");
    const json& links = member_of(verdict, "links");
    const json& timing = member_of(entry.result, "timing");
    std::vector<std::string> cells{
        entry.id, entry.device,
        entry.result.is_null() ? "not run" : text_of(entry.result, "status"),
        text_of(verdict, "verdict")};
    for (const char* link : {"on_device", "no_fallback", "correct", "path", "speed"}) {
      cells.push_back(text_of(member_of(links, link), "state"));
    }
    cells.push_back(text_of(verdict, "path"));
    cells.push_back(text_of(verdict, "bound"));
    for (const char* time : {"wall_us", "device_us", "submit_us", "first_call_us"}) {
      cells.push_back(number_cell(timing, time));
    }
    const std::string headline = text_of(verdict, "headline");
    cells.push_back(headline.empty() ? text_of(entry.result, "note") : headline);
    for (std::string& one : cells) {
      one = csv_cell(one);
    }
    text += fmt::format("{}\r\n", fmt::join(cells, ","));
  }
  return text;
}

int report_command(const report_request& request, report_paper& paper) {
  read_records read;
  try {
    read = read_result_file(request.file.lexically_normal());
  } catch (const results_error& error) {
    throw usage_error(error.what());
  }
  for (const std::string& remark : read.remarks) {
    std::cerr << fmt::format("assay: {}: {}\n", request.file.string(), printable(remark));
  }
  try {
    if (request.form == "json") {
      for (const json& record : read.records) {
        paper.out() << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
      }
    } else if (request.form == "text") {
      const auto report =
          make_table_report(paper.out(), paper.has_color(), static_cast<int>(paper.width()));
      for (const json& record : read.records) {
        report->on_record(record);
      }
    } else {
      collected_run run;
      for (const json& record : read.records) {
        run.add(record);
      }
      paper.out() << (request.form == "junit" ? junit_document(run)
                      : request.form == "csv"
                          ? csv_report(run)
                          : markdown_report(run, read.remarks, redaction::of_this_machine()));
    }
  } catch (const json::exception&) {
    throw usage_error(changed_by_hand(request.file).what());
  }
  paper.out() << std::flush;
  return exit_status::ok;
}

}  // namespace assay
