// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// What a line's text counts for: `none` for a test that passed or a commit's title, which only
/// name a failure; `slight` for documentation, source code and the like, where one cannot know.
enum class weight { none, slight, full };

/// Of a line in lower case.
weight weight_of(std::string_view line);

/// The line, which is in lower case, with blanks for the name of a pytest test; "" where it has
/// none. "FAILED tests/test_a.py::test_b[text] - RuntimeError: ..." may be that error's only line.
std::string without_test_names(std::string_view line);

/// Lines whose meaning another line gives: a commit's message, a patch. To be shown every line.
class quoted_block {
 public:
  /// What this line, in lower case, counts for at most.
  weight next(std::string_view line);

 private:
  enum class kind { none, commit, patch } kind_ = kind::none;
};

}  // namespace assay
