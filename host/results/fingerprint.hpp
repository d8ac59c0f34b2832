// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include "saved_run.hpp"

namespace assay {

/// Takes what a record says of the environment: `run`, `engine`, `plugin`, `ceilings`.
void note_environment(saved_run& run, std::string_view kind, simdjson::dom::object record);

}  // namespace assay
