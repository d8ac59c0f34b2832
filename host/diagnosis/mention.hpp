// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

/// Whether a line (in lower case) speaks of a failure that did not happen here: the name of a test
/// that passed, advice for the case that it happens, the title of a commit. Judged by the line's
/// shape alone, and narrowly: a real failure that is taken for a mention is lost.
bool only_mentions(std::string_view line);

}  // namespace assay
