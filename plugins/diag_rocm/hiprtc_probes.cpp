// SPDX-License-Identifier: Apache-2.0
#include "hiprtc_probes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "gpu_target.hpp"
#include "hiprtc.hpp"
#include "hiprtc_verdict.hpp"
#include "include_folders.hpp"
#include "library_environment.hpp"
#include "library_platform.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

enum class rung { plain, headers, cure };

constexpr std::string_view version_mark = "assay: HIP ";
constexpr const char* appended_options = "HIPRTC_COMPILE_OPTIONS_APPEND";

// HIPRTC's own version is 9.0 with every ROCm; the macros are those of HIP.
const std::string says_version = R"(
#define ASSAY_TEXT_OF(x) #x
#define ASSAY_TEXT(x) ASSAY_TEXT_OF(x)
#pragma message("assay: HIP " ASSAY_TEXT(HIP_VERSION_MAJOR) "." ASSAY_TEXT(HIP_VERSION_MINOR) \
                "." ASSAY_TEXT(HIP_VERSION_PATCH) ";")
)";

const std::string plain_kernel = says_version + R"(
extern "C" __global__ void assay_plain(float* p) { p[threadIdx.x] = 1.0f; }
)";

// As MIOpen's kernels do: up to HIP 6 the built-in header brings std's type traits, since HIP 7 the
// kernels include the C++ library's.
const std::string kernel_with_headers = says_version + R"(
#if HIP_VERSION_MAJOR >= 7
#include <type_traits>
#endif
extern "C" __global__ void assay_headers(float* p) {
  p[threadIdx.x] = std::is_floating_point<float>::value ? 1.0f : 0.0f;
}
)";

/// "7.2.53211"; empty where the log does not say.
std::string hip_version(std::string_view log) {
  const std::size_t at = log.find(version_mark);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = log.substr(at + version_mark.size());
  const std::string_view version = rest.substr(0, rest.find(';'));
  return version.find_first_not_of("0123456789.") == std::string_view::npos ? std::string(version)
                                                                            : std::string();
}

bool needs_host_headers(std::string_view version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major == 0 || major >= 7;
}

/// The folders that the compiler searched, out of its command lines in a verbose log.
std::vector<std::string> searched_folders(std::string_view log) {
  std::vector<std::string> found;
  const std::string_view option = "-internal-isystem";
  for (std::size_t at = log.find(option); at != std::string_view::npos;
       at = log.find(option, at + 1)) {
    const std::size_t begin = log.find_first_not_of("\" ", at + option.size());
    if (begin == std::string_view::npos) {
      break;
    }
    const std::string folder(log.substr(begin, log.find_first_of("\" \n", begin) - begin));
    if (std::find(found.begin(), found.end(), folder) == found.end()) {
      found.push_back(folder);
    }
  }
  return found;
}

/// HIPRTC with all that it needs, ready to compile.
struct compiler {
  hiprtc library;
  code_object_manager manager{};
  std::string architecture{};
  std::string remark{};  // for facts: why this architecture
  bool knows_gpu = true;

  [[nodiscard]] compiled run(const std::string& source) const {
    return library.compile(source, architecture);
  }
};

class hiprtc_probe : public assay::probe {
 public:
  hiprtc_probe(rung which, environment_source source) : rung_(which), source_(std::move(source)) {}

  [[nodiscard]] std::string id() const override {
    switch (rung_) {
      case rung::plain:
        return "rocm.hiprtc_plain";
      case rung::headers:
        return "rocm.hiprtc_headers";
      default:
        return "rocm.hiprtc_cure";
    }
  }

  [[nodiscard]] std::string summary() const override {
    switch (rung_) {
      case rung::plain:
        return "does HIPRTC compile a plain kernel?";
      case rung::headers:
        return "does HIPRTC find the C++ headers that MIOpen's kernels include?";
      default:
        return "does it find them when the host's include folders are given?";
    }
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (!site.is_this_machine()) {
      answer.fact = "HIPRTC can only be tried on the machine itself, not in another tree";
      return answer;
    }
    variables_ = source_(site);
    const found_hiprtc found = find_hiprtc(site, variables_);
    if (found.file.empty()) {
      answer.fact = "there is no libhiprtc: looked in ";
      for (const std::string& folder : found.looked_in) {
        answer.fact += (&folder == found.looked_in.data() ? "" : ", ") + folder;
      }
      return answer;
    }
    // A kernel in the cache would be taken without being compiled.
    platform::set_variable("AMD_COMGR_CACHE", "0");
    if (rung_ == rung::headers) {
      // The log then has the compiler's command line, with the folders that it searches.
      platform::set_variable("AMD_COMGR_EMIT_VERBOSE_LOGS", "1");
    }
    const auto ready = prepare(site, found.file, answer);
    if (!ready) {
      return answer;
    }
    answer.values.emplace_back("library", ready->library.path().string());
    answer.values.emplace_back("architecture", ready->architecture);
    if (rung_ == rung::plain) {
      try_plain(*ready, answer);
    } else if (rung_ == rung::headers) {
      try_headers(site, *ready, answer);
    } else {
      try_cure(site, *ready, answer);
    }
    if (answer.state == probe_state::no) {
      if (const auto options = filled(variables_, appended_options)) {
        answer.evidence.push_back(std::string(appended_options) + "=" + *options);
      }
    }
    return answer;
  }

