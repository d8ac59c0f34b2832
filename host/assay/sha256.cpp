// SPDX-License-Identifier: Apache-2.0
#include "sha256.hpp"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

#include <array>
#include <fstream>
#include <vector>

namespace assay {

// Hashing needs no sodium_init(), which is about random numbers.
std::string sha256_of(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return "";
  }
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 18);
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()),
                              static_cast<unsigned long long>(in.gcount()));
  }
  if (!in.eof() || in.bad()) {
    return "";
  }
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(&state, digest.data());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> text{};
  return sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
}

}  // namespace assay
