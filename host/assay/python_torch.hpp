// SPDX-License-Identifier: Apache-2.0
//
// Where the active Python environment would import torch from.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay {

/// The torch folder of one environment (virtual environment, conda environment, or a Python's
/// prefix), by looking at files. `minor` is "3.11", or "" for whichever there is (newest first).
std::optional<std::filesystem::path> torch_in_prefix(const std::filesystem::path& prefix,
                                                     const std::string& minor = "");

/// The torch folder of the active Python environment: PYTHONPATH, VIRTUAL_ENV, CONDA_PREFIX, then
/// the python3 or python on PATH. Looks at files; a Python whose files do not tell (a shim script,
/// a virtual environment that also sees the system's packages) is asked once, without importing
/// torch, and given up after `patience`.
std::optional<std::filesystem::path> active_python_torch(
    const std::map<std::string, std::string>& variables,
    std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace assay
