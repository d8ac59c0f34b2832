// SPDX-License-Identifier: Apache-2.0
//
// Which files of a plugin folder are looked at. assay and its worker must agree on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// ".so", ".dll", ".dylib": what libraries end in here.
const std::string& library_suffix();

/// ".assay.so": what plugins end in here.
std::string plugin_suffix();

/// NAME.assay.so
bool named_like_a_plugin(const std::filesystem::path& file);

/// NAME.assay.toml
bool named_like_a_toml_plugin(const std::filesystem::path& file);

/// The libraries of a folder that may be plugins, whatever they are called, in order.
std::vector<std::filesystem::path> libraries_in(const std::filesystem::path& folder);

/// The NAME.assay.toml of a folder, in order.
std::vector<std::filesystem::path> toml_plugins_in(const std::filesystem::path& folder);

}  // namespace assay
