// SPDX-License-Identifier: Apache-2.0
#include "kernel_names.hpp"

#include <algorithm>
#include <array>

namespace assay {

namespace {

constexpr auto npos = std::string_view::npos;

std::string without(std::string text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

/// Where the name ends: at the first template bracket or parameter list.
std::size_t end_of_name(std::string_view text) {
  return std::min(text.find_first_of("<("), text.size());
}

std::string_view last_part(std::string_view name) {
  const auto colons = name.rfind("::");
  return colons == npos ? name : name.substr(colons + 2);
}

/// The first argument in the brackets that `text` begins with.
std::string_view first_argument(std::string_view text) {
  int depth = 0;
  std::size_t begin = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (depth == 0 || (depth == 1 && c == ',')) {
      const std::string_view one = text.substr(begin, i - begin);
      const auto blank = one.find_first_not_of(' ');
      const std::string_view argument = blank == npos ? one : one.substr(blank);
      // A number or an element type says nothing of what is computed.
      const std::string_view name = argument.substr(0, end_of_name(argument));
      static constexpr std::array<std::string_view, 9> plain{
          "float", "double", "int", "long", "bool", "true", "false", "c10::Half", "c10::BFloat16"};
      if (!name.empty() && (name.front() < '0' || name.front() > '9') &&
          std::find(plain.begin(), plain.end(), name) == plain.end()) {
        return argument;
      }
      begin = i + 1;
    }
    if (depth == 0) {
      break;
    }
  }
  return {};
}

}  // namespace

std::string short_kernel_name(std::string_view demangled) {
  const std::string plain = without(std::string(demangled), "(anonymous namespace)::");
  std::string_view text = plain;
  if (text.starts_with("void ")) {
    text.remove_prefix(5);
  }
  const std::size_t end = end_of_name(text);
  std::string name(text.substr(0, end));
  name = name.starts_with("at::native::") ? std::string(last_part(name)) : name;
  if (end == text.size() || text[end] != '<') {
    return name;
  }
  std::string_view argument = first_argument(text.substr(end));
  while (last_part(argument.substr(0, end_of_name(argument))).starts_with("gpu_kernel_impl")) {
    argument = first_argument(argument.substr(end_of_name(argument)));
  }
  const std::string_view functor = last_part(argument.substr(0, end_of_name(argument)));
  return functor.empty() ? name : name + "<" + std::string(functor) + ">";
}

bool is_kernel_of_torch(std::string_view demangled) {
  static constexpr std::array<std::string_view, 4> marks{
      "at::native::", "at::cuda::", "PyTorchMemEffAttention", "pytorch_flash"};
  return std::any_of(marks.begin(), marks.end(),
                     [demangled](std::string_view mark) { return demangled.find(mark) != npos; }) ||
         demangled.find("softmax_warp_forward") != npos;
}

}  // namespace assay
