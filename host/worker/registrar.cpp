// SPDX-License-Identifier: Apache-2.0
#include "registrar.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>

#include "plugin_options.hpp"

namespace assay::worker {

namespace {

template <typename Tool>
void check_tool(const Tool& tool, const char* kind, const std::vector<Tool>& known, bool callable) {
  if (!is_name(tool.id, true)) {
    throw refused(std::string(kind) + " '" + tool.id + "': an id takes a-z, 0-9, _ . and - only");
  }
  if (std::any_of(known.begin(), known.end(), [&](const auto& k) { return k.id == tool.id; })) {
    throw refused(std::string(kind) + " '" + tool.id + "' is registered twice");
  }
  if (!callable) {
    throw refused(std::string(kind) + " '" + tool.id + "' has no function to call");
  }
}

}  // namespace

template <typename Body>
const char* registrar::guarded(Body&& body) {
  try {
    body();
    return nullptr;
  } catch (const std::exception& e) {
    answer_ = e.what();
    return answer_.c_str();
  }
}

registrar::registrar(registrations& target) : target_(target), table_{} {
  table_.owner = this;
  assay_registrar& c = table_.base;
  c.struct_size = sizeof c;
  c.add_category = [](assay_registrar* self, const char* name, const char* summary) {
    return of(self).guarded([&] {
      const std::string text = text_or_empty(name);
      if (!is_name(text, false)) {
        throw refused("category '" + text + "': a name takes a-z, 0-9 and _ only");
      }
      of(self).target_.categories.emplace_back(text, text_or_empty(summary));
    });
  };
  c.add_check = [](assay_registrar* self, const assay_check* check) {
    return of(self).guarded([&] {
      registrations& mine = of(self).target_;
      owned_check& added = mine.checks.emplace_back(check);
      if (!mine.check_ids.insert(added.id()).second) {
        throw refused("check '" + added.id() + "' is registered twice");
      }
      const auto declared =
          std::any_of(mine.categories.begin(), mine.categories.end(),
                      [&](const auto& group) { return group.first == added.category(); });
      if (!declared) {
        throw refused("check '" + added.id() + "': its category was not added before it");
      }
    });
  };
  c.add_operator_library = [](assay_registrar* self, const char* path) {
    return of(self).guarded([&] {
      const std::filesystem::path given = text_or_empty(path);
      if (given.empty()) {
        throw refused("an operator library has no path");
      }
      registrations& mine = of(self).target_;
      mine.libraries.push_back((mine.file.parent_path() / given).lexically_normal().string());
    });
  };
  c.add_probe = [](assay_registrar* self, const assay_probe* probe) {
    return of(self).guarded([&] {
      auto& known = of(self).target_.probes;
      const assay_probe given = read_struct(probe, "probe", offsetof(assay_probe, look));
      registrations::probe_tool tool{text_or_empty(given.id), text_or_empty(given.summary), given};
      check_tool(tool, "probe", known, given.look != nullptr || given.run != nullptr);
      known.push_back(std::move(tool));
    });
  };
  c.add_classifier = [](assay_registrar* self, const assay_classifier* classifier) {
    return of(self).guarded([&] {
      auto& known = of(self).target_.classifiers;
      const assay_classifier given = read_struct(classifier, "classifier");
      registrations::classifier_tool tool{text_or_empty(given.id), text_or_empty(given.summary),
                                          given};
      check_tool(tool, "classifier", known, given.classify != nullptr);
      known.push_back(std::move(tool));
    });
  };
  c.add_option = [](assay_registrar* self, const assay_option* option, assay_option_value* value) {
    return of(self).guarded([&] { declare_option(of(self).target_, option, value); });
  };
  c.require = [](assay_registrar* self, const assay_requirements* needs) {
    return of(self).guarded([&] {
      registrations& mine = of(self).target_;
      mine.needs.emplace_back(needs, "plugin '" + mine.id + "'");
    });
  };
  c.fail = [](assay_registrar* self, const char* reason) {
    of(self).failure_ = text_or_empty(reason);
  };
}

}  // namespace assay::worker
