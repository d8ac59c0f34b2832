// SPDX-License-Identifier: Apache-2.0
//
// What --enable and --disable leave on, and which of their globs decided. docs/options.md says what
// wins.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "run_options.hpp"

namespace assay {

/// One glob: "norm/*", "plugin:com.acme.*", "vendor:Acme*", "accelerator:rocm", "dtype:*16".
struct selector {
  enum class kind { check, plugin, vendor, accelerator, dtype };
  kind of = kind::check;
  std::string glob;  // behind the colon
  std::string text;  // as given

  /// It chooses among plugins, so that it can be answered without opening one.
  [[nodiscard]] bool about_plugins() const { return of != kind::check && of != kind::dtype; }
};

/// Throws usage_error, which begins with `origin`, for a kind that there is not.
selector parse_selector(const std::string& origin, const std::string& text);

struct plugin_identity {
  std::string id, vendor, accelerator;
  bool only_diagnostics = false;  // as its stamp says
};

/// Of a `plugin` record.
plugin_identity identity_of(const nlohmann::json& plugin);

struct checked_dtype {
  std::string_view category, name, dtype;
};

bool matches(const selector& one, const plugin_identity& plugin);
bool matches(const selector& one, const plugin_identity& plugin, const checked_dtype& check);

/// On or off, and the line that decided: "--disable 'plugin:norm'", "FILE: enable names others",
/// "built in".
struct ruling {
  bool on = true;
  std::string line = "built in";
  bool disabled = false;  // off by --disable, and not because --enable names others
};

class selection {
 public:
  explicit selection(const run_options& options);

  /// A plugin is off when none of its checks can run because of globs about plugins. One of
  /// diagnostics alone is off only where --disable names it.
  [[nodiscard]] ruling plugin(const plugin_identity& plugin) const;
  [[nodiscard]] ruling check(const plugin_identity& plugin, const checked_dtype& check) const;
  /// A probe or classifier: whether assay list shows it.
  [[nodiscard]] bool shows_helper(const plugin_identity& plugin, const std::string& id) const;

  /// Whether a glob of --enable asks for this dtype of the check, and not just for the check.
  [[nodiscard]] bool names_dtype(const plugin_identity& plugin, const checked_dtype& check,
                                 const std::vector<std::string>& known) const;

  /// Whether any glob is about plugins.
  [[nodiscard]] bool about_plugins() const;
  [[nodiscard]] bool empty() const { return enable_.empty() && disable_.empty(); }

  struct list {
    std::string origin;  // "--enable", "ASSAY_ENABLE", "FILE: enable"
    std::vector<selector> globs;
    [[nodiscard]] bool empty() const { return globs.empty(); }
  };
  [[nodiscard]] const list& enabled() const { return enable_; }
  [[nodiscard]] const list& disabled() const { return disable_; }

 private:
  list enable_, disable_;
};

}  // namespace assay
