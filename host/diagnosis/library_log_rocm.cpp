// SPDX-License-Identifier: Apache-2.0
//
// MIOpen, rocBLAS and hipBLASLt.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "library_log.hpp"
#include "library_log_lines.hpp"

namespace assay {

namespace {

using namespace log_lines;
constexpr auto npos = std::string_view::npos;

struct miopen_line {
  std::string_view level, function, text;
};

// "[host tid ]MIOpen(HIP)[ elapsed][ (time)]: Info [function] text"
std::optional<miopen_line> read_miopen_line(std::string_view line) {
  const auto begin = line.find("MIOpen(");
  if (begin == npos) {
    return std::nullopt;
  }
  line.remove_prefix(begin);
  for (const std::string_view level :
       {"Command", "Error", "Warning", "Info2", "Info", "Trace", "FnBegin", "FnEnd"}) {
    const auto at = line.find(fmt::format(": {} [", level));
    const auto open = at == npos ? npos : line.find('[', at);
    const auto close = open == npos ? npos : line.find("] ", open);
    if (close != npos) {
      return miopen_line{level, line.substr(open + 1, close - open - 1), line.substr(close + 2)};
    }
  }
  return std::nullopt;
}

// "convfp16" -> conv of float16.
void read_driver_word(std::string_view word, library_call& call) {
  for (const std::string_view type : {"bfp16", "fp16", "fp64", "int8"}) {
    if (word.size() > type.size() && word.ends_with(type)) {
      call.operation = word.substr(0, word.size() - type.size());
      call.dtype = type == "int8" ? "int8" : dtype_name(type);
      return;
    }
  }
  call.operation = word;
  call.dtype = "float32";
}

/// The pairs of a command line whose names are among these, in its order: "m=128 n=64".
std::string chosen(const std::vector<std::string_view>& words,
                   const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string_view name = words[i];
    while (name.starts_with('-')) {
      name.remove_prefix(1);
    }
    if (words[i].starts_with('-') && is_number(words[i + 1]) &&
        std::find(names.begin(), names.end(), name) != names.end()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, words[i + 1]);
      ++i;
    }
  }
  return text;
}

std::string_view option(const std::vector<std::string_view>& words, std::string_view name) {
  const auto at = std::find(words.begin(), words.end(), name);
  return at == words.end() || at + 1 == words.end() ? std::string_view() : at[1];
}

// "./bin/MIOpenDriver convfp16 -n 16 -c 64 -H 56 .. -F 1 -t 1"
std::optional<library_call> read_driver_command(std::string_view text) {
  std::vector<std::string_view> words = words_of(text);
  const auto driver = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return word.find("MIOpenDriver") != npos;
  });
  if (words.end() - driver < 2) {
    return std::nullopt;
  }
  library_call call;
  call.library = "MIOpen";
  read_driver_word(driver[1], call);
  if (call.operation == "conv") {
    const std::string_view direction = option(words, "-F");
    call.operation += direction == "2"   ? " backward data"
                      : direction == "4" ? " backward weights"
                                         : "";
  }
  call.sizes =
      chosen(words, {"n", "c", "in_d", "D", "H", "W", "k", "fil_d", "y", "x", "g", "l", "h"});
  return call;
}

void name_solver(library_call& call, std::string_view solver) {
  call.kernel = solver;
  if (solver.starts_with("ConvDirectNaiveConv")) {
    call.slow = true;
    call.note = "MIOpen's slow reference kernel";
  } else if (solver.starts_with("Gemm")) {
    call.note = "rocBLAS or hipBLASLt underneath";
  }
}

/// A solver's name as such lines have it: one word, ended by a colon, a comma or a blank.
std::string_view solver_in(std::string_view text, std::string_view before) {
  const std::string_view behind = trimmed(between(text, before, ""));
  const std::string_view name = behind.substr(0, behind.find_first_of(":, "));
  return name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
             "0123456789_<>-") == npos
             ? name
             : std::string_view();
}

// "Selected: <solver>: <kernel>: <ms>, workspace_sz = N", "Solver <solver> registered as find 1.0
// best ..", "solver_id = <solver>, workspace = N".
bool read_choice(std::string_view text, library_call& call) {
  if (const std::string_view solver = solver_in(text, "Selected: ");
      !solver.empty() && text.starts_with("Selected: ")) {
    name_solver(call, solver);
    std::string_view rest = between(text, ": ", ", workspace_sz");
    rest.remove_prefix(std::min(rest.size(), solver.size() + 2));
    const auto last = rest.rfind(": ");
    const std::string_view kernel = last == npos ? std::string_view() : rest.substr(0, last);
    if (!kernel.empty()) {
      call.note = fmt::format("kernel {}{}{}", kernel, call.note.empty() ? "" : "; ", call.note);
    }
    return true;
  }
  std::string_view solver;
  if (text.starts_with("Solver ") && text.find(" registered as find") != npos) {
    solver = solver_in(text, "Solver ");
  } else {
    solver = solver_in(text, "solver_id = ");
  }
  // A number is an id of another version's list, not a name.
  if (solver.empty() || is_number(solver)) {
    return false;
  }
  name_solver(call, solver);
  return true;
}

