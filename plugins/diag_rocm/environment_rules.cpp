// SPDX-License-Identifier: Apache-2.0
#include "environment_rules.hpp"

#include <algorithm>
#include <array>

#include "text.hpp"

namespace diag_rocm {

namespace {

enum class when { set, on, off, at_least, is, no_such_path };

struct rule {
  std::string_view name;  // a '*' at its end stands for any rest
  when condition;
  std::string_view value;  // of at_least and is: alternatives are separated by '|'
  std::string_view code;
  std::string_view text;
};

constexpr std::string_view no_path = "does not exist";

constexpr std::array rules{
    // What these name must be there.
    rule{"ROCM_PATH", when::no_such_path, "", codes::broken, no_path},
    rule{"ROCM_HOME", when::no_such_path, "", codes::broken, no_path},
    rule{"HIP_PATH", when::no_such_path, "", codes::broken, no_path},
    rule{"HIP_DEVICE_LIB_PATH", when::no_such_path, "", codes::broken, no_path},
    rule{"ROCBLAS_TENSILE_LIBPATH", when::no_such_path, "", codes::broken, no_path},
    rule{"HIPBLASLT_TENSILE_LIBPATH", when::no_such_path, "", codes::broken, no_path},
    rule{"HIPBLASLT_EXT_OP_LIBRARY_PATH", when::no_such_path, "", codes::broken, no_path},
    rule{"MIOPEN_SYSTEM_DB_PATH", when::no_such_path, "", codes::broken, no_path},
    rule{"TMPDIR", when::no_such_path, "", codes::hiprtc_tmpdir,
         "does not exist: HIPRTC then fails without a message"},
    // Results, or what is run at all.
    rule{"MIOPEN_FIND_ENFORCE", when::is, "5|DB_CLEAN", codes::deletes,
         "deletes the user's tuning data of MIOpen"},
    rule{"MIOPEN_DEBUG_COMPILE_ONLY", when::on, "", codes::results, "kernels are not run"},
    rule{"MIOPEN_DEBUG_FIND_ONLY_SOLVER", when::set, "", codes::results,
         "leaves MIOpen one solver only"},
    rule{"MIOPEN_DEBUG_CONV_*", when::off, "", codes::results,
         "switches solvers of MIOpen off, and leaves poorer entries in its user database"},
    rule{"MIOPEN_DEBUG_AMD_*", when::off, "", codes::results,
         "switches solvers of MIOpen off, and leaves poorer entries in its user database"},
    rule{"MIOPEN_DEBUG_GCN_ASM_KERNELS", when::off, "", codes::results,
         "switches solvers of MIOpen off, and leaves poorer entries in its user database"},
    rule{"MIOPEN_DEBUG_HIP_KERNELS", when::off, "", codes::results,
         "switches solvers of MIOpen off, and leaves poorer entries in its user database"},
    rule{"MIOPEN_GEMM_ENFORCE_BACKEND", when::is, "3", codes::results,
         "leaves MIOpen no matrix library"},
    rule{"HIPRTC_COMPILE_OPTIONS_APPEND", when::set, "", codes::results,
         "is added to every kernel compiled at run time: one bad option breaks them all"},
    rule{"HIPRTC_LINK_OPTIONS_APPEND", when::set, "", codes::results,
         "is added to every kernel linked at run time"},
    rule{"PYTORCH_TUNABLEOP_ENABLED", when::on, "", codes::results,
         "tunes matrix products as they are met: first calls are slow, and kernels differ from run "
         "to run"},
    rule{"ROCBLAS_INTERNAL_FP16_ALT_IMPL", when::on, "", codes::results,
         "changes how float16 is multiplied"},
    rule{"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32", when::on, "", codes::results,
         "computes float32 with fewer bits"},
    rule{"ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH", when::set, "", codes::results,
         "replaces rocBLAS's choice of kernels"},
    rule{"HIPBLASLT_TUNING_OVERRIDE_FILE", when::set, "", codes::results,
         "replaces hipBLASLt's choice of kernels"},
    rule{"HIP_HIDDEN_FREE_MEM", when::at_least, "1", codes::results,
         "makes HIP report less free memory than there is"},
    // Speed.
    rule{"AMD_LOG_LEVEL", when::at_least, "3", codes::slow, "logs every call of HIP"},
    rule{"AMD_SERIALIZE_KERNEL", when::at_least, "1", codes::slow, "waits for each kernel"},
    rule{"AMD_SERIALIZE_COPY", when::at_least, "1", codes::slow, "waits for each copy"},
    rule{"HIP_LAUNCH_BLOCKING", when::at_least, "1", codes::slow, "waits for each kernel"},
    rule{"ROC_GLOBAL_CU_MASK", when::set, "", codes::slow, "uses some of the compute units only"},
    rule{"HSA_CU_MASK", when::set, "", codes::slow, "uses some of the compute units only"},
    rule{"HSA_ENABLE_SDMA", when::off, "", codes::slow,
         "copies with kernels, not the copy engines"},
    rule{"GPU_MAX_HW_QUEUES", when::is, "1", codes::slow, "all streams share one queue"},
    rule{"PYTORCH_NO_HIP_MEMORY_CACHING", when::set, "", codes::slow,
         "allocates afresh for every tensor"},
    rule{"PYTORCH_NO_CUDA_MEMORY_CACHING", when::set, "", codes::slow,
         "allocates afresh for every tensor"},
    rule{"MIOPEN_FIND_ENFORCE", when::is, "3|4|SEARCH|SEARCH_DB_UPDATE", codes::slow,
         "tunes every convolution that is met"},
    rule{"MIOPEN_DISABLE_CACHE", when::on, "", codes::slow, "compiles kernels in every process"},
    rule{"MIOPEN_DEBUG_DISABLE_FIND_DB", when::on, "", codes::slow,
         "searches for solvers in every process"},
    rule{"MIOPEN_DEBUG_CONVOLUTION_DETERMINISTIC", when::on, "", codes::slow,
         "leaves faster solvers out"},
    rule{"MIOPEN_CHECK_NUMERICS", when::at_least, "1", codes::slow, "reads every tensor again"},
    rule{"MIOPEN_ENABLE_LOGGING", when::on, "", codes::slow, "logs every call of MIOpen"},
    rule{"MIOPEN_LOG_LEVEL", when::at_least, "6", codes::slow, "logs much of MIOpen's work"},
    rule{"ROCBLAS_LAYER", when::at_least, "1", codes::slow, "logs every call of rocBLAS"},
    rule{"ROCBLAS_CHECK_NUMERICS", when::at_least, "1", codes::slow, "reads every matrix again"},
    rule{"HIPBLASLT_LOG_LEVEL", when::at_least, "1", codes::slow, "logs calls of hipBLASLt"},
    rule{"HIPBLASLT_LOG_MASK", when::at_least, "1", codes::slow, "logs calls of hipBLASLt"},
    rule{"TENSILE_DB", when::at_least, "1", codes::slow, "logs choices of kernels"},
    rule{"AMD_COMGR_CACHE", when::off, "", codes::slow, "compiles kernels anew"},
    rule{"AMD_COMGR_SAVE_TEMPS", when::on, "", codes::slow, "keeps files of every compilation"},
    rule{"AOTRITON_DEBUG_LEVEL", when::at_least, "1", codes::slow, "logs attention kernels"},
    rule{"NCCL_P2P_DISABLE", when::at_least, "1", codes::slow, "GPUs exchange data through memory"},
    rule{"NCCL_SHM_DISABLE", when::at_least, "1", codes::slow, "GPUs exchange data by network"},
};

// MIOpen's booleans: another word than it knows is an exception at the first use.
constexpr std::array<std::string_view, 14> miopen_booleans{
    "MIOPEN_ENABLE_LOGGING",
    "MIOPEN_ENABLE_LOGGING_CMD",
    "MIOPEN_ENABLE_LOGGING_MPMT",
    "MIOPEN_ENABLE_LOGGING_ELAPSED_TIME",
    "MIOPEN_ENABLE_LOGGING_DATE_TIME",
    "MIOPEN_ENABLE_LOGGING_ROCTX",
    "MIOPEN_DISABLE_CACHE",
    "MIOPEN_DEBUG_DISABLE_FIND_DB",
    "MIOPEN_DEBUG_COMPILE_ONLY",
    "MIOPEN_DEBUG_CONVOLUTION_DETERMINISTIC",
    "MIOPEN_DEBUG_GCN_ASM_KERNELS",
    "MIOPEN_DEBUG_HIP_KERNELS",
    "MIOPEN_DEBUG_OPENCL_CONVOLUTIONS",
    "MIOPEN_DEBUG_CONV_*",
};
// Names that the pattern above covers, which are no booleans.
constexpr std::array<std::string_view, 2> not_booleans{"_ALGO", "_SOLVER"};

constexpr std::array<std::string_view, 6> yes_words{"1", "on", "yes", "true", "enable", "enabled"};
constexpr std::array<std::string_view, 6> no_words{"0",     "off",     "no",
                                                   "false", "disable", "disabled"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view value) {
  return std::find(words.begin(), words.end(), lower(value)) != words.end();
}

bool names(std::string_view pattern, std::string_view name) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  }
  return name == pattern;
}

