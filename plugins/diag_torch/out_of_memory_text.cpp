// SPDX-License-Identifier: Apache-2.0
#include "diag_torch/out_of_memory_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace diag_torch {
namespace {

constexpr auto npos = std::string_view::npos;

// More than any memory: a number that wrapped around below zero.
constexpr double nonsense = 1024.0 * 1024 * 1024 * 1024 * 1024;

constexpr std::size_t most_devices = 8;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_number(char c) { return is_digit(c) || c == '.'; }

std::optional<double> unit_of(std::string_view name) {
  if (name == "bytes" || name == "byte" || name == "B") {
    return 1.0;
  }
  constexpr std::string_view scale = "KMGTPE";
  const std::size_t power = name.empty() ? npos : scale.find(name[0] == 'k' ? 'K' : name[0]);
  const std::string_view rest = name.empty() ? name : name.substr(1);
  // Apple's "MB" are MiB as well.
  if (power == npos || (rest != "iB" && rest != "B")) {
    return std::nullopt;
  }
  return std::pow(1024.0, static_cast<double>(power) + 1);
}

/// "20.00 MiB" at the beginning of `text`.
std::optional<double> size_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_number(text[end])) {
    ++end;
  }
  const std::string number(text.substr(0, end));
  std::size_t from = end;
  while (from < text.size() && text[from] == ' ') {
    ++from;
  }
  std::size_t to = from;
  while (to < text.size() && is_letter(text[to])) {
    ++to;
  }
  const auto unit = unit_of(text.substr(from, to - from));
  if (number.empty() || !unit) {
    return std::nullopt;
  }
  return std::strtod(number.c_str(), nullptr) * *unit;
}

std::optional<double> size_after(std::string_view text, std::string_view token) {
  const std::size_t at = text.find(token);
  return at == npos ? std::nullopt : size_at(text.substr(at + token.size()));
}

std::optional<double> size_before(std::string_view text, std::string_view token) {
  for (std::size_t at = text.find(token); at != npos; at = text.find(token, at + 1)) {
    std::size_t from = at;
    const auto back = [&](auto&& is) {
      while (from > 0 && is(text[from - 1])) {
        --from;
      }
    };
    back(is_letter);
    back([](char c) { return c == ' '; });
    back(is_number);
    if (const auto size = size_at(text.substr(from, at - from))) {
      return size;
    }
  }
  return std::nullopt;
}

std::optional<double> sane(std::optional<double> size) {
  return size && *size < nonsense ? size : std::nullopt;
}

template <typename... sizes>
std::optional<double> first_of(sizes... candidates) {
  std::optional<double> found;
  ((found = found ? found : candidates), ...);
  return found;
}

std::string_view line_around(std::string_view text, std::size_t at) {
  const std::size_t before = text.rfind('\n', at);
  const std::size_t from = before == npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(from, end - from);
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  return line;
}

/// The sentence from `at` on in one line. Terminals and loggers wrap it: where its own line does
/// not say how large the memory is, the next ones are part of it.
std::string sentence(std::string_view text, std::size_t at) {
  std::string joined;
  for (int lines = 0; lines < 5 && at < text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (lines > 0 && line.find("out of memory") != npos) {
      break;
    }
    joined.append(lines > 0 ? " " : "").append(line);
    if (joined.find("by PyTorch but unallocated") != npos || joined.find("by PyTorch)") != npos ||
        joined.find("cached)") != npos || joined.find("max allowed") != npos) {
      break;
    }
    at = end + 1;
  }
  // Blanks at the folds.
  const auto end = std::unique(joined.begin(), joined.end(),
                               [](char a, char b) { return a == ' ' && b == ' '; });
  joined.erase(end, joined.end());
  return joined;
}

std::vector<std::string> other_processes(std::string_view text) {
  std::vector<std::string> found;
  constexpr std::string_view word = "Process ";
  for (std::size_t at = text.find(word); at != npos; at = text.find(word, at + 1)) {
    std::size_t end = at + word.size();
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    constexpr std::string_view has = " has ";
    const auto size =
        text.substr(end, has.size()) == has ? size_at(text.substr(end + has.size())) : std::nullopt;
    const std::size_t stop = text.find(" in use", end);
    if (sane(size) && stop != npos) {
      found.emplace_back(text.substr(at, stop + 7 - at));
    }
  }
  return found;
}

