// SPDX-License-Identifier: Apache-2.0
#include "toml_pack.hpp"

#include <algorithm>
#include <set>

#include "host/common/nearest.hpp"
#include "host/common/variable_pattern.hpp"
#include "plugin_loader.hpp"
#include "registrar.hpp"
#include "toml_pack_check.hpp"
#include "toml_pack_fields.hpp"
#include "toml_pack_formula.hpp"

namespace assay::worker {

namespace {

toml::table parsed(const std::string& file_name, std::string_view text) {
  try {
    return parse_toml(text);
  } catch (const toml_syntax_error& e) {
    throw toml_mistake(file_name + ":" + std::to_string(e.line()) +
                       (e.column() == 0 ? "" : ":" + std::to_string(e.column())) + ": " + e.what());
  }
}

/// What holds for an id, a category's and a check's name, and the length of the stamp's fields.
void check_name(const toml_fields& table, std::string_view key, const std::string& name,
                bool dots) {
  if (!is_name(name, dots)) {
    table.fail(table.need(key),
               "'" + name + "' takes a-z, 0-9" + (dots ? ", _ . and -" : " and _") + " only");
  }
}

void check_length(const toml_fields& table, std::string_view key, const std::string& text,
                  std::size_t most) {
  if (text.size() > most) {
    table.fail(table.need(key), "'" + std::string(key) + "' has at most " + std::to_string(most) +
                                    " bytes, this has " + std::to_string(text.size()));
  }
}

class pack_reader {
 public:
  pack_reader(const toml_source& source, const toml::table& root)
      : source_(source), root_(source, root, "the file") {}

  toml_pack read() {
    root_.only({"pack", "category", "check", "diagnosis", "classifier"});
    read_head();
    for (const toml::table* one : root_.tables("category")) {
      read_category(toml_fields(source_, *one, "[[category]]"));
    }
    for (const toml::table* one : root_.tables("check")) {
      read_one(toml_fields(source_, *one, "[[check]]"));
    }
    return std::move(pack_);
  }

 private:
  void read_head() {
    if (!root_.has("pack") || !root_.need("pack").is_table()) {
      source_.fail(root_.node(), "the file needs [pack], with format = 1, id, version and vendor");
    }
    const toml_fields head(source_, *root_.need("pack").as_table(), "[pack]");
    head.only({"format", "id", "version", "vendor", "accelerator", "load_library", "needs",
               "environment"});
    const toml::node& format = head.need("format");
    if (const auto given = format.value_exact<std::int64_t>(); given != 1) {
      head.fail(format, "'format' is " + (given ? std::to_string(*given) : "no whole number") +
                            ", this assay reads format 1");
    }
    pack_.id = head.text("id");
    check_name(head, "id", pack_.id, true);
    pack_.version = head.text("version");
    pack_.vendor = head.text("vendor");
    pack_.accelerator = head.word_or("accelerator", {"any", "rocm", "cuda"}, "any");
    check_length(head, "id", pack_.id, sizeof(assay_stamp::id) - 1);
    check_length(head, "version", pack_.version, sizeof(assay_stamp::version) - 1);
    check_length(head, "vendor", pack_.vendor, sizeof(assay_stamp::vendor) - 1);
    pack_.libraries = head.texts("load_library");
    for (const std::string& name : head.texts("environment")) {  // which is for assay to read
      if (!is_variable_pattern(name)) {
        head.fail(head.need("environment"),
                  "'environment' " + std::string(variable_pattern_rule) + ", not '" + name + "'");
      }
    }
    if (head.has("needs") && head.need("needs").is_array()) {
      for (const toml::node& one : *head.list("needs", "tables")) {
        pack_.needs.push_back(read_needs(head.item(one, "each of 'needs'")));
      }
    } else if (const auto needs = head.table("needs")) {
      pack_.needs.push_back(read_needs(*needs));
    }
  }

  void read_category(const toml_fields& table) {
    table.only({"name", "summary"});
    const std::string name = table.text("name");
    check_name(table, "name", name, false);
    if (std::find(category_names_.begin(), category_names_.end(), name) != category_names_.end()) {
      table.fail(table.need("name"), "the category '" + name + "' is there already");
    }
    category_names_.push_back(name);
    pack_.categories.emplace_back(name, table.text_or("summary", ""));
  }

  void read_one(const toml_fields& table) {
    const std::string whole = table.text("name");
    const auto slash = whole.find('/');
    if (slash == std::string::npos) {
      table.fail(table.need("name"), "'name' is category/name, this is '" + whole + "'");
    }
    const std::string category = whole.substr(0, slash);
    const std::string name = whole.substr(slash + 1);
    check_name(table, "name", category, false);
    check_name(table, "name", name, false);
    if (std::find(category_names_.begin(), category_names_.end(), category) ==
        category_names_.end()) {
      table.fail(table.need("name"), "this file has no [[category]] '" + category + "'" +
                                         did_you_mean(category, category_names_));
    }
    if (!names_.insert(whole).second) {
      table.fail(table.need("name"), "the check '" + whole + "' is there already");
    }
    check made = read_check(toml_fields(source_, table.node(), "check " + whole), name, formulas_);
    // What the host would say to a check of a library, said with the line.
    try {
      registrations examined;
      registrar host(examined);
      registry alone;
      alone.category(category, "").add(made);
      alone.commit(host.c_form());
    } catch (const std::exception& e) {
      source_.fail(table.node(), e.what());
    }
    pack_.checks.emplace_back(category, std::move(made));
  }

  const toml_source& source_;
  toml_fields root_;
  formula_reader formulas_;
  toml_pack pack_;
  std::vector<std::string> category_names_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<toml_pack> read_toml_pack(const std::string& file_name, std::string_view text) {
  const toml::table root = parsed(file_name, text);
  if (!root.contains("check") && !root.contains("category")) {
    return std::nullopt;
  }
  const toml_source source(file_name, text);
  return pack_reader(source, root).read();
}

void toml_pack::fill(registry& plugin) const {
  for (const std::string& library : libraries) {
    plugin.operator_library(library);
  }
  for (const requirements& each : needs) {
    plugin.needs(each);
  }
  for (const auto& [name, summary] : categories) {
    plugin.category(name, summary);
  }
  for (const auto& [category, made] : checks) {
    plugin.category(category, "").add(made);
  }
}

}  // namespace assay::worker
