// SPDX-License-Identifier: Apache-2.0
#include "host/common/plugin_stamp.hpp"

#include <assay/abi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <vector>

namespace assay {

namespace {

constexpr std::string_view magic = ASSAY_STAMP_MAGIC;
constexpr std::size_t first_size = offsetof(assay_stamp, brings);  // of ABI minor 0
constexpr std::uint32_t most_size = 4096;                          // no stamp will ever be as long

template <std::size_t N>
std::optional<std::string> text_in(const char (&field)[N]) {
  const char* end = std::find(field, field + N, '\0');
  return end == field + N ? std::nullopt : std::optional(std::string(field, end));
}

bool is_id(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") == std::string::npos;
}

/// The stamp at the beginning of `bytes`, where there can be one.
std::optional<plugin_stamp> stamp_at(std::string_view bytes) {
  if (bytes.size() < first_size) {
    return std::nullopt;
  }
  assay_stamp raw{};
  std::memcpy(&raw, bytes.data(), first_size);
  if (raw.struct_size < first_size || raw.struct_size > most_size ||
      raw.struct_size > bytes.size() || raw.abi_major == 0) {
    return std::nullopt;
  }
  std::memcpy(&raw, bytes.data(), std::min<std::size_t>(sizeof raw, raw.struct_size));
  const auto id = text_in(raw.id);
  const auto version = text_in(raw.version);
  const auto vendor = text_in(raw.vendor);
  const auto accelerator = text_in(raw.accelerator);
  if (!id || !version || !vendor || !accelerator || !is_id(*id)) {
    return std::nullopt;
  }
  return plugin_stamp{*id,           *version,      *vendor,   *accelerator,
                      raw.abi_major, raw.abi_minor, raw.brings};
}

/// Keeps what was seen of the stamps of one file.
class collected_stamps {
 public:
  /// Every stamp that begins in the first `begins_below` bytes.
  void look(std::string_view bytes, std::size_t begins_below) {
    for (std::size_t at = bytes.find(magic); at < begins_below; at = bytes.find(magic, at + 1)) {
      const auto stamp = stamp_at(bytes.substr(at));
      if (!stamp) {
        implausible_ = true;
      } else if (std::find(found_.begin(), found_.end(), *stamp) == found_.end()) {
        found_.push_back(*stamp);
      }
    }
  }

  [[nodiscard]] stamp_reading reading() const {
    if (found_.size() == 1) {
      return {found_.front(), "", true};
    }
    if (found_.size() > 1) {
      return {std::nullopt,
              "it holds several plugin stamps ('" + found_[0].id + "' " + found_[0].version +
                  " and '" + found_[1].id + "' " + found_[1].version + "); a plugin has one",
              true};
    }
    return {std::nullopt, implausible_ ? "its plugin stamp is damaged" : "it holds no plugin stamp",
            implausible_};
  }

 private:
  std::vector<plugin_stamp> found_;
  bool implausible_ = false;
};

}  // namespace

bool plugin_stamp::only_diagnostics() const {
  return (brings & ASSAY_BRINGS_DIAGNOSTICS) != 0 && (brings & ASSAY_BRINGS_CHECKS) == 0;
}

std::string plugin_stamp::abi() const {
  return std::to_string(abi_major) + "." + std::to_string(abi_minor);
}

stamp_reading find_stamp(std::string_view bytes) {
  collected_stamps stamps;
  stamps.look(bytes, bytes.size());
  return stamps.reading();
}

stamp_reading read_stamp(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return {std::nullopt, "it cannot be read", false};
  }
  constexpr std::size_t piece = std::size_t{1} << 18;
  collected_stamps stamps;
  // What is kept of one piece is seen together with the next: a stamp may lie across both.
  std::vector<char> bytes(piece + most_size);
  std::size_t kept = 0;
  while (in) {
    in.read(bytes.data() + kept, static_cast<std::streamsize>(piece));
    const std::size_t size = kept + static_cast<std::size_t>(in.gcount());
    const bool last = !in;
    const std::size_t done = last || size < most_size ? (last ? size : 0) : size - most_size;
    stamps.look({bytes.data(), size}, done);
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(done),
              bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.begin());
    kept = size - done;
  }
  return in.bad() ? stamp_reading{std::nullopt, "it cannot be read to its end", false}
                  : stamps.reading();
}

}  // namespace assay