 private:
  /// Opens what is needed; where that fails, says so in `answer`.
  std::optional<compiler> prepare(const probe_site& site, const std::filesystem::path& file,
                                  probe_answer& answer) const {
    const auto give_up = [&](const std::string& fact, const char* finding) {
      answer.fact = fact;
      if (rung_ == rung::plain) {
        answer.state = probe_state::no;
        answer.findings.emplace_back(finding);
      }
      return std::nullopt;
    };
    std::optional<compiler> made;
    try {
      made.emplace(compiler{hiprtc(file)});
    } catch (const std::runtime_error& error) {
      return give_up("HIPRTC does not load: " + std::string(error.what()), "ROCM-LIBRARY-MISSING");
    }
    try {
      made->manager = open_code_object_manager(made->library.path());
    } catch (const std::runtime_error& error) {
      return give_up(
          "libamd_comgr, with which HIPRTC compiles, does not load: " + std::string(error.what()),
          "ROCM-HIPRTC-COMGR-MISSING");
    }
    choose_architecture(site, *made);
    return made;
  }

  void choose_architecture(const probe_site& site, compiler& made) const {
    const std::vector<std::string> known = made.manager.architectures();
    const auto knows = [&](const std::string& architecture) {
      return known.empty() ||
             std::find(known.begin(), known.end(), without_features(architecture)) != known.end();
    };
    const std::vector<gpu_target> targets = gpu_targets(site, variables_);
    made.architecture = default_architecture;
    if (targets.empty()) {
      made.remark = " (no GPU is known: a common target was taken)";
    } else if (knows(targets.front().architecture)) {
      made.architecture = targets.front().architecture;
    } else {
      made.knows_gpu = false;
      made.remark = " (it does not know " + targets.front().architecture + ")";
    }
    if (!knows(made.architecture)) {
      made.architecture = known.front();
    }
  }

  [[nodiscard]] std::string name_of(const compiler& with, const std::string& version) const {
    return "HIPRTC" + (version.empty() ? "" : " of HIP " + version) + " (" +
           with.library.path().string() + ")";
  }

  void say_no(probe_answer& answer, hiprtc_verdict verdict, const std::string& before) const {
    answer.state = probe_state::no;
    answer.fact = before + ": " + verdict.fact;
    answer.findings.push_back(std::move(verdict.finding));
    answer.evidence = std::move(verdict.evidence);
  }

  void try_plain(const compiler& with, probe_answer& answer) const {
    const compiled result = with.run(plain_kernel);
    const std::string version = hip_version(result.log);
    if (!version.empty()) {
      answer.values.emplace_back("hip_version", version);
    }
    const std::string name = name_of(with, version);
    if (!result.ok()) {
      say_no(answer, judge_hiprtc_log(result.log, scratch_fault(variables_)),
             name + " answers " + result.code_name);
      return;
    }
    const std::string made_for = object_architecture(result.object);
    if (without_features(made_for) != without_features(with.architecture)) {
      hiprtc_verdict wrong{"ROCM-HIPRTC-BROKEN", "", {}};
      wrong.fact = made_for.empty() ? "what it made is no code for an AMD GPU"
                                    : "it made code for " + made_for;
      say_no(answer, std::move(wrong), name + " was asked for " + with.architecture);
      return;
    }
    if (!with.knows_gpu) {
      answer.state = probe_state::no;
      answer.fact = name + " compiles for " + made_for + with.remark;
      answer.findings.emplace_back("ROCM-HIPRTC-ARCH-UNKNOWN");
      return;
    }
    answer.state = probe_state::yes;
    answer.fact = name + " compiles for " + made_for + with.remark;
  }

