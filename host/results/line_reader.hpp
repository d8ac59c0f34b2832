// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <vector>

namespace assay {

/// The lines of a result file, one after the other, in bounded memory.
class line_reader {
 public:
  /// Throws results_error where there is no such file, or it cannot be read.
  line_reader(const std::filesystem::path& file, std::size_t most_bytes);
  /// Of a text that is not in a file; `name` stands for it in messages. `in` must outlive this.
  line_reader(std::istream& in, std::filesystem::path name, std::size_t most_bytes);
  ~line_reader() = default;
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  /// The next line without its end; false behind the last. Throws results_error for a line that is
  /// longer than `most_bytes`.
  bool next();

  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }  // from 1
  /// The file ended in this line, without a line end: a crash may have cut it off.
  [[nodiscard]] bool last() const { return ended_; }
  [[nodiscard]] bool blank() const;

  /// What to say of a line that cannot be parsed: that it is cut off, or damaged and how.
  [[nodiscard]] std::string damage(const std::string& how) const;

 private:
  void fill();

  std::filesystem::path file_;
  std::size_t most_bytes_;
  std::ifstream opened_;
  std::istream* in_ = &opened_;
  std::vector<char> block_;
  std::size_t begin_ = 0, end_ = 0;  // what of the block is still to be read
  std::string line_;
  std::size_t number_ = 0;
  bool ended_ = false;
};

}  // namespace assay
