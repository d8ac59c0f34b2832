// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A device kernel's name as people can read it: the function's own name, with the functor that
/// tells what it computes, without return type, parameters and LibTorch's own namespaces.
/// "vectorized_elementwise_kernel<AUnaryFunctor>", "Cijk_Ailk_Bljk_SB".
std::string short_kernel_name(std::string_view demangled);

/// Whether the kernel is compiled into LibTorch itself, so that no library below it serves.
bool is_kernel_of_torch(std::string_view demangled);

}  // namespace assay
