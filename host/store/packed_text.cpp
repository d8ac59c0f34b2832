// SPDX-License-Identifier: Apache-2.0
#include "packed_text.hpp"

#include <zlib.h>

#include <new>

namespace assay {

namespace {

// zlib's interface knows no const.
const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

}  // namespace

std::string packed(std::string_view text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string bytes(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, bytes_of(text),
                               static_cast<uLong>(text.size()), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) {
    throw std::bad_alloc();  // the only way in which it can fail with a buffer of that bound
  }
  bytes.resize(size);
  return bytes;
}

std::optional<std::string> unpacked(std::string_view bytes, std::size_t size) {
  // Nothing shrinks to less than a thousandth and a bit: a size that says so is damaged.
  constexpr std::size_t most = 1100;
  if (size > (bytes.size() + 1) * most) {
    return std::nullopt;
  }
  std::string text(size, '\0');
  auto length = static_cast<uLongf>(size);
  const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &length, bytes_of(bytes),
                                static_cast<uLong>(bytes.size()));
  if (status != Z_OK || length != size) {
    return std::nullopt;
  }
  return text;
}

}  // namespace assay