/// "./rocblas-bench -f gemm -r f32_r .. -m 128 -n 128 -k 128" and "hipblaslt-bench .."
std::optional<library_call> read_bench_line(std::string_view line, std::string_view program,
                                            std::string_view library) {
  const auto at = line.find(program);
  if (at == npos) {
    return std::nullopt;
  }
  const std::vector<std::string_view> words = words_of(line.substr(at));
  library_call call;
  call.library = library;
  call.sizes = chosen(words, {"m", "n", "k", "batch_count"});
  if (call.sizes.ends_with(" batch_count=1")) {
    call.sizes.resize(call.sizes.rfind(' '));
  }
  for (const std::string_view name : {"--a_type", "-r", "--precision"}) {
    if (const std::string_view type = option(words, name); !type.empty()) {
      call.dtype = dtype_name(type);
      break;
    }
  }
  if (const std::string_view index = option(words, "--solution_index");
      is_number(index) && index != "0" && index != "-1") {
    call.kernel = fmt::format("solution {}", index);
  }
  for (const std::string_view name : {"-f", "--function"}) {
    if (const std::string_view function = option(words, name); !function.empty()) {
      call.operation = function;
    }
  }
  return call;
}

bool serves(std::string_view function) {
  static constexpr std::array<std::string_view, 8> others{
      "create_", "destroy_", "set_", "get_", "start_", "stop_", "is_", "initialize"};
  return !function.empty() &&
         std::none_of(others.begin(), others.end(),
                      [&](std::string_view other) { return function.starts_with(other); });
}

// "rocblas_sgemm,N,N,128,128,128,1,0x7f..": the letters that say whether to transpose, then sizes.
std::optional<library_call> read_rocblas_trace(std::string_view line) {
  constexpr std::string_view prefix = "rocblas_";
  const std::vector<std::string_view> fields = split(line, ',');
  if (fields.size() < 3 || !fields[0].starts_with(prefix) ||
      fields[0].find_first_of(" =:/") != npos) {
    return std::nullopt;
  }
  const std::string_view function = fields[0].substr(prefix.size());
  if (!serves(function)) {
    return std::nullopt;
  }
  library_call call;
  call.library = "rocBLAS";
  call.operation = function;
  for (const std::string_view field : fields) {
    if (field.ends_with("_r") || field.ends_with("_c")) {
      call.dtype = dtype_name(field);
      break;
    }
  }
  if (call.dtype.empty() && function.find("_ex") == npos) {
    static constexpr std::array<std::pair<char, std::string_view>, 3> letters{
        {{'s', "float32"}, {'d', "float64"}, {'h', "float16"}}};
    for (const auto& [letter, type] : letters) {
      if (function.front() == letter) {
        call.dtype = type;
      }
    }
  }
  if (function.find("gemm") != npos && fields.size() > 5) {
    static constexpr std::array<char, 3> names{'m', 'n', 'k'};
    for (std::size_t i = 0; i < names.size() && is_number(fields[3 + i]); ++i) {
      call.sizes += fmt::format("{}{}={}", i == 0 ? "" : " ", names[i], fields[3 + i]);
    }
  }
  return call;
}

}  // namespace

library_calls parse_miopen_log(std::string_view text) {
  library_calls calls;
  std::optional<library_call> command;  // waits for the solver that serves it
  for (const std::string_view line : lines_of(text)) {
    const std::optional<miopen_line> read = read_miopen_line(line);
    if (!read) {
      continue;
    }
    if (read->level == "Command") {
      if (std::optional<library_call> next = read_driver_command(read->text)) {
        if (command && command->kernel.empty()) {
          add(calls, *command);
        }
        command = std::move(next);
      }
      continue;
    }
    if (read->level == "Error" || read->level == "Warning") {
      continue;
    }
    library_call call = command.value_or(library_call{"MIOpen", "", "", "", "", "", false, 1});
    if (read_choice(read->text, call)) {
      if (command) {
        command->kernel = call.kernel;
      }
      // The search and the call that follows it both name the solver; only one knows its kernel.
      const auto known = std::find_if(calls.begin(), calls.end(), [&](const library_call& other) {
        return other.kernel == call.kernel && other.sizes == call.sizes;
      });
      if (known != calls.end() && known->note.size() < call.note.size()) {
        known->note = call.note;
      }
      add(calls, std::move(call));
    }
  }
  if (command && command->kernel.empty()) {
    add(calls, *command);
  }
  return calls;
}

library_calls parse_rocblas_log(std::string_view text) {
  library_calls bench;
  library_calls trace;
  for (const std::string_view line : lines_of(text)) {
    if (auto call = read_bench_line(line, "rocblas-bench ", "rocBLAS")) {
      if (!call->operation.empty()) {
        add(bench, std::move(*call));
      }
    } else if (auto traced = read_rocblas_trace(trimmed(line))) {
      add(trace, std::move(*traced));
    }
  }
  return bench.empty() ? trace : bench;
}

library_calls parse_hipblaslt_log(std::string_view text) {
  library_calls bench;
  library_calls trace;
  for (const std::string_view line : lines_of(text)) {
    if (auto call = read_bench_line(line, "hipblaslt-bench ", "hipBLASLt")) {
      if (!call->sizes.empty()) {
        call->operation = "matmul";
        add(bench, std::move(*call));
      }
      continue;
    }
    library_call traced;
    traced.library = "hipBLASLt";
    if (line.find("[HIPBLASLT]") != npos && read_lt_trace(line, traced)) {
      add(trace, std::move(traced));
    }
  }
  return bench.empty() ? trace : bench;
}

}  // namespace assay
