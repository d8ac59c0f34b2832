// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

/// For an XML element. XML 1.0 forbids most control characters, even escaped: they are spelt \x1b.
std::string xml_text(const std::string& text);
std::string xml_attribute(const std::string& text);

/// Text for a cell of a table: no bars, no line ends, nothing that Markdown takes for markup.
std::string markdown_cell(const std::string& text);

/// `body`, which Markdown reads as such, below a title that opens it.
std::string markdown_folded(const std::string& title, const std::string& body);

}  // namespace assay
