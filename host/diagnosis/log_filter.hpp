// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Makes plain lines of what terminals and shells write into a log: UTF-16 (PowerShell's >), colour
/// codes, and progress bars that overwrite themselves with carriage returns.
class log_filter {
 public:
  /// The next bytes of the file as text. The result is valid until the next call.
  std::string_view clean(std::string_view bytes);
  /// What is left when the file has ended.
  std::string_view end();

  /// "windows", "wsl", "linux", or "" where nothing seen so far tells. Paths and names of library
  /// files do.
  [[nodiscard]] std::string platform() const;

 private:
  enum class encoding { unknown, bytes, utf16_little, utf16_big };
  void tell_encoding();
  void decode(std::string_view bytes);

  enum class escape { none, began, sequence, title, title_may_end };

  void take(char c);

  encoding encoding_ = encoding::unknown;
  escape escape_ = escape::none;
  std::string start_;  // the first bytes, until the encoding is told
  std::string clean_;
  int half_ = -1;  // of a UTF-16 unit
  bool carriage_return_ = false;
  std::uint32_t last_bytes_ = 0;
  std::uint64_t windows_paths_ = 0, unix_paths_ = 0, wsl_words_ = 0;
};

}  // namespace assay
