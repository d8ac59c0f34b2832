// SPDX-License-Identifier: Apache-2.0
#include "hiprtc.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace diag_rocm {
namespace {

using program = void*;

/// What the loader said, out of what Boost.DLL makes of it.
std::string loader_words(const std::system_error& error) {
  const std::string whole = error.what();
  const std::string before = "system message: ";
  const auto begin = whole.find(before);
  const auto end = whole.rfind("): ");
  return begin == std::string::npos || end == std::string::npos || end < begin
             ? error.code().message()
             : whole.substr(begin + before.size(), end - begin - before.size());
}

boost::dll::shared_library open(const std::filesystem::path& file) {
  using namespace boost::dll;
  const auto how = file.has_parent_path() ? load_mode::load_with_altered_search_path
                                          : load_mode::search_system_folders;
  try {
    return shared_library(file, load_mode::rtld_now | how);
  } catch (const std::system_error& error) {
    throw std::runtime_error(loader_words(error));
  }
}

template <typename Function>
Function* function(const boost::dll::shared_library& library, const std::string& name,
                   const std::filesystem::path& file) {
  try {
    return &library.get<Function>(name);
  } catch (const std::system_error&) {
    throw std::runtime_error(file.string() + " has no function " + name);
  }
}

}  // namespace

hiprtc::hiprtc(const std::filesystem::path& file) : library_(open(file)), path_(file) {
  std::error_code unknown;
  if (const auto where = library_.location(unknown); !unknown) {
    path_ = where.string();
  }
}

compiled hiprtc::compile(const std::string& source, const std::string& architecture,
                         const std::vector<std::string>& options) const {
  auto* const create =
      function<int(program*, const char*, const char*, int, const char**, const char**)>(
          library_, "hiprtcCreateProgram", path_);
  auto* const build =
      function<int(program, int, const char**)>(library_, "hiprtcCompileProgram", path_);
  auto* const log_size =
      function<int(program, std::size_t*)>(library_, "hiprtcGetProgramLogSize", path_);
  auto* const get_log = function<int(program, char*)>(library_, "hiprtcGetProgramLog", path_);
  auto* const code_size =
      function<int(program, std::size_t*)>(library_, "hiprtcGetCodeSize", path_);
  auto* const get_code = function<int(program, char*)>(library_, "hiprtcGetCode", path_);
  auto* const destroy = function<int(program*)>(library_, "hiprtcDestroyProgram", path_);
  auto* const name_of = function<const char*(int)>(library_, "hiprtcGetErrorString", path_);

  compiled result;
  program made = nullptr;
  result.code = create(&made, source.c_str(), "assay_ladder.cpp", 0, nullptr, nullptr);
  if (result.code == 0) {
    std::vector<std::string> all = options;
    all.push_back("--offload-arch=" + architecture);
    std::vector<const char*> c_options;
    for (const std::string& option : all) {
      c_options.push_back(option.c_str());
    }
    result.code = build(made, static_cast<int>(c_options.size()), c_options.data());
    std::size_t size = 0;
    if (log_size(made, &size) == 0 && size > 0) {
      result.log.resize(size);
      get_log(made, result.log.data());
      result.log.resize(result.log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
    }
    size = 0;
    if (result.ok() && code_size(made, &size) == 0 && size > 0) {
      result.object.resize(size);
      get_code(made, result.object.data());
    }
    destroy(&made);
  }
  const char* const name = name_of(result.code);
  result.code_name = name == nullptr ? "" : name;
  return result;
}

code_object_manager::code_object_manager(const std::filesystem::path& file)
    : library_(open(file)) {}

std::vector<std::string> code_object_manager::architectures() const {
  std::vector<std::string> found;
  const std::string count_name = "amd_comgr_get_isa_count";
  const std::string name_name = "amd_comgr_get_isa_name";
  if (!library_.is_loaded() || !library_.has(count_name) || !library_.has(name_name)) {
    return found;
  }
  std::size_t count = 0;
  if (library_.get<int(std::size_t*)>(count_name)(&count) != 0) {
    return found;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (library_.get<int(std::size_t, const char**)>(name_name)(i, &name) == 0 && name != nullptr) {
      const std::string_view whole = name;  // "amdgcn-amd-amdhsa--gfx1032"
      found.emplace_back(
          whole.substr(whole.rfind("--") == std::string_view::npos ? 0 : whole.rfind("--") + 2));
    }
  }
  return found;
}

std::string object_architecture(const std::string& object) {
  constexpr std::array<char, 4> magic{'\x7f', 'E', 'L', 'F'};
  constexpr std::size_t machine_at = 18;
  constexpr unsigned char amd_gpu = 224;
  if (object.size() < 64 || !object.starts_with(std::string_view(magic.data(), magic.size())) ||
      static_cast<unsigned char>(object[machine_at]) != amd_gpu || object[machine_at + 1] != 0) {
    return {};
  }
  // The note amdhsa.target holds it as text.
  const std::string_view before = "amdgcn-amd-amdhsa--";
  const std::size_t at = object.find(before);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = at + before.size();
  const std::size_t end =
      object.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789:+-", begin);
  return object.substr(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace diag_rocm
