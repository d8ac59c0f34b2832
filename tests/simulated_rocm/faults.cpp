// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "queue.h"

namespace assay_simulated {

void throw_missing(const std::string& op) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run '", op, "' with arguments from the 'CUDA' backend. This could be ",
      "because the operator doesn't exist for this backend, or was omitted during the ",
      "selective/custom build process (if using custom build). If you are a Facebook employee ",
      "using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible resolutions. ",
      "'", op, "' is only available for these backends: [CPU, Meta, BackendSelect, Python, ",
      "FuncTorchDynamicLayerBackMode, Functionalize, Named, Conjugate, Negative, ZeroTensor, ",
      "ADInplaceOrView, AutogradOther, AutogradCPU, AutogradCUDA].");
}

void throw_out_of_memory() {
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "HIP out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 7.98 GiB of ",
      "which 6.91 GiB is free. Of the allocated memory 512.00 MiB is allocated by PyTorch, and ",
      "34.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is ",
      "large try setting PYTORCH_HIP_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  ",
      "See documentation for Memory Management  ",
      "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)");
}

void throw_miopen_failure(const std::string& name) {
  const bool norm = name.find("batch_norm") != std::string::npos;
  const char* source = norm ? "MIOpenBatchNormFwdTrainSpatial.cpp" : "MIOpenConvDirUni.cpp";
  std::fprintf(stderr,
               "In file included from /tmp/comgr-simulated/input/%s:1:\n"
               "/tmp/comgr-simulated/include/miopen_type_traits.hpp:30:10: fatal error: "
               "'type_traits' file not found\n"
               "   30 | #include <type_traits>\n"
               "      |          ^~~~~~~~~~~~~\n"
               "1 error generated when compiling for gfx0000.\n"
               "MIOpen(HIP): Error [Compile] 'hiprtcCompileProgram(prog.get(), c_options.size(), "
               "c_options.data())' %s: HIPRTC_ERROR_COMPILATION (6)\n"
               "MIOpen(HIP): Error [BuildHip] HIPRTC status = HIPRTC_ERROR_COMPILATION (6), source "
               "file: %s\n"
               "MIOpen Error: /MIOpen/src/hipoc/hipoc_program.cpp:299: Code object build failed. "
               "Source: %s\n",
               source, source, source, source);
  TORCH_CHECK(false, "miopenStatusUnknownError");
}

void kernel_faults(const Faults& faults) {
  if (faults.hang) hang();
  if (faults.crash) {
    std::fprintf(stderr,
                 "Memory access fault by GPU node-1 (Agent handle: 0x5612d0c0ffee) on address "
                 "0x7f0000000000. Reason: Page not present or supervisor privilege.\n");
    std::abort();
  }
  if (faults.poison) {
    poison("an illegal memory access was encountered");
    throw std::runtime_error("planted fault: an illegal memory access");
  }
  if (faults.async_error) {
    poison_at_synchronisation("device-side assert triggered");
    throw std::runtime_error("planted fault: an assertion on the device");
  }
}

}  // namespace assay_simulated
