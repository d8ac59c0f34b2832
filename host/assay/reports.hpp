// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a run's records. A report that prints at the `summary` record leaves an erased
// progress line behind only if the progress line gets the record first.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

#include "collected_run.hpp"
#include "record_sink.hpp"
#include "redaction.hpp"
#include "run_options.hpp"

namespace assay {

/// One JSON line a record, written and flushed at once; "-" is standard output. Throws tool_error
/// when the file cannot be opened, and from on_record when it cannot be written.
std::unique_ptr<record_sink> make_result_file(const std::filesystem::path& file);

/// A record as it stands in a result file, with the line's end.
std::string result_line(const nlohmann::json& record);

/// Gives `behind` the records without what is personal.
std::unique_ptr<record_sink> make_redacted(std::unique_ptr<record_sink> behind, redaction names);

/// The same for what is written into files, which go to strangers, unless --full-environment.
std::unique_ptr<record_sink> for_strangers(std::unique_ptr<record_sink> sink,
                                           const run_options& options);

/// JUnit XML, made at the `summary` record: written beside `file`, then moved to its place. Throws
/// tool_error from on_record when it cannot be written.
std::unique_ptr<record_sink> make_junit_report(const std::filesystem::path& file);

/// The same as a text.
std::string junit_document(const collected_run& run);

/// The report for people, printed at the `summary` record, whose text is its last line. `width`:
/// the terminal's columns; 0: lines are never broken.
std::unique_ptr<record_sink> make_table_report(std::ostream& out, bool color, int width);

/// "[12/55] conv/conv2d[float32] on cuda:0", rewritten in place and erased at the end. For a
/// terminal only.
std::unique_ptr<record_sink> make_progress_line(std::ostream& out, int width = 80);

}  // namespace assay
