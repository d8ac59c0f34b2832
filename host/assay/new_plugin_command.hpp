// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>

#include "options.hpp"
#include "supervisor.hpp"

namespace assay {

/// `assay new-plugin`: writes a plugin of one kind from the templates of this installation, and
/// says on `out` how to build it. Throws usage_error for a name or a folder that will not do,
/// tool_error where the templates cannot be read or the files not be written; then nothing is left
/// behind.
int new_plugin(const new_plugin_request& request, const installation& here, std::ostream& out);

}  // namespace assay
