// SPDX-License-Identifier: Apache-2.0
#include "zstd_stream.hpp"

#include <memory>
#include <stdexcept>

namespace diag_rocm {
namespace {

// zstd.h's, whose layout is part of its stable interface.
struct in_buffer {
  const void* data;
  std::size_t size, at;
};
struct out_buffer {
  void* data;
  std::size_t size, at;
};

}  // namespace

zstd::zstd() {
  using namespace boost::dll;
  for (const char* name : {"libzstd.so.1", "libzstd.so", "libzstd.dll", "zstd.dll"}) {
    boost::dll::fs::error_code failed;
    library_.load(name, load_mode::search_system_folders, failed);
    if (!failed && library_.has("ZSTD_decompressStream")) {
      return;
    }
  }
  throw std::runtime_error("there is no libzstd on the loader's path");
}

std::string zstd::beginning_of(std::string_view compressed, std::size_t most) const {
  auto& make = library_.get<void*()>("ZSTD_createDStream");
  auto& end = library_.get<std::size_t(void*)>("ZSTD_freeDStream");
  auto& step = library_.get<std::size_t(void*, out_buffer*, in_buffer*)>("ZSTD_decompressStream");
  auto& failed = library_.get<unsigned(std::size_t)>("ZSTD_isError");
  auto& words = library_.get<const char*(std::size_t)>("ZSTD_getErrorName");

  const std::unique_ptr<void, std::size_t (*)(void*)> stream(make(), &end);
  if (!stream) {
    throw std::runtime_error("libzstd has no memory");
  }
  std::string text(most, '\0');
  out_buffer out{text.data(), text.size(), 0};
  in_buffer in{compressed.data(), compressed.size(), 0};
  while (out.at < out.size) {
    const std::size_t before = out.at + in.at;
    const std::size_t left = step(stream.get(), &out, &in);
    if (failed(left) != 0) {
      throw std::runtime_error(std::string("libzstd: ") + words(left));
    }
    if (left == 0 || out.at + in.at == before) {
      break;  // the frame ended, or the input did
    }
  }
  text.resize(out.at);
  return text;
}

}  // namespace diag_rocm