bool applies(const rule& r, const std::string& value, const assay::probe_site& site) {
  switch (r.condition) {
    case when::set:
      return !value.empty();
    case when::on:
      return is_one_of(yes_words, value);
    case when::off:
      return is_one_of(no_words, value);
    case when::at_least:
      return number(value).value_or(0) >= number(r.value).value_or(0);
    case when::is: {
      const auto choices = split(r.value, '|');
      return std::any_of(choices.begin(), choices.end(),
                         [&](std::string_view c) { return lower(c) == lower(value); });
    }
    case when::no_such_path:
      return !value.empty() && !is_there(path_in(site, value));
  }
  return false;
}

std::string setting_of(const environment& variables, const std::string& name) {
  return name + "=" + value_of(variables, name);
}

bool is_miopen_boolean(std::string_view name) {
  return std::any_of(miopen_booleans.begin(), miopen_booleans.end(),
                     [&](std::string_view pattern) { return names(pattern, name); }) &&
         std::none_of(not_booleans.begin(), not_booleans.end(), [&](std::string_view end) {
           return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
         });
}

void broken_booleans(const environment& variables, std::vector<remark>& found) {
  for (const auto& [name, value] : variables) {
    if (is_miopen_boolean(name) && !value.empty() && !is_one_of(yes_words, value) &&
        !is_one_of(no_words, value)) {
      found.push_back({setting_of(variables, name),
                       "is neither yes nor no: MIOpen throws miopenStatusInvalidValue at its first "
                       "use",
                       codes::broken,
                       {name}});
    }
  }
}