int index_of(std::string_view text) {
  for (const std::string_view word : {"GPU ", "NPU ", "XPU ", "device "}) {
    const std::size_t at = text.find(word);
    if (at != npos && at + word.size() < text.size() && is_digit(text[at + word.size()])) {
      return std::atoi(std::string(text.substr(at + word.size(), 4)).c_str());
    }
  }
  return -1;
}

/// "CUDA out of memory. Tried to allocate": `word` is where the device's name ends.
out_of_memory_text of_gpu(std::string_view text, std::size_t word) {
  out_of_memory_text found;
  std::size_t from = word;
  while (from > 0 && (is_letter(text[from - 1]) || is_digit(text[from - 1]))) {
    --from;
  }
  found.device = text.substr(from, word - from);
  const std::string all = sentence(text, word);
  found.requested = size_after(all, "Tried to allocate ");
  if (all.find("Tried to allocate more than 1EB") != npos) {
    found.requested = exbibyte;
  }
  found.index = index_of(all);
  found.total =
      sane(first_of(size_before(all, " total capacity"), size_after(all, "total capacity of "),
                    size_after(all, "total capacty of ")));
  found.free = sane(first_of(size_before(all, " is free"), size_before(all, " free;"),
                             size_before(all, " free)")));
  found.allocated = sane(first_of(size_before(all, " already allocated"),
                                  size_before(all, " is allocated by PyTorch"),
                                  size_before(all, " allocated by PyTorch")));
  found.allowed = sane(size_before(all, " allowed"));
  found.this_process = sane(size_after(all, "this process has "));
  found.unused = sane(size_before(all, " is reserved by PyTorch but unallocated"));
  const auto reserved = sane(
      first_of(size_before(all, " reserved in total by PyTorch"), size_before(all, " cached)")));
  if (!found.unused && reserved && found.allocated) {
    found.unused = std::max(0.0, *reserved - *found.allocated);
  }
  found.processes = other_processes(all);
  return found;
}

out_of_memory_text of_mps(std::string_view text, std::size_t at) {
  out_of_memory_text found;
  found.device = "MPS";
  const std::string all = sentence(text, at);
  found.allocated = sane(size_after(all, "MPS allocated: "));
  found.elsewhere = sane(size_after(all, "other allocations: "));
  found.total = sane(size_after(all, "max allowed: "));
  found.requested = size_after(all, "Tried to allocate ");
  return found;
}

out_of_memory_text of_cpu(std::string_view text, std::size_t at) {
  out_of_memory_text found;
  found.device = "CPU";
  const std::string all = sentence(text, at);
  const std::size_t word = all.find("you tried to allocate ");
  if (word != npos) {
    const std::string_view rest = std::string_view(all).substr(word + 22);
    found.requested = size_at(rest);
  }
  return found;
}

out_of_memory_text of_directml(std::string_view text, std::size_t at) {
  out_of_memory_text found;
  found.device = "DirectML";
  found.requested = size_after(line_around(text, at), "tensor with ");
  return found;
}

struct wording {
  std::string_view token;
  out_of_memory_text (*read)(std::string_view text, std::size_t at);
};

constexpr std::array wordings{
    wording{" out of memory. Tried to allocate ", of_gpu},
    wording{"MPS backend out of memory", of_mps},
    wording{"DefaultCPUAllocator: not enough memory", of_cpu},
    wording{"DefaultCPUAllocator: can't allocate memory", of_cpu},
    wording{"Torch: not enough memory: you tried to allocate", of_cpu},
    wording{"There is not enough GPU video memory available", of_directml},
};

}  // namespace

std::vector<out_of_memory_text> out_of_memories(std::string_view text) {
  std::vector<out_of_memory_text> all;
  for (std::size_t from = 0; all.size() < most_devices;) {
    std::size_t first = npos;
    const wording* spoken = nullptr;
    for (const wording& one : wordings) {
      const std::size_t at = text.find(one.token, from);
      if (at < first) {
        first = at;
        spoken = &one;
      }
    }
    if (spoken == nullptr) {
      break;
    }
    out_of_memory_text found = spoken->read(text, first);
    // A trace repeats its error; another number is another GPU.
    const bool other = found.index >= 0 && std::none_of(all.begin(), all.end(), [&](const auto& o) {
                         return o.index < 0 || o.index == found.index;
                       });
    if (all.empty() || other) {
      found.line = line_around(text, first);
      all.push_back(std::move(found));
    }
    from = first + spoken->token.size();
  }
  return all;
}

std::optional<out_of_memory_text> find_out_of_memory(std::string_view text) {
  auto all = out_of_memories(text);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

}  // namespace diag_torch