  void try_headers(const probe_site& site, const compiler& with, probe_answer& answer) const {
    const compiled result = with.run(kernel_with_headers);
    const std::string version = hip_version(result.log);
    const std::string name = name_of(with, version);
    if (result.ok()) {
      answer.state = probe_state::yes;
      answer.fact = name + (needs_host_headers(version)
                                ? " finds <type_traits>"
                                : " brings its own type traits, and needs no C++ header");
      return;
    }
    if (!blames_headers(with, answer, result)) {
      return;
    }
    hiprtc_verdict verdict = judge_hiprtc_log(result.log, scratch_fault(variables_));
    std::string searched;
    for (const std::string& folder : searched_folders(result.log)) {
      searched += (searched.empty() ? "" : ", ") + folder;
    }
    say_no(answer, std::move(verdict), name + " cannot compile what includes <type_traits>");
    if (!searched.empty()) {
      answer.values.emplace_back("searched", searched);
    }
    probe_answer cure;
    try_cure(site, with, cure);
    if (cure.state == probe_state::yes) {  // seen to help, on this machine
      const bool windows = find_include_folders(site, variables_).separator == ';';
      answer.values.emplace_back(
          "advice",
          (windows ? "In cmd, not PowerShell:\n$ set " : "$ export ") + cure.evidence.front());
    }
  }

  void try_cure(const probe_site& site, const compiler& with, probe_answer& answer) const {
    const include_folders folders = find_include_folders(site, variables_);
    if (folders.cxx.empty()) {
      answer.state = probe_state::no;
      answer.fact =
          "this machine has no headers of a C++ standard library (none in /usr/include/c++, in "
          "INCLUDE or with Visual Studio): install them first";
      return;
    }
    compiled result;
    std::string path;
    for (const bool with_c : {false, true}) {
      path = folders.joined(with_c);
      const auto before = filled(variables_, folders.variable);
      platform::set_variable(folders.variable, before ? path + folders.separator + *before : path);
      result = with.run(kernel_with_headers);
      if (result.ok()) {
        break;
      }
    }
    const std::string version = hip_version(result.log);
    if (result.ok() && !needs_host_headers(version)) {
      answer.fact = name_of(with, version) +
                    " needs no C++ headers of the host: there is nothing "
                    "to cure, and the variable would do harm";
      return;
    }
    answer.values.emplace_back("variable", folders.variable);
    answer.values.emplace_back("include_path", path);
    const std::string setting = folders.variable + "=" + path;
    if (result.ok()) {
      answer.state = probe_state::yes;
      answer.fact = "with " + setting + " " + name_of(with, version) + " finds <type_traits>";
      answer.evidence.push_back(setting);
    } else if (blames_headers(with, answer, result)) {
      hiprtc_verdict verdict = judge_hiprtc_log(result.log, scratch_fault(variables_));
      answer.state = probe_state::no;
      answer.fact = "not with " + setting + " either: " + verdict.fact;
      answer.evidence = std::move(verdict.evidence);
    }
  }

  /// Headers are not to blame where not even a plain kernel compiles; then says so in `answer`.
  bool blames_headers(const compiler& with, probe_answer& answer, const compiled& result) const {
    const std::string finding = judge_hiprtc_log(result.log, scratch_fault(variables_)).finding;
    constexpr std::array of_headers{"ROCM-HIPRTC-HEADERS", "ROCM-HIPRTC-LIBC-HEADERS",
                                    "ROCM-HIPRTC-HEADER-CLASH"};
    if (std::find(of_headers.begin(), of_headers.end(), finding) != of_headers.end() ||
        with.run(plain_kernel).ok()) {
      return true;
    }
    answer.fact = "HIPRTC does not even compile a plain kernel (rocm.hiprtc_plain says why)";
    return false;
  }

  rung rung_;
  environment_source source_;
  environment variables_;  // as they were at the last look
};

}  // namespace

std::string scratch_fault(const environment& variables) {
  std::string variable;
  std::filesystem::path folder = "/tmp";
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const auto text = filled(variables, name)) {
      variable = std::string(name) + "=";
      folder = *text;
      break;
    }
  }
  const std::string named = variable + folder.string();
  if (!tree::is_folder(folder)) {
    return named + " is not a folder";
  }
  if (!platform::may_write(folder)) {
    return named + " may not be written to";
  }
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  constexpr std::uintmax_t least = 1 << 20;
  return !error && space.available < least ? named + " is full" : std::string();
}

std::vector<std::unique_ptr<assay::probe>> hiprtc_probes(const environment_source& source) {
  std::vector<std::unique_ptr<assay::probe>> made;
  for (const rung which : {rung::plain, rung::headers, rung::cure}) {
    made.push_back(std::make_unique<hiprtc_probe>(which, source));
  }
  return made;
}

}  // namespace diag_rocm
