// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "option_sources.hpp"
#include "option_table.hpp"
#include "run_options.hpp"

namespace assay {

/// A word that begins so names a kept run where a result file is asked for.
inline constexpr std::string_view kept_run_prefix = "baseline:";

/// The values in force of the options that the subcommand knows. Throws usage_error.
run_options make_options(const option_layer& layer, subcommand command);

}  // namespace assay
