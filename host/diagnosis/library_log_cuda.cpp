// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS, cuBLASLt and cuDNN.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "library_log.hpp"
#include "library_log_lines.hpp"

namespace assay {

namespace {

using namespace log_lines;
constexpr auto npos = std::string_view::npos;

/// "I! cuBLAS (v12.0) function .. called:" and the "i! name: type=..; val=.." behind it.
struct api_call {
  std::string_view function;
  std::vector<std::string_view> arguments;
};

/// The function's name in "function cublasStatus_t cublasSgemm_v2(cublasHandle_t, ..) called:".
std::string_view function_in(std::string_view line) {
  const std::string_view behind = between(line, " function ", " called");
  const std::string_view before = behind.substr(0, behind.find('('));
  const auto blank = trimmed(before).rfind(' ');
  return blank == npos ? trimmed(before) : trimmed(before).substr(blank + 1);
}

std::vector<api_call> api_calls(std::string_view text, std::string_view library) {
  std::vector<api_call> calls;
  bool inside = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("I! ")) {
      const std::string_view function = function_in(line);
      inside = line.substr(3).starts_with(library) && !function.empty();
      if (inside) {
        calls.push_back({function, {}});
      }
    } else if (inside && line.starts_with("i!")) {
      calls.back().arguments.push_back(trimmed(line.substr(2)));
    }
  }
  return calls;
}

/// Of "m: type=int; val=128": 128; "" where there is no such argument.
std::string_view argument(const api_call& call, std::string_view name) {
  for (const std::string_view line : call.arguments) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      std::string_view value = between(line, "val=", ";");
      if (const auto bracket = value.find_first_of("( "); bracket != npos && bracket > 0) {
        value = value.substr(0, bracket);
      }
      return value;
    }
  }
  return {};
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != npos; });
}

std::string_view blas_dtype(const api_call& call) {
  for (const std::string_view name : {"Atype", "aType"}) {
    if (const std::string_view type = argument(call, name); !type.empty()) {
      return type;
    }
  }
  switch (call.function.size() > 6 ? call.function[6] : '\0') {
    case 'S':
      return "f32";
    case 'D':
      return "f64";
    case 'H':
      return "f16";
    default:
      return {};
  }
}

bool is_work_of_cudnn(std::string_view function) {
  return !contains_any(function, {"cudnnGet", "cudnnSet", "cudnnFind", "cudnnCreate",
                                  "cudnnDestroy", "cudnnQuery", "Workspace", "Space"}) &&
         contains_any(function,
                      {"Execute", "Forward", "Backward", "OpTensor", "AddTensor", "ReduceTensor",
                       "ScaleTensor", "TransformTensor", "MultiHeadAttn"});
}

bool is_plain_execute(std::string_view operation) {
  return operation.starts_with("cudnnBackendExecute");
}

/// The engine and the operation that the dump of an execution plan tells.
void read_plan(const api_call& call, std::string_view last_engine, library_call& out) {
  std::vector<std::string> operations;  // of the plan's graph, each kind once
  for (const std::string_view line : call.arguments) {
    const std::string_view type = between(line, "type=CUDNN_BACKEND_OPERATION_", "_DESCRIPTOR");
    if (!type.empty()) {
      std::string words;
      for (const char c : type) {
        words += c == '_' ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      }
      if (std::find(operations.begin(), operations.end(), words) == operations.end()) {
        operations.push_back(std::move(words));
      }
    }
  }
  if (!operations.empty() && is_plain_execute(out.operation)) {
    out.operation = fmt::format("{}", fmt::join(operations, " + "));
  }
  std::string_view engine = argument(call, "engine_id");
  engine = engine.empty() || engine == "-1" ? last_engine : engine;
  if (is_number(engine)) {
    out.kernel = fmt::format("engine {}", engine);
  }
}

void read_tensors(const api_call& call, library_call& out) {
  constexpr std::size_t most_shapes = 3;
  std::size_t shapes = 0;
  for (const std::string_view line : call.arguments) {
    if (out.dtype.empty() && line.find("type=cudnnDataType_t") != npos) {
      const std::string_view value = between(line, "val=", ";");
      out.dtype = dtype_name(value.substr(0, value.find(' ')));
    }
    if (line.starts_with("dimA:") && shapes < most_shapes) {
      const std::string_view dims = between(line, "val=", ";");
      if (!dims.empty() && out.sizes.find(dims) == npos) {
        out.sizes += fmt::format("{}{}", shapes == 0 ? "" : " ", dims);
        ++shapes;
      }
    }
  }
}

