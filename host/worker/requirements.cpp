// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "check_store.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;

bool is_version(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
         });
}

}  // namespace

owned_requirements::owned_requirements(const assay_requirements* from, const std::string& where)
    : needs_(read_struct(from, "assay_requirements")) {
  const auto keep = [this](const char*& text) {
    if (text != nullptr) {
      text = *text == 0 ? nullptr : texts_.emplace_back(text).c_str();
    }
  };
  keep(needs_.accelerator);
  keep(needs_.architectures);
  keep(needs_.torch_at_least);
  keep(needs_.torch_below);
  if (needs_.accelerator != nullptr) {
    for (const std::string& one : comma_separated(needs_.accelerator)) {
      constexpr std::array<const char*, 3> known{"cpu", "rocm", "cuda"};
      if (std::find(known.begin(), known.end(), one) == known.end()) {
        throw refused(where + ": it requires the accelerator '" + one +
                      "', which is none of cpu, rocm, cuda");
      }
    }
  }
  for (const char* version : {needs_.torch_at_least, needs_.torch_below}) {
    if (version != nullptr && !is_version(version)) {
      throw refused(where + ": it requires LibTorch '" + version +
                    "', and a version reads like 2.7 or 2.7.1");
    }
  }
  if ((needs_.flags & ~ASSAY_REQUIRES_DTYPE_ARITHMETIC) != 0) {
    throw refused(where + ": it requires something that this host does not know (flags " +
                  std::to_string(needs_.flags) + "); use a newer assay");
  }
}

json owned_requirements::describe() const {
  return {{"accelerator", text_or_null(needs_.accelerator)},
          {"architectures", text_or_null(needs_.architectures)},
          {"torch_at_least", text_or_null(needs_.torch_at_least)},
          {"torch_below", text_or_null(needs_.torch_below)},
          {"free_memory_bytes", needs_.free_memory_bytes},
          {"dtype_arithmetic", (needs_.flags & ASSAY_REQUIRES_DTYPE_ARITHMETIC) != 0}};
}

}  // namespace assay::worker