/// Options for HIPRTC that take the headers away, or name what is not there.
void broken_options(const environment& variables, const assay::probe_site& site,
                    std::vector<remark>& found) {
  const std::string name = "HIPRTC_COMPILE_OPTIONS_APPEND";
  const std::string value = value_of(variables, name);
  for (const std::string_view option : words_of(value)) {
    const std::size_t equals = option.find('=');
    const std::string_view key = option.substr(0, equals);
    const bool names_path = key == "--sysroot" || key == "--gcc-toolchain" ||
                            key == "--gcc-install-dir" || key == "--rocm-path";
    if (option == "-nostdinc" || option == "-nostdinc++") {
      found.push_back({setting_of(variables, name),
                       std::string(option) + " takes the C++ headers from kernels compiled at run "
                                             "time",
                       codes::broken,
                       {name}});
    } else if (names_path && equals != std::string_view::npos &&
               !is_there(path_in(site, option.substr(equals + 1)))) {
      found.push_back({setting_of(variables, name),
                       std::string(option) + " names what does not exist",
                       codes::broken,
                       {name}});
    }
  }
}

/// Several names for one thing: the first that is set wins.
void conflict(const environment& variables, std::initializer_list<const char*> by_rank,
              std::string_view text, std::vector<remark>& found) {
  std::vector<std::string> set;
  bool differ = false;
  for (const char* const name : by_rank) {
    if (!value_of(variables, name).empty()) {
      differ =
          differ || (!set.empty() && value_of(variables, set.front()) != value_of(variables, name));
      set.emplace_back(name);
    }
  }
  if (differ) {
    std::vector<std::string> settings;
    for (const std::string& name : set) {
      settings.push_back(setting_of(variables, name));
    }
    found.push_back({joined(settings, ", "), "differ: " + set.front() + std::string(text),
                     codes::conflict, std::vector(set.begin() + 1, set.end())});
  }
}

