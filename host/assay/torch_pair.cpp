// SPDX-License-Identifier: Apache-2.0
#include "torch_pair.hpp"

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "compare_command.hpp"
#include "errors.hpp"
#include "reports.hpp"
#include "result_text.hpp"

namespace assay {

std::array<std::filesystem::path, 2> files_of_both(const std::filesystem::path& file) {
  std::array<std::filesystem::path, 2> both{file, file};
  both[0].replace_filename(file.stem().string() + "-old" + file.extension().string());
  both[1].replace_filename(file.stem().string() + "-new" + file.extension().string());
  return both;
}

int run_torch_pair(const installation& here, const run_options& options,
                   const std::array<engine_choice, 2>& engines,
                   const std::vector<std::string>& command_line, report_paper& paper) {
  const regression_rules rules = rules_of(options);
  std::array<run_side, 2> sides;
  std::array<result_text, 2> texts;
  std::array<std::ostringstream, 2> tables;
  std::vector<std::unique_ptr<record_sink>> sinks;
  for (const std::size_t i : {0, 1}) {
    run_side& side = sides[i];
    side.options = options;
    side.options.torch_dir = i == 0 ? options.torch_dir : options.second_torch_dir;
    side.options.second_torch_dir.reset();
    side.options.settings["torch"].value = side.options.torch_dir->string();
    side.engine = engines[i];
    if (options.json_file) {
      sinks.push_back(
          for_strangers(make_result_file(files_of_both(*options.json_file)[i]), options));
      side.sinks.push_back(sinks.back().get());
    }
    sinks.push_back(make_table_report(tables[i], paper.has_color(), paper.columns()));
    side.sinks.push_back(sinks.back().get());
    side.sinks.push_back(&texts[i]);
  }
  const std::array<int, 2> status = run_side_by_side(here, sides, command_line);
  for (const std::ostringstream& table : tables) {
    paper.out() << table.str() << '\n';
  }
  for (const int ended : {exit_status::interrupted, exit_status::tool}) {
    if (status[0] == ended || status[1] == ended) {
      paper.line("Not compared: a run did not come to its end");
      return ended;
    }
  }
  const comparison found =
      compare({texts[0].run("the old LibTorch")}, {texts[1].run("the new LibTorch")}, rules);
  print_comparison(paper, found, rules);
  return found.regression ? exit_status::regression : status[1];
}

}  // namespace assay