// "[cudnn_frontend] INFO: Executing "eng14_k2=2_k3=0" plan": LibTorch's own words.
std::string plan_in_frontend(std::string_view line) {
  const auto at = line.find("eng");
  if (line.find("[cudnn_frontend]") == npos || line.find("xecut") == npos || at == npos) {
    return "";
  }
  std::string_view tag = line.substr(at);
  tag = tag.substr(0, tag.find_first_of(" \"',;"));
  tag = tag.substr(0, tag.find_last_not_of('.') + 1);
  return tag.size() > 3 && tag[3] >= '0' && tag[3] <= '9' ? std::string(tag) : "";
}

// Version 9 logs an execution twice, as the call and as what the library makes of it: the one that
// does not name its operation adds nothing where another has the same engine.
void drop_echoes(library_calls& calls) {
  const auto echo = [&calls](const library_call& call) {
    return is_plain_execute(call.operation) &&
           std::any_of(calls.begin(), calls.end(), [&](const library_call& other) {
             return !is_plain_execute(other.operation) && other.kernel == call.kernel;
           });
  };
  const library_calls all = calls;
  std::vector<bool> gone;
  std::transform(all.begin(), all.end(), std::back_inserter(gone), echo);
  std::size_t at = 0;
  calls.erase(
      std::remove_if(calls.begin(), calls.end(), [&](const library_call&) { return gone[at++]; }),
      calls.end());
}

}  // namespace

library_calls parse_cublas_log(std::string_view text) {
  library_calls calls;
  for (const api_call& call : api_calls(text, "cuBLAS")) {
    if (!call.function.starts_with("cublas") ||
        contains_any(call.function, {"cublasSet", "cublasGet", "cublasCreate", "cublasDestroy",
                                     "cublasLogger", "cublasLt"})) {
      continue;
    }
    library_call out;
    out.library = "cuBLAS";
    out.operation = call.function.substr(0, call.function.find("_v2"));
    out.dtype = dtype_name(blas_dtype(call));
    for (const std::string_view name : {"m", "n", "k", "batchCount"}) {
      if (const std::string_view value = argument(call, name); is_number(value)) {
        out.sizes += fmt::format("{}{}={}", out.sizes.empty() ? "" : " ", name, value);
      }
    }
    add(calls, std::move(out));
  }
  return calls;
}

library_calls parse_cublaslt_log(std::string_view text) {
  library_calls calls;
  for (const std::string_view line : lines_of(text)) {
    library_call call;
    call.library = "cuBLASLt";
    if (line.find("[cublasLt]") != npos && read_lt_trace(line, call)) {
      add(calls, std::move(call));
    }
  }
  return calls;
}

library_calls parse_cudnn_log(std::string_view text) {
  library_calls calls;
  std::string last_engine;
  for (const api_call& call : api_calls(text, "CuDNN")) {
    if (call.function == "cudnnBackendSetAttribute") {
      if (argument(call, "attributeName") == "CUDNN_ATTR_ENGINE_GLOBAL_INDEX") {
        const std::string_view id = argument(call, "[0]");
        last_engine = is_number(id) ? std::string(id) : last_engine;
      }
      continue;
    }
    // Since version 9 a call is logged again when it comes back, with its status alone.
    const bool came_back = !call.arguments.empty() && call.arguments.front().starts_with("status:");
    if (!is_work_of_cudnn(call.function) || came_back) {
      continue;
    }
    library_call out;
    out.library = "cuDNN";
    out.operation = call.function;
    if (call.function.find("Execute") != npos) {
      read_plan(call, last_engine, out);
    } else if (const std::string_view algorithm = argument(call, "algo"); !algorithm.empty()) {
      out.kernel = algorithm;
    }
    read_tensors(call, out);
    add(calls, std::move(out));
  }
  for (const std::string_view line : lines_of(text)) {
    const std::string plan = plan_in_frontend(line);
    if (plan.empty()) {
      continue;
    }
    const auto unnamed = std::find_if(calls.begin(), calls.end(), [](const library_call& call) {
      return call.kernel.find("eng") != 0 || call.kernel.starts_with("engine ");
    });
    if (unnamed != calls.end()) {
      unnamed->kernel = plan;
    } else {
      add(calls, {"cuDNN", "plan", plan, "", "", "", false, 1});
    }
  }
  drop_echoes(calls);
  return calls;
}

}  // namespace assay
