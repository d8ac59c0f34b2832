// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <array>
#include <string_view>

#include "saved_run.hpp"

namespace assay {

/// Takes what a record says of the environment: `run`, `engine`, `plugin`, `ceilings`,
/// `environment`, `clocks`.
void note_environment(saved_run& run, std::string_view kind, simdjson::dom::object record);

/// The groups of such names, in the order in which a comparison shows them.
inline constexpr std::array<const char*, 10> environment_groups{
    "assay",     "LibTorch", "driver",  "device",   "system",
    "variables", "plugins",  "options", "ceilings", "clocks"};

/// Which of them a name belongs to: "variable OMP_NUM_THREADS" to "variables".
const char* environment_group_of(std::string_view name);

}  // namespace assay
