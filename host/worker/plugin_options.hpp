// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

#include "plugin_loader.hpp"

namespace assay::worker {

/// The host's side of assay_registrar.add_option: notes the option among the plugin's, and gives
/// the user's value, or the default. Throws refused for an option that is badly declared, and for a
/// value of the user's that is none.
void declare_option(registrations& plugin, const assay_option* declared, assay_option_value* value);

}  // namespace assay::worker
