// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "library_folders.hpp"
#include "loading_probes.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;
using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

struct copy {
  fs::path file;  // without the root
  fs::path real;  // with it, links resolved
  std::uintmax_t size;
  std::string by;  // what leads the loader there

  /// "7.2.53211" of libamdhip64.so.7.2.53211; empty where the name does not say.
  [[nodiscard]] std::string version() const {
    const std::string name = real.filename().string();
    const std::size_t at = name.find(".so.");
    return at == std::string::npos ? std::string() : name.substr(at + 4);
  }
};

class duplicates_probe : public assay::probe {
 public:
  explicit duplicates_probe(environment_source source) : source_(std::move(source)) {}

  [[nodiscard]] std::string id() const override { return "rocm.duplicates"; }
  [[nodiscard]] std::string summary() const override {
    return "is there one ROCm on the library path?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const environment variables = source_(site);
    std::string fine;
    for (const char* stem : {"libamdhip64", "libhsa-runtime64"}) {
      const std::vector<copy> copies = copies_of(stem, site, variables);
      if (copies.empty()) {
        continue;
      }
      if (copies.size() == 1) {
        fine += (fine.empty() ? "" : ", ") + copies.front().file.string();
        continue;
      }
      answer.fact += answer.fact.empty() ? "" : "; ";
      answer.fact += std::to_string(copies.size()) + " different " + stem + ": ";
      for (const copy& one : copies) {
        answer.fact += (&one == copies.data() ? "" : ", ") + one.file.string() + " (" +
                       (one.version().empty() ? "" : one.version() + ", ") + one.by + ")";
        answer.evidence.push_back(one.file.string());
      }
    }
    if (!answer.fact.empty()) {
      answer.state = probe_state::no;
      answer.fact = "one process could load " + answer.fact;
      answer.findings.emplace_back("ROCM-TWO-INSTALLS");
    } else if (!fine.empty()) {
      answer.state = probe_state::yes;
      answer.fact = "only " + fine;
    } else {
      answer.fact = "there is no ROCm beside LibTorch or on the loader's path";
    }
    return answer;
  }

 private:
  static std::vector<copy> copies_of(const char* stem, const probe_site& site,
                                     const environment& variables) {
    std::vector<copy> found;
    const auto add = [&](const std::vector<fs::path>& folders, const char* by) {
      for (const fs::path& folder : folders) {
        const fs::path file = find_library({folder}, stem);
        std::error_code error;
        const fs::path real = file.empty() ? file : fs::canonical(file, error);
        if (file.empty() || error) {
          continue;
        }
        const std::uintmax_t size = fs::file_size(real, error);
        // Two copies of one release do no harm.
        if (std::none_of(found.begin(), found.end(), [&](const copy& known) {
              return known.real == real || known.size == size;
            })) {
          found.push_back({tree::shown(file, site.root), real, size, by});
        }
      }
    };
    add(torch_folders(site), "beside LibTorch");
    add(environment_folders(site, variables), "LD_LIBRARY_PATH");
    add(system_folders(site), "the system's library path");
    return found;
  }

  environment_source source_;
};

}  // namespace

std::unique_ptr<assay::probe> make_duplicates(environment_source source) {
  return std::make_unique<duplicates_probe>(std::move(source));
}

}  // namespace diag_rocm
