// SPDX-License-Identifier: Apache-2.0
#include "library_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "library_log_lines.hpp"

namespace assay {

namespace log_lines {

namespace {

constexpr auto npos = std::string_view::npos;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += lower(c);
  }
  return out;
}

void take_away(std::string& text, std::string_view prefix) {
  if (text.starts_with(prefix)) {
    text.erase(0, prefix.size());
  }
}

/// "MATMUL_TILE_128x64" -> "128x64".
std::string_view behind_last_underscore(std::string_view text) {
  const auto at = text.rfind('_');
  return at == npos ? text : text.substr(at + 1);
}

/// The value of `key=` in "algoId=21 tile=MATMUL_TILE_32x32".
std::string_view value_of(std::string_view pairs, std::string_view key) {
  for (const std::string_view word : words_of(pairs)) {
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
      return word.substr(key.size() + 1);
    }
  }
  return {};
}

bool is_transposed(std::string_view description, std::string_view key) {
  for (const std::string_view word : words_of(description)) {
    const auto equals = word.find('=');
    if (equals != npos && lower(word.substr(0, equals)) == key) {
      return word.substr(equals + 1) != "OP_N";
    }
  }
  return false;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words = split(text, ' ');
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == npos ? std::string_view()
                       : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view between(std::string_view text, std::string_view before, std::string_view until) {
  const auto at = text.find(before);
  if (at == npos) {
    return {};
  }
  text.remove_prefix(at + before.size());
  return until.empty() ? text : text.substr(0, text.find(until));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == npos &&
         text.find_first_of("0123456789") != npos;
}

void add(library_calls& calls, library_call call) {
  const auto same = std::find_if(calls.begin(), calls.end(), [&](const library_call& known) {
    return known.library == call.library && known.operation == call.operation &&
           known.kernel == call.kernel && known.sizes == call.sizes && known.dtype == call.dtype;
  });
  if (same == calls.end()) {
    calls.push_back(std::move(call));
  } else {
    same->lines += call.lines;
  }
}

std::string dtype_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> names{
      {{"32f", "float32"},
       {"f32", "float32"},
       {"float", "float32"},
       {"16f", "float16"},
       {"f16", "float16"},
       {"half", "float16"},
       {"fp16", "float16"},
       {"16bf", "bfloat16"},
       {"bf16", "bfloat16"},
       {"bfp16", "bfloat16"},
       {"bfloat16", "bfloat16"},
       {"64f", "float64"},
       {"f64", "float64"},
       {"double", "float64"},
       {"fp64", "float64"},
       {"8i", "int8"},
       {"i8", "int8"},
       {"s8", "int8"},
       {"32i", "int32"},
       {"i32", "int32"},
       {"s32", "int32"},
       {"8f_e4m3", "float8_e4m3"},
       {"8f_e5m2", "float8_e5m2"},
       {"u8", "uint8"}}};
  std::string short_name = lower(name);
  for (const std::string_view prefix : {"cuda_", "hip_", "cudnn_data_", "r_"}) {
    take_away(short_name, prefix);
  }
  if (short_name.ends_with("_r")) {
    short_name.resize(short_name.size() - 2);
  }
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& known) { return known.first == short_name; });
  return found == names.end() ? short_name : std::string(found->second);
}

bool read_lt_trace(std::string_view line, library_call& call) {
  // "[time][cublasLt][pid][Trace][cublasLtSSSMatmul] A=.. Adesc=[type=.. rows=.. cols=..] .."
  const auto end = line.find("] ");
  if (end == npos || line.substr(0, end).find("[Trace]") == npos) {
    return false;
  }
  const std::string_view head = line.substr(0, end);
  call.operation = head.substr(head.rfind('[') + 1);
  const std::string_view a = between(line, "Adesc=[", "]");
  const std::string_view d = between(line, "Ddesc=[", "]");
  if (a.empty() || d.empty() || !lower(call.operation).ends_with("matmul")) {
    return false;
  }
  const std::string_view compute = between(line, "computeDesc=[", "]");
  call.dtype = dtype_name(value_of(a, "type"));
  call.sizes = fmt::format("m={} n={} k={}", value_of(d, "rows"), value_of(d, "cols"),
                           value_of(a, is_transposed(compute, "transa") ? "rows" : "cols"));
  const std::string_view algorithm = between(line, "algo=[", "]");
  if (const std::string_view id = value_of(algorithm, "algoId"); !id.empty()) {
    call.kernel = fmt::format("algorithm {}", id);
    for (const auto& [key, title] :
         {std::pair("tile", "tile"), std::pair("stages", "stages"),
          std::pair("clusterShape", "cluster"), std::pair("numSplitsK", "split-k")}) {
      if (const std::string_view value = value_of(algorithm, key); !value.empty()) {
        call.kernel += fmt::format(" {} {}", title, behind_last_underscore(value));
      }
    }
  }
  if (const std::string_view type = value_of(compute, "computeType"); !type.empty()) {
    call.note = lower(type);
    take_away(call.note, "compute_");
    call.note.insert(0, "computes in ");
  }
  return true;
}

}  // namespace log_lines

std::string library_call::what() const { return kernel.empty() ? operation : kernel; }

std::string library_call::detail() const {
  std::string text = kernel.empty() ? "" : operation;
  const auto append = [&](const std::string& part, const char* separator) {
    if (!part.empty()) {
      text += (text.empty() ? "" : separator) + part;
    }
  };
  append(dtype, " ");
  append(sizes, " ");
  append(note, "; ");
  return text;
}

// "onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx512_core,forward_inference,
//  src:f32::blocked:acdb::f0 ..,attr..,alg:convolution_direct,mb1_ic3oc8_..,0.05": older versions
// lack some of the words in front of exec.
library_calls parse_onednn_log(std::string_view text) {
  using namespace log_lines;
  library_calls calls;
  library_calls reorders;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with("onednn_verbose,") && !line.starts_with("dnnl_verbose,")) {
      continue;
    }
    const std::vector<std::string_view> fields = split(line, ',');
    const auto exec = std::find(fields.begin(), fields.end(), "exec");
    if (fields.end() - exec < 8) {  // engine, primitive, kernel, direction, data, problem, time
      continue;
    }
    library_call call;
    call.library = "oneDNN";
    call.operation = exec[2];
    call.kernel = exec[3];
    call.sizes = fields[fields.size() - 2];
    const std::string_view source = between(exec[5], "src", " ");
    if (source.size() > 1) {
      call.dtype = dtype_name(source.substr(1, source.find(':', 1) - 1));
    }
    if (call.kernel.starts_with("ref")) {
      call.note = "the reference kernel, slow";
      call.slow = true;
    }
    library_calls& to = call.operation == "reorder" ? reorders : calls;
    add(to, std::move(call));
  }
  calls.insert(calls.end(), reorders.begin(), reorders.end());
  return calls;
}

}  // namespace assay
