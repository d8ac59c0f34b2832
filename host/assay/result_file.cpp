// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/sync/file_lock.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "reports.hpp"

namespace assay {
namespace {

class result_file final : public record_sink {
 public:
  explicit result_file(const std::filesystem::path& file)
      : name_(file == "-" ? "standard output" : file.string()) {
    if (file == "-") {
      return;
    }
    // A file that cannot be written ends assay before anything runs; one that is there already is
    // emptied by the first record only, so that wrong usage found meanwhile leaves it alone.
    errno = 0;
    file_.open(file, std::ios::binary | std::ios::app);
    if (!file_) {
      throw tool_error(
          fmt::format("cannot open the result file {}: {}", name_, write_failure(errno)));
    }
    out_ = &file_;
    has_old_content_ = std::filesystem::is_regular_file(file);
    if (has_old_content_) {
      lock(file);
    }
  }

  void on_record(const nlohmann::json& record) override {
    if (std::exchange(has_old_content_, false)) {
      std::filesystem::resize_file(name_, 0);
    }
    const std::string line = result_line(record);
    errno = 0;
    if (!out_->write(line.data(), static_cast<std::streamsize>(line.size())).flush()) {
      throw tool_error(
          fmt::format("cannot write the result file {}: {}", name_, write_failure(errno)));
    }
  }

 private:
  // The lines of two runs in one file would be of no use to anyone. The system lets go of the lock
  // when this process ends, however it ends.
  void lock(const std::filesystem::path& file) {
    try {
      lock_ = boost::interprocess::file_lock(file.string().c_str());
      if (lock_.try_lock()) {
        return;
      }
    } catch (const boost::interprocess::interprocess_exception&) {
      return;  // a file system without locks
    }
    throw tool_error(fmt::format("another run is writing {}; name another file", name_));
  }

  std::string name_;
  bool has_old_content_ = false;
  std::ofstream file_;
  boost::interprocess::file_lock lock_;
  std::ostream* out_ = &std::cout;
};

}  // namespace

std::string result_line(const nlohmann::json& record) {
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::unique_ptr<record_sink> make_result_file(const std::filesystem::path& file) {
  return std::make_unique<result_file>(file);
}

}  // namespace assay
