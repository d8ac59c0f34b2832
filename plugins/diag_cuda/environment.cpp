// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/environment.hpp"

#include "common/platform.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace diag_cuda {
namespace {

constexpr const char* slow = "CUDA-ENV-SLOW";
constexpr const char* invalid = "CUDA-ENV-INVALID";
constexpr const char* precision = "CUDA-ENV-PRECISION";

bool starts_with(std::string_view text, std::string_view token) {
  return text.substr(0, token.size()) == token;
}

/// A GPU as the driver takes it: 0, GPU-..., MIG-...
bool names_gpu(std::string_view entry) {
  return probing::whole_number(entry).has_value() || starts_with(entry, "GPU-") ||
         starts_with(entry, "MIG-");
}

void look_at_visible(const std::string& value, std::vector<pitfall>& found) {
  const std::string line = "CUDA_VISIBLE_DEVICES=" + value;
  const auto entries = probing::split(value, ',');
  if (entries.empty() || !names_gpu(probing::trimmed(entries.front()))) {
    found.push_back({hides_gpus,
                     value.empty()
                         ? "CUDA_VISIBLE_DEVICES is set and empty, which hides every GPU"
                         : "CUDA_VISIBLE_DEVICES begins with '" + std::string(entries.front()) +
                               "', which names no GPU, so that every GPU is hidden",
                     line});
    return;
  }
  std::vector<std::string_view> seen;
  for (const std::string_view raw : entries) {
    const std::string_view entry = probing::trimmed(raw);
    if (!names_gpu(entry)) {
      found.push_back({invalid,
                       "CUDA_VISIBLE_DEVICES names no GPU with '" + std::string(entry) +
                           "': that one and all after it are hidden",
                       line});
      return;
    }
    if (std::find(seen.begin(), seen.end(), entry) != seen.end()) {
      found.push_back(
          {hides_gpus, "CUDA_VISIBLE_DEVICES names a GPU twice, which hides every GPU", line});
      return;
    }
    seen.push_back(entry);
  }
}

/// ":4096:8:16:8": pairs of sizes and counts.
bool is_workspace(std::string_view value) {
  if (value.empty() || value.front() != ':') {
    return false;
  }
  const auto parts = probing::split(value.substr(1), ':');
  return parts.size() % 2 == 0 && std::all_of(parts.begin(), parts.end(), [](std::string_view one) {
           return probing::whole_number(one).has_value();
         });
}

// Of LibTorch 2.6 to 2.15.
constexpr std::array<std::string_view, 13> allocator_keys{"max_split_size_mb",
                                                          "max_non_split_rounding_mb",
                                                          "garbage_collection_threshold",
                                                          "roundup_power2_divisions",
                                                          "backend",
                                                          "expandable_segments",
                                                          "release_lock_on_cudamalloc",
                                                          "release_lock_on_hipmalloc",
                                                          "pinned_use_cuda_host_register",
                                                          "pinned_use_hip_host_register",
                                                          "pinned_num_register_threads",
                                                          "pinned_use_background_threads",
                                                          "graph_capture_record_stream_reuse"};

void look_at_allocator(const std::string& name, const std::string& value,
                       std::vector<pitfall>& found) {
  // Values in brackets have commas of their own.
  std::string flat;
  int depth = 0;
  for (const char c : value) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    flat += depth > 0 && (c == ',' || c == ':') ? ' ' : c;
  }
  for (const std::string_view raw : probing::split(flat, ',')) {
    const std::string_view option = probing::trimmed(raw);
    const std::size_t colon = option.find(':');
    const std::string_view key = probing::trimmed(option.substr(0, colon));
    const bool known =
        std::find(allocator_keys.begin(), allocator_keys.end(), key) != allocator_keys.end() ||
        starts_with(key, "per_process_memory_fraction") || starts_with(key, "throw_on_cuda");
    if (colon == std::string_view::npos || !known) {
      found.push_back({invalid,
                       name + " has the option '" + std::string(option) +
                           "', which LibTorch's allocator may refuse",
                       name + "=" + value});
    } else if (key == "max_split_size_mb" &&
               probing::whole_number(option.substr(colon + 1)).value_or(0) <= 20) {
      found.push_back({invalid, name + " has max_split_size_mb of 20 or less, which is refused",
                       name + "=" + value});
    }
  }
}

bool is_on(const std::string& value) { return !value.empty() && value != "0"; }

