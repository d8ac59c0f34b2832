// SPDX-License-Identifier: Apache-2.0
// Each switch in a process of its own, and what that process must say.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "smoke_checks.h"

namespace smoke {
namespace {

struct Case {
  std::string switches;
  std::string action;
  int status;  // 128 + signal, as the shell says it
  std::vector<std::string> says;
  std::vector<std::string> never = {};
};

const std::vector<Case>& cases() {
  static const std::string illegal = "Error: HIP error: an illegal memory access was encountered";
  static const std::string assertion = "Error: HIP error: device-side assert triggered";
  static const std::vector<Case> all = {
      {"", "gelu", 0, {"same\nfine"}},
      {"", "--leave", 0, {}},
      {"missing=aten::gelu",
       "gelu",
       0,
       {"NotImplementedError: Could not run 'aten::gelu' with arguments from the 'CUDA' backend"}},
      {"cpu_fallback=aten::softmax", "softmax", 0, {"same\nfine"}},
      {"cpu_fallback=aten::_softmax", "softmax", 0, {"same\nfine"}},
      {"cpu_output=aten::mm", "mm", 0, {"is on cpu\nfine"}},
      {"wrong=aten::mm", "mm", 0, {"differs\nfine"}},
      {"wrong=aten::argmax", "argmax", 0, {"differs\nfine"}},
      {"wrong=layer_norm", "layer_norm", 0, {"differs\nfine"}},
      {"nan=aten::cumsum", "cumsum", 0, {"differs\nfine"}},
      {"slow=aten::exp:5ms", "--slow", 0, {"times differ as they should"}},
      {"kernel_time=5ms", "--slow", 0, {"times differ as they should"}},
      {"hang=aten::tanh", "--hang", 0, {"launched\nsynchronise blocks"}},
      {"crash=aten::relu", "relu", 134, {"Memory access fault by GPU"}},
      {"poison=aten::sigmoid",
       "--poison",
       0,
       {"launch fine", "synchronise " + illegal, "relu " + illegal, "copy " + illegal,
        "make " + illegal, "event " + illegal}},
      {"poison=aten::var", "var", 0, {illegal}},
      {"miopen_fail=miopen_convolution",
       "conv2d",
       0,
       {"MIOpen(HIP): Error [Compile] 'hiprtcCompileProgram(", "HIPRTC_ERROR_COMPILATION (6)",
        "'type_traits' file not found", "Error: miopenStatusUnknownError"}},
      {"miopen_fail=miopen_batch_norm", "batch_norm", 0, {"same\nfine"}},
      {"miopen_fail=miopen_batch_norm",
       "batch_norm with weights",
       0,
       {"Error: miopenStatusUnknownError"}},
      {"oom=aten::cat", "cat", 0, {"OutOfMemoryError: HIP out of memory. Tried to allocate"}},
      // For operators that are composed of others, too.
      {"missing=softmax", "softmax", 0, {"Could not run 'aten::softmax.int'"}},
      {"cpu_output=softmax", "softmax", 0, {"is on cpu\nfine"}},
      {"nan=layer_norm", "evidence of layer_norm", 0, {"result differs", "65536 wrong of many"}},
      {"slow=softmax:5ms",
       "evidence of softmax",
       0,
       {"kernel simulated_softmax_kernel <- aten::softmax, 5 ms"}},
      {"slow=_softmax:5ms",
       "evidence of softmax",
       0,
       {"kernel simulated__softmax_kernel <- aten::_softmax, 5 ms"}},
      {"hang=softmax", "--hang", 0, {"launched\nsynchronise blocks"}},
      {"hang=_softmax", "--hang", 0, {"launched\nsynchronise blocks"}},
      {"crash=softmax", "softmax", 134, {"Memory access fault by GPU"}},
      {"poison=layer_norm", "layer_norm", 0, {illegal}},
      {"oom=layer_norm", "layer_norm", 0, {"OutOfMemoryError: HIP out of memory"}},
      {"miopen_fail=batch_norm", "batch_norm", 0, {"Error: miopenStatusUnknownError"}},
      {"miopen_fail=conv2d", "conv2d", 0, {"Error: miopenStatusUnknownError"}},
      // What a chain of evidence sees.
      {"",
       "evidence of gelu",
       0,
       {"result same", "trace aten::gelu[cuda]\n", "kernel simulated_gelu_kernel <- aten::gelu",
        "-> Tensor [ boxed ] | CUDA: simulated ROCm device [kernel]"},
       {"copy ", "(none)", "cpu"}},
      {"",
       "evidence of nonzero",
       0,
       {"result same", "copy Memcpy DtoH (Device -> Host), 8 bytes <- aten::nonzero\n"}},
      {"cpu_fallback=gelu",
       "evidence of gelu",
       0,
       {"result same", "aten::_to_cpu[", "CUDA: simulated ROCm device :: (none) [ boxed ]",
        "copy Memcpy DtoH (Device -> Host), 262144 bytes",
        "copy Memcpy HtoD (Host -> Device), 262144 bytes"}},
      {"cpu_fallback=index_select",
       "evidence of index_select",
       0,
       {"result same", "aten::_to_cpu[",
        "table aten::index_select: none | CUDA: simulated ROCm device [backend fallback]"}},
      {"round_trip=gelu",
       "evidence of gelu",
       0,
       {"result same", "trace aten::gelu[cuda] aten::to[cpu+cuda] aten::_to_copy[cpu+cuda]",
        "aten::copy_[cpu+cuda] aten::gelu[cpu] aten::to[cpu+cuda]",
        "copy Memcpy DtoH (Device -> Host), 262144 bytes <- aten::copy_\n",
        "copy Memcpy HtoD (Host -> Device), 262144 bytes <- aten::copy_\n"},
       {"_to_cpu", "(none)"}},
      {"round_trip=softmax",
       "evidence of softmax",
       0,
       {"result same", "aten::softmax[cpu] aten::_softmax[cpu]", "Memcpy DtoH", "Memcpy HtoD"}},
      {"round_trip=miopen_convolution",
       "evidence of conv2d",
       0,
       {"result same", "aten::convolution[cpu]"}},
      {"round_trip=add,mul,index_select", "out=", 0, {"same\nfine"}},
      {"round_trip=index_select", "out= without a meta kernel", 0, {"same\nfine"}},
      {"round_trip=add_,relu_,cat", "in place", 0, {"same\nfine"}},
      {"round_trip=cat", "cat", 0, {"same\nfine"}},
      {"round_trip=arange", "arange", 0, {"same\nfine"}},
      {"zeros=mm", "evidence of mm", 0, {"result differs", "all are 0\n"}},
      {"zeros=layer_norm", "evidence of layer_norm", 0, {"all are 0\n"}},
      {"constant=mm", "evidence of mm", 0, {"result differs", "all are 1\n"}},
      {"constant=argmax", "evidence of argmax", 0, {"all are 1\n"}},
      {"one_wrong=mm", "evidence of mm", 0, {"result differs", "\n1 wrong of many"}},
      {"one_wrong=sort", "evidence of sort", 0, {"result differs", "\n1 wrong of many"}},
      {"one_wrong=layer_norm", "evidence of layer_norm", 0, {"\n1 wrong of many"}},
      {"", "--repeat", 0, {"the same\nthe same\n"}},
      {"unrepeatable=mm", "--repeat", 0, {"nearly the same\nnearly the same\n"}},
      {"unrepeatable=sum", "evidence of sum", 0, {"result same"}},
      {"", "--margins", 0, {"before 1, behind 1, further 1\nresult \n"}},
      {"overrun=add.out", "--margins", 0, {"before 1, behind 0, further 1\nresult \n"}},
      {"",
       "evidence of sdpa",
       0,
       {"result same", "aten::_scaled_dot_product_efficient_attention["},
       {"attention_math"}},
      {"slow_path=scaled_dot_product_attention",
       "evidence of sdpa",
       0,
       {"result same", "aten::_scaled_dot_product_attention_math["},
       {"efficient", "flash"}},
      {"slow_path=batch_norm",
       "evidence of batch_norm with weights",
       0,
       {"result same", "aten::native_batch_norm["},
       {"miopen"}},
      {"slow_path=convolution",
       "evidence of conv2d",
       0,
       {"result same", "aten::_slow_conv2d_forward[cuda]",
        "kernel simulated__slow_conv2d_forward_kernel"},
       {"miopen"}},
      {"slow_path=convolution",
       "evidence of conv3d",
       0,
       {"result same", "aten::slow_conv_dilated3d[cuda]"},
       {"miopen"}},
      {"slow_path=conv1d", "evidence of conv1d", 0, {"result same", "aten::_slow_conv2d_forward["}},
      {"slow_path=convolution",
       "evidence of conv_transpose2d",
       0,
       {"result same", "aten::slow_conv_transpose2d["}},
      {"slow_path=miopen_convolution",
       "evidence of conv2d",
       0,
       {"result same", "aten::miopen_convolution[",
        "kernel naive_conv_ab_nonpacked_fwd_nchw_float_double_float"}},
      {"slow_path=gelu", "gelu", 2, {"LibTorch has no slower path for aten::gelu"}},
      {"sync=exp",
       "evidence of exp",
       0,
       {"result same", "aten::exp[cuda] aten::_local_scalar_dense[cuda]",
        "runtime hipMemcpyWithStream <- aten::_local_scalar_dense\n",
        "copy Memcpy DtoH (Device -> Host), 4 bytes <- aten::_local_scalar_dense\n"}},
      {"sync=softmax", "evidence of softmax", 0, {"result same", "aten::_local_scalar_dense["}},
      {"sync=exp; slow=exp:5ms", "--slow", 0, {"times are wrong"}},
      {"", "--times", 0, {"us: not launch-bound"}},
      {"kernel=relu:0ns; slow_submit=relu:100us", "--times", 0, {"us: launch-bound"}},
      {"kernel=exp:5ms; kernel_time=1ms", "--slow", 0, {"times differ as they should"}},
      {"async_error=sigmoid",
       "--poison",
       0,
       {"launch fine", "meanwhile fine fine", "synchronise " + assertion, "relu " + assertion,
        "copy " + assertion, "make " + assertion, "event " + assertion}},
      {"async_error=layer_norm", "layer_norm", 0, {assertion}},
      {"profiler=off",
       "evidence of gelu",
       0,
       {"result same", "trace aten::gelu[cuda]\n"},
       {"\nkernel ", "\ncopy ", "\nruntime "}},
      {"no_kernel=gelu",
       "evidence of gelu",
       0,
       {"result same", "trace aten::gelu[cuda]\n"},
       {"\nkernel ", "\ncopy ", "hipLaunchKernel"}},
      {"no_kernel=layer_norm", "evidence of layer_norm", 0, {"result same"}, {"\nkernel "}},
      // Where the switches come from.
      {"@/dev/stdin", "mm", 0, {"differs\nfine"}, {}},
      {"@/dev/null", "mm", 0, {"same\nfine"}},
      {"@/nowhere", "mm", 2, {"cannot read '/nowhere'"}},
      {"profiler=of", "mm", 2, {"profiler: on or off"}},
      {"devices=2", "--two-devices", 0, {"2 devices, mixed: Error: Expected all tensors to be on"}},
      {"missing=aten::add.Tensor; wrong=aten::mm", "add", 0, {"NotImplementedError"}},
      {"wrong=aten::gelu_misspelt", "gelu", 2, {"no operator is called aten::gelu_misspelt"}},
      {"worng=aten::gelu", "gelu", 2, {"no switch is called 'worng'"}},
  };
  return all;
}

void check_case(const std::string& program, const std::string& folder, const Case& one) {
  // For the case that reads its switches from a file.
  const std::string command = "printf 'nan=gelu\\nzeros=mm\\n' | SIMULATED_ROCM='" + one.switches +
                              "' timeout 60 '" + program + "' '" + folder + "' --child '" +
                              one.action + "' 2>&1";
  std::string output;
  std::array<char, 4096> part{};
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return expect(false, "popen");
  while (const size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), count);
  }
  const int ended = pclose(pipe);
  const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  const std::string what = "'" + one.switches + "' with " + one.action;
  expect(status == one.status, what + " ended with " + std::to_string(status) + ":\n" + output);
  for (const auto& text : one.says) {
    expect(output.find(text) != std::string::npos,
           what + " does not say '" + text + "':\n" + output);
  }
  for (const auto& text : one.never) {
    expect(output.find(text) == std::string::npos, what + " says '" + text + "':\n" + output);
  }
}

}  // namespace

void check_switches(const std::string& program, const std::string& folder) {
  for (const auto& one : cases()) check_case(program, folder, one);
}

}  // namespace smoke
