// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace assay {

/// What the system's loader said, out of what Boost.DLL makes of it: "... (dlerror system message:
/// WORDS): Bad file descriptor". Words that begin with the file's own path lose it.
inline std::string loader_words(const std::system_error& error, const std::string& file) {
  const std::string whole = error.what();
  const std::string before = "system message: ";
  const auto begin = whole.find(before);
  const auto end = whole.rfind("): ");
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return error.code().message();
  }
  const std::string words = whole.substr(begin + before.size(), end - begin - before.size());
  return words.starts_with(file + ": ") ? words.substr(file.size() + 2) : words;
}

/// Opens a library; throws std::runtime_error with the loader's words where it does not open.
inline boost::dll::shared_library open_library(const std::filesystem::path& file,
                                               boost::dll::load_mode::type mode) {
  boost::dll::shared_library library;
  try {
    library.load(file, mode);
  } catch (const std::system_error& error) {
    throw std::runtime_error(loader_words(error, file.string()));
  }
  return library;
}

}  // namespace assay
