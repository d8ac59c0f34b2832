// SPDX-License-Identifier: Apache-2.0
#include "line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "saved_run.hpp"

namespace assay {

namespace fs = std::filesystem;

line_reader::line_reader(const fs::path& file, std::size_t most_bytes)
    : file_(file), most_bytes_(most_bytes), opened_(file, std::ios::binary) {
  std::error_code error;
  if (fs::is_directory(file, error) || !opened_) {
    throw results_error(fmt::format(
        "{} cannot be read; {}", file.string(),
        fs::exists(file, error) ? "it must be a file that you may read" : "there is no such file"));
  }
}

line_reader::line_reader(std::istream& in, fs::path name, std::size_t most_bytes)
    : file_(std::move(name)), most_bytes_(most_bytes), in_(&in) {}

// std::getline, but for a line that never ends.
bool line_reader::next() {
  line_.clear();
  while (!ended_) {
    const std::string_view rest(block_.data() + begin_, end_ - begin_);
    const std::string_view part = rest.substr(0, rest.find('\n'));
    if (line_.size() + part.size() > most_bytes_) {
      throw results_error(fmt::format("{}: line {} is longer than {} MiB; it is no result file",
                                      file_.string(), number_ + 1, most_bytes_ >> 20U));
    }
    line_.append(part);
    if (part.size() < rest.size()) {
      begin_ += part.size() + 1;
      ++number_;
      return true;
    }
    fill();
  }
  number_ += line_.empty() ? 0 : 1;
  return !line_.empty();
}

void line_reader::fill() {
  constexpr std::size_t block_bytes = std::size_t{64} << 10;
  block_.resize(block_bytes);
  const auto got = in_->rdbuf()->sgetn(block_.data(), static_cast<std::streamsize>(block_.size()));
  begin_ = 0;
  end_ = static_cast<std::size_t>(std::max<std::streamsize>(got, 0));
  ended_ = end_ == 0;
}

bool line_reader::blank() const { return line_.find_first_not_of(" \t\r") == std::string::npos; }

std::string line_reader::damage(const std::string& how) const {
  return last() ? fmt::format("line {}, the last, is cut off: read up to line {}", number_,
                              number_ - 1)
                : fmt::format("line {} is damaged ({}): read up to line {}", number_, how,
                              number_ - 1);
}

}  // namespace assay
