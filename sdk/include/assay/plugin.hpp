// SPDX-License-Identifier: Apache-2.0
//
// Everything a plugin author includes. A plugin is one translation unit with
//
//     #include <assay/plugin.hpp>
//     using namespace assay;
//
//     ASSAY_PLUGIN("norm", "1.0", "assay project")(registry& plugin) {
//       auto& norm = plugin.category("norm", "normalisation layers");
//       norm.check("layer_norm", {randn({128, 512})},
//                  call("aten::layer_norm", in(0), ints{512}));
//     }
//
// A check says which inputs there are and which operators to call; timing, devices, evidence and
// reports are the host's. Build it with assay_add_plugin() (cmake/AssayAddPlugin.cmake).
#pragma once

#include <assay/abi.h>
#include <assay/diagnostics.hpp>
#include <assay/plan.hpp>
#include <assay/registry.hpp>

#include <cstdint>
#include <exception>
#include <string_view>

namespace assay::detail {

template <std::size_t N>
consteval void put(char (&target)[N], std::string_view text) {
  if (text.size() >= N) {
    throw "this text is too long for its field of the plugin stamp";
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    target[i] = text[i];
  }
}

consteval assay_stamp make_stamp(std::string_view id, std::string_view version,
                                 std::string_view vendor, std::string_view accelerator = "any") {
  assay_stamp stamp{};
  const std::string_view magic = ASSAY_STAMP_MAGIC;
  for (std::size_t i = 0; i < sizeof stamp.magic; ++i) {
    stamp.magic[i] = magic[i];
  }
  stamp.struct_size = sizeof stamp;
  stamp.abi_major = ASSAY_ABI_MAJOR;
  stamp.abi_minor = ASSAY_ABI_MINOR;
  put(stamp.id, id);
  put(stamp.version, version);
  put(stamp.vendor, vendor);
  put(stamp.accelerator, accelerator);
  return stamp;
}

consteval assay_stamp that_brings(std::uint32_t brings, assay_stamp stamp) {
  stamp.brings = brings;
  return stamp;
}

// No exception leaves a plugin: this turns one into the reason for a refusal.
inline int enter(assay_registrar* registrar, void (*body)(registry&)) noexcept {
  try {
    registry staged(registrar);
    body(staged);
    staged.commit(registrar);
    return 0;
  } catch (const std::exception& e) {
    registrar->fail(registrar, e.what());
  } catch (...) {
    registrar->fail(registrar, "registration threw something that is not a std::exception");
  }
  return 1;
}

}  // namespace assay::detail

/// ASSAY_PLUGIN(id, version, vendor[, accelerator])(assay::registry& name) { registrations }
/// defines the stamp and the entry function. Once in a plugin, at namespace scope. The texts are
/// literals; `accelerator` is "any" (default), "rocm" or "cuda".
#define ASSAY_PLUGIN(...) ASSAY_PLUGIN_THAT_BRINGS(0U, __VA_ARGS__)

/// The same for a plugin of probes and classifiers alone, which says so in its stamp: `--enable
/// plugin:ID` then leaves it on, since it chooses among checks.
#define ASSAY_DIAGNOSTIC_PLUGIN(...) ASSAY_PLUGIN_THAT_BRINGS(ASSAY_BRINGS_DIAGNOSTICS, __VA_ARGS__)

#define ASSAY_PLUGIN_THAT_BRINGS(BRINGS, ...)                                         \
  static void assay_plugin_body(::assay::registry&);                                  \
  const assay_stamp assay_plugin_stamp =                                              \
      ::assay::detail::that_brings(BRINGS, ::assay::detail::make_stamp(__VA_ARGS__)); \
  int assay_plugin_entry(const assay_host*, assay_registrar* registrar) {             \
    return ::assay::detail::enter(registrar, assay_plugin_body);                      \
  }                                                                                   \
  static void assay_plugin_body
