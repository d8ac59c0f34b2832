// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::worker {

/// Why a registration is turned down; what() is one line.
class refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A text that a plugin may leave out: empty, or null in a record.
inline std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }
nlohmann::json text_or_null(const char* text);

/// What stands between the commas.
std::vector<std::string> comma_separated(const std::string& list);

/// A copy of a sized struct: members behind the plugin's end of it are zero. `first_size` is its
/// size in ABI minor 0; a smaller one was never valid.
template <typename Struct>
Struct read_struct(const Struct* from, const char* name, std::size_t first_size = sizeof(Struct)) {
  if (from == nullptr) {
    throw refused(std::string(name) + " is NULL");
  }
  if (from->struct_size < first_size) {
    throw refused(std::string(name) + " has struct_size " + std::to_string(from->struct_size) +
                  ", ABI " + std::to_string(ASSAY_ABI_MAJOR) + ".0 has " +
                  std::to_string(first_size));
  }
  Struct copy{};
  std::memcpy(&copy, from, std::min<std::size_t>(from->struct_size, sizeof(Struct)));
  copy.struct_size = sizeof(Struct);
  return copy;
}

/// Requirements that own their texts. Never moved.
class owned_requirements {
 public:
  /// Copies and examines what a plugin gave; `where` names whose they are. Throws refused.
  owned_requirements(const assay_requirements* from, const std::string& where);
  ~owned_requirements() = default;
  owned_requirements(const owned_requirements&) = delete;
  owned_requirements& operator=(const owned_requirements&) = delete;

  [[nodiscard]] const assay_requirements& c_form() const { return needs_; }
  [[nodiscard]] nlohmann::json describe() const;

 private:
  std::deque<std::string> texts_;
  assay_requirements needs_;
};

/// A check that owns all it points to. It is never moved, since its parts point at each other.
class owned_check {
 public:
  /// Copies and examines what a plugin gave; `of` is the check whose large form it is. Throws
  /// refused.
  explicit owned_check(const assay_check* from, const owned_check* of = nullptr);
  ~owned_check() = default;
  owned_check(const owned_check&) = delete;
  owned_check& operator=(const owned_check&) = delete;

  [[nodiscard]] const assay_check& c_form() const { return check_; }
  [[nodiscard]] std::string id() const { return category_ + "/" + name_; }
  [[nodiscard]] const std::string& category() const { return category_; }

  /// `dtypes`, `inputs`, `plan` and so on, as docs/architecture.md describes a check.
  [[nodiscard]] nlohmann::json describe() const;

 private:
  void copy_expectations(const assay_check& given);
  void copy_path(const assay_path* from, std::uint32_t position);
  [[nodiscard]] nlohmann::json describe_sizes() const;
  void copy_input(const assay_input* from, std::uint32_t position);
  const assay_call* copy_call(const assay_call* from, const std::string& what);
  assay_value copy_value(const assay_value& from, const std::string& where, bool in_list);
  const char* keep(const char* text);

  std::string category_, name_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::int64_t>> integers_;
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<assay_value>> values_;
  std::deque<assay_input> inputs_;
  std::deque<assay_call> calls_;
  std::vector<const assay_input*> input_list_;
  std::vector<const assay_call*> call_list_, reference_list_;
  std::deque<assay_path> paths_;
  std::vector<const assay_path*> path_list_;
  assay_cost cost_{};
  assay_accuracy accuracy_{};
  std::unique_ptr<owned_requirements> needs_;
  std::unique_ptr<owned_check> large_;
  std::vector<std::int32_t> dtypes_;
  assay_check check_{};
};

/// Whether two indices that differ in a dimension of stride above 0 may lie in one place. Strides
/// that would need number theory to tell count as sharing.
bool shares_memory(const std::vector<std::int64_t>& sizes,
                   const std::vector<std::int64_t>& strides);

/// [a-z0-9_]+, and with `dots` also "." and "-".
bool is_name(const std::string& text, bool dots);

}  // namespace assay::worker