struct switch_rule {
  const char* name;
  const char* code;
  const char* text;
};
constexpr std::array switches{
    switch_rule{"CUDA_LAUNCH_BLOCKING", slow,
                "CUDA_LAUNCH_BLOCKING makes every kernel wait: for finding faults only"},
    switch_rule{"CUDA_CACHE_DISABLE", slow,
                "CUDA_CACHE_DISABLE makes the driver compile PTX anew at each start"},
    switch_rule{"CUDA_FORCE_PTX_JIT", slow,
                "CUDA_FORCE_PTX_JIT ignores the machine code in LibTorch, which mostly has no PTX"},
    switch_rule{"CUDA_DISABLE_PTX_JIT", invalid,
                "CUDA_DISABLE_PTX_JIT refuses kernels that are there as PTX only"},
    switch_rule{"PYTORCH_NO_CUDA_MEMORY_CACHING", slow,
                "PYTORCH_NO_CUDA_MEMORY_CACHING asks the driver for each tensor's memory"},
};

}  // namespace

std::vector<pitfall> pitfalls_in(const probing::variables& environment) {
  std::vector<pitfall> found;
  const auto value_of = [&](const char* name) { return probing::value_of(environment, name); };
  if (const auto set = environment.find("CUDA_VISIBLE_DEVICES"); set != environment.end()) {
    look_at_visible(set->second, found);
  }
  for (const switch_rule& rule : switches) {
    if (const std::string value = value_of(rule.name); is_on(value)) {
      found.push_back({rule.code, rule.text, std::string(rule.name) + "=" + value});
    }
  }
  if (const std::string value = value_of("CUDA_MODULE_LOADING"); value == "EAGER") {
    found.push_back({slow,
                     "CUDA_MODULE_LOADING=EAGER loads every kernel at the start: slower, and "
                     "hundreds of MiB more on the GPU",
                     "CUDA_MODULE_LOADING=" + value});
  } else if (!value.empty() && value != "LAZY" && value != "DEFAULT") {
    found.push_back({invalid, "CUDA_MODULE_LOADING knows LAZY and EAGER, not '" + value + "'",
                     "CUDA_MODULE_LOADING=" + value});
  }
  if (const std::string value = value_of("NVIDIA_TF32_OVERRIDE"); value == "0") {
    found.push_back({precision,
                     "NVIDIA_TF32_OVERRIDE=0 forbids TF32 in every library, whatever the program "
                     "asks for: exact, and several times slower",
                     "NVIDIA_TF32_OVERRIDE=0"});
  } else if (is_on(value)) {
    found.push_back({precision,
                     "NVIDIA_TF32_OVERRIDE=1 makes libraries compute float32 in TF32 (10 bits of "
                     "mantissa), whatever the program asks for",
                     "NVIDIA_TF32_OVERRIDE=" + value});
  }
  if (const std::string value = value_of("CUBLAS_WORKSPACE_CONFIG");
      !value.empty() && !is_workspace(value)) {
    found.push_back({invalid, "CUBLAS_WORKSPACE_CONFIG must look like :4096:8, not '" + value + "'",
                     "CUBLAS_WORKSPACE_CONFIG=" + value});
  }
  if (const std::string value = value_of("CUDA_CACHE_MAXSIZE"); value == "0") {
    found.push_back({slow, "CUDA_CACHE_MAXSIZE=0 keeps no compiled PTX", "CUDA_CACHE_MAXSIZE=0"});
  }
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    look_at_allocator(name, value_of(name), found);
  }
  return found;
}

assay::probe_answer look_at_environment(const assay::probe_site& site) {
  const machine m = look_at(site);
  if (!m.has_gpu() && !(probing::is_windows && site.is_this_machine())) {
    return probing::unknown(no_gpu_reason(m));
  }
  const probing::variables environment = probing::variables_of(site);
  const std::vector<pitfall> found = pitfalls_in(environment);
  if (found.empty()) {
    return probing::yes("nothing is set that does harm");
  }
  std::vector<std::string> texts;
  assay::probe_answer answer = probing::no("");
  for (const pitfall& one : found) {
    texts.push_back(one.text);
    answer.evidence.push_back(one.line);
    if (std::find(answer.findings.begin(), answer.findings.end(), one.code) ==
        answer.findings.end()) {
      answer.findings.push_back(one.code);
    }
  }
  answer.fact = probing::joined(texts, "; ");
  return answer;
}

}  // namespace diag_cuda
