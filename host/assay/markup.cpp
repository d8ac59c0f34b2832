// SPDX-License-Identifier: Apache-2.0
#include "markup.hpp"

#include <fmt/format.h>

#include "collected_run.hpp"

namespace assay {

std::string xml_text(const std::string& text) {
  std::string out;
  const std::string valid = valid_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\t') {
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (valid.compare(i, 2, "\xEF\xBF") == 0 && (valid[i + 2] & 0x3E) == 0x3E) {
      out += "\xEF\xBF\xBD";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

// In an attribute a line break would be read back as a blank.
std::string xml_attribute(const std::string& text) {
  std::string out;
  for (const char c : xml_text(text)) {
    out += c == '\n' ? "&#10;" : c == '\t' ? "&#9;" : std::string(1, c);
  }
  return out;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '`' || c == '<' || c == '>' || c == '*' || c == '_') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string markdown_folded(const std::string& title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", title, body);
}

}  // namespace assay
