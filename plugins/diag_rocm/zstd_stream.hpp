// SPDX-License-Identifier: Apache-2.0
//
// The beginning of what was compressed with zstd, by the libzstd that the machine has.
#pragma once

#include <boost/dll/shared_library.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace diag_rocm {

class zstd {
 public:
  zstd();  // throws std::runtime_error where there is no libzstd

  /// At least `most` bytes where the input holds them; throws where it is not zstd's.
  [[nodiscard]] std::string beginning_of(std::string_view compressed, std::size_t most) const;

 private:
  boost::dll::shared_library library_;
};

}  // namespace diag_rocm
