// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "report_paper.hpp"
#include "supervisor.hpp"

namespace assay {

/// `assay doctor`: asks every probe and prints what is wrong, worst first, with advice; then what
/// was fine, and what could not be looked at. `torch_here`: LibTorch's folder, or empty,
/// and `why_none_here` then says why. Answers the exit status: failed when a finding is an error.
int doctor(const doctor_request& request, const installation& here,
           const std::filesystem::path& torch_here, const std::string& why_none_here,
           report_paper& paper);

}  // namespace assay
