// SPDX-License-Identifier: Apache-2.0
#include "rule_files.hpp"

#include <fmt/format.h>

#include <boost/dll/shared_library.hpp>
#include <ostream>

namespace assay {

knowledge rule_knowledge(const installation& here, const run_options& options,
                         std::ostream& complaints) {
  std::vector<std::filesystem::path> places{here.plugin_dir};
  places.insert(places.end(), options.plugin_dirs.begin(), options.plugin_dirs.end());
  knowledge known = read_knowledge(places, options.trust_plugins);
  for (const rule_pack& pack : known.packs) {
    if (!pack.refused.empty()) {
      complaints << fmt::format("assay: the rule file {} is not used: {}\n", pack.file.string(),
                                pack.refused);
    }
  }
  for (const std::string& line : known.loose_ends()) {
    complaints << "assay: " << line << '\n';
  }
  return known;
}

std::filesystem::path plugin_file(const std::filesystem::path& bare) {
  std::filesystem::path file = bare;
  file += ".assay" + boost::dll::shared_library::suffix().string();
  return file;
}

}  // namespace assay