void conflicts(const environment& variables, std::vector<remark>& found) {
  conflict(variables, {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"},
           " wins, and the others are not read", found);
  conflict(variables, {"HIPBLAS_WORKSPACE_CONFIG", "CUBLAS_WORKSPACE_CONFIG"},
           " wins over its other name", found);
  conflict(variables, {"TORCH_BLAS_PREFER_CUBLASLT", "TORCH_BLAS_PREFER_HIPBLASLT"},
           " wins over its other name", found);
  if (!value_of(variables, "HIPBLASLT_LOG_LEVEL").empty() &&
      !value_of(variables, "HIPBLASLT_LOG_MASK").empty()) {
    found.push_back({setting_of(variables, "HIPBLASLT_LOG_LEVEL"),
                     "makes hipBLASLt ignore HIPBLASLT_LOG_MASK",
                     codes::conflict,
                     {"HIPBLASLT_LOG_LEVEL"}});
  }
}

void ignored(const environment& variables, std::string_view architecture,
             std::vector<remark>& found) {
  if (!value_of(variables, "CUDA_LAUNCH_BLOCKING").empty() &&
      value_of(variables, "CUDA_LAUNCH_BLOCKING") != "0") {
    found.push_back({setting_of(variables, "CUDA_LAUNCH_BLOCKING"),
                     "is not read by HIP: AMD_SERIALIZE_KERNEL=3 is",
                     codes::ignored,
                     {"CUDA_LAUNCH_BLOCKING"}});
  }
  const bool no_hipblaslt = architecture.substr(0, 5) == "gfx10" || architecture == "gfx900" ||
                            architecture == "gfx906" || architecture == "gfx90c";
  for (const char* const name :
       {"TORCH_BLAS_PREFER_HIPBLASLT", "TORCH_BLAS_PREFER_CUBLASLT", "ROCBLAS_USE_HIPBLASLT"}) {
    if (no_hipblaslt && value_of(variables, name) == "1") {
      found.push_back({setting_of(variables, name),
                       "cannot help: hipBLASLt is not made for " + std::string(architecture),
                       codes::ignored,
                       {name}});
    }
  }
}

}  // namespace

std::vector<remark> remarks_on(const environment& variables, const assay::probe_site& site,
                               std::string_view architecture) {
  std::vector<remark> found;
  broken_booleans(variables, found);
  broken_options(variables, site, found);
  for (const auto& [name, value] : variables) {
    for (const rule& r : rules) {
      const std::string setting = setting_of(variables, name);
      const bool said = std::any_of(found.begin(), found.end(),
                                    [&](const remark& known) { return known.setting == setting; });
      if (!said && names(r.name, name) && applies(r, value, site)) {
        found.push_back({setting, std::string(r.text), r.code, {name}});
      }
    }
  }
  conflicts(variables, found);
  ignored(variables, architecture, found);
  constexpr std::array order{codes::hiprtc_tmpdir, codes::broken, codes::deletes, codes::results,
                             codes::conflict,      codes::slow,   codes::ignored};
  std::stable_sort(found.begin(), found.end(), [&](const remark& a, const remark& b) {
    return std::find(order.begin(), order.end(), a.code) <
           std::find(order.begin(), order.end(), b.code);
  });
  return found;
}

}  // namespace diag_rocm
