// SPDX-License-Identifier: Apache-2.0
#include "common/probing.hpp"
#include "diag_torch/classifiers.hpp"
#include "diag_torch/failure_texts.hpp"
#include "diag_torch/out_of_memory_text.hpp"
#include "diag_torch/shared_memory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace diag_torch {
namespace {

using probing::size_text;

constexpr double mebibyte = 1024.0 * 1024;
constexpr double gibibyte = 1024.0 * mebibyte;
constexpr double tebibyte = 1024.0 * gibibyte;

// What a process needs on a card beside its tensors: context, kernels, libraries' handles.
constexpr double context_size = 0.6 * gibibyte;

struct verdict {
  const char* code;
  const char* confidence;
  std::string because;
  std::string advice{};
};

/// "asked for 2.0 GiB, 512 MiB free of 8.0 GiB, PyTorch holds 6.9 GiB of which 1.2 GiB unused"
std::string numbers(const out_of_memory_text& text) {
  std::string said = text.index >= 0 ? "GPU " + std::to_string(text.index) + ": " : "";
  said += !text.requested               ? "asked for memory"
          : *text.requested >= exbibyte ? "asked for more than 1 EiB"
                                        : "asked for " + size_text(*text.requested);
  const char* of = text.device == "MPS" ? " allowed" : "";
  if (text.free && text.total) {
    said += ", " + size_text(*text.free) + " free of " + size_text(*text.total);
  } else if (text.total) {
    said += ", " + size_text(*text.total) + (*of != '\0' ? of : " in all");
  } else if (text.free) {
    said += ", " + size_text(*text.free) + " free";
  }
  if (const auto held = text.held()) {
    said += ", PyTorch holds " + size_text(*held);
    if (text.unused) {
      said += " of which " + size_text(*text.unused) + " unused";
    }
  }
  return said;
}

/// What neither PyTorch nor this process's other libraries hold.
std::optional<double> held_elsewhere(const out_of_memory_text& text) {
  if (text.elsewhere) {
    return text.elsewhere;
  }
  const auto held = text.held();
  if (!text.total || !text.free || !held) {
    return std::nullopt;
  }
  const bool says = text.this_process && *text.this_process <= *text.total;
  const double own =
      says ? std::max(*text.this_process, *held) : *held + std::min(context_size, *text.total / 10);
  return std::max(0.0, *text.total - *text.free - own);
}

std::optional<verdict> other_limit(const out_of_memory_text& text) {
  if (!text.free || !text.requested) {
    return std::nullopt;
  }
  const double held = text.held().value_or(0);
  if (text.allowed && held + *text.requested > *text.allowed && *text.free >= *text.requested) {
    return verdict{"TORCH-OOM-LIMIT", "likely",
                   "the program itself limits PyTorch to " + size_text(*text.allowed)};
  }
  // Nearly full cards have a few MiB free that nobody can get: that is not "despite".
  if (*text.free >= 1.1 * *text.requested + 256 * mebibyte) {
    return verdict{"TORCH-OOM-DESPITE-FREE", "likely",
                   "there was room, so that another limit than the card's memory refused it"};
  }
  return std::nullopt;
}

/// What would have to go for the request to fit: others' memory, or the holes in PyTorch's own.
std::optional<verdict> someone_elses(const out_of_memory_text& text) {
  const double unused = text.unused.value_or(0);
  const auto elsewhere = held_elsewhere(text);
  if (!elsewhere || !text.free || text.device == "MPS") {
    return std::nullopt;
  }
  const bool much = *elsewhere >= *text.total / 4 || *elsewhere >= text.held().value_or(0);
  if (*elsewhere < gibibyte || !much || *elsewhere < unused ||
      *text.free + *elsewhere < *text.requested) {
    return std::nullopt;
  }
  const bool sure = *elsewhere >= *text.total / 2 || text.this_process;
  return verdict{"TORCH-OOM-OTHER-PROCESS", sure ? "likely" : "possible",
                 size_text(*elsewhere) +
                     " of the card are held by others than PyTorch in this "
                     "process"};
}

std::optional<verdict> in_pieces(const out_of_memory_text& text) {
  const double unused = text.unused.value_or(0);
  const double free = text.free.value_or(0);
  if (unused < *text.total / 20 || free + unused < *text.requested) {
    return std::nullopt;
  }
  const bool sure = unused >= *text.requested && unused >= *text.total / 10;
  return verdict{"TORCH-OOM-FRAGMENTATION", sure ? "likely" : "possible",
                 "free and unused memory together would do, but not in one piece"};
}

verdict without_numbers(const out_of_memory_text& text) {
  if (text.requested && *text.requested >= tebibyte) {
    return {"TORCH-OOM-ABSURD-REQUEST", "likely",
            "no machine has that: a shape is wrong, or grows with the square of a length"};
  }
  if (text.device == "CPU") {
    return {"SYSTEM-OUT-OF-MEMORY", "likely",
            "this is the machine's own memory (RAM), not the GPU's, or a limit on it (ulimit -v, a "
            "container's)"};
  }
  return {"TORCH-OOM-PLAIN", "possible", "the text has no more numbers than that"};
}

verdict judge(const out_of_memory_text& text, const assay::failure& f) {
  if (!text.requested || !text.total) {
    return without_numbers(text);
  }
  if (*text.requested > 2 * *text.total || *text.requested >= tebibyte) {
    return {"TORCH-OOM-ABSURD-REQUEST", "likely",
            "one tensor far larger than the whole memory: a shape is wrong, or grows with the "
            "square of a length"};
  }
  if (const shared_memory shares = shares_memory(text, f); shares.sure || shares.perhaps) {
    return {"TORCH-OOM-SHARED-MEMORY", shares.sure ? "likely" : "possible", shares.because};
  }
  if (*text.requested > *text.total) {
    return {"TORCH-OOM-ABSURD-REQUEST", "possible", "one tensor larger than the whole memory"};
  }
  for (const auto look : {other_limit, someone_elses, in_pieces}) {
    if (auto found = look(text)) {
      return *std::move(found);
    }
  }
  if (text.device == "MPS") {
    return {"TORCH-OOM-PLAIN", "likely", "that is the limit PyTorch sets itself on this Mac",
            "Free memory first: torch.mps.empty_cache(), a smaller batch. "
            "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 lifts the limit, and can bring the system down."};
  }
  const bool decided = text.free && *text.free < *text.requested;
  return {"TORCH-OOM-PLAIN", decided ? "likely" : "possible",
          "the memory is in use, and PyTorch has no unused part that would do"};
}

/// Whether the line itself says that the program goes on, as loops over batch sizes do.
bool was_caught(std::string_view line) {
  return has_any(
      line, {"rying batch size", "rying again", "etrying", "alling back", "ttempting to recover",
             "kipping batch", "educing batch size", "ecovering from"});
}

}  // namespace

std::vector<assay::diagnosis> out_of_memory::classify(const assay::failure& f) {
  std::vector<assay::diagnosis> answers;
  for (const std::string_view part : texts_of(f)) {
    for (const out_of_memory_text& text : out_of_memories(part)) {
      verdict found = judge(text, f);
      std::string cause = numbers(text) + ": " + found.because + ".";
      if (was_caught(text.line)) {
        found.confidence = "possible";
        cause += " The program caught it and went on: it may be no failure at all.";
      }
      const auto same = std::find_if(answers.begin(), answers.end(),
                                     [&](const auto& given) { return given.code == found.code; });
      if (same != answers.end()) {
        same->cause += " " + std::move(cause);
        same->evidence.push_back(text.line);
        continue;
      }
      assay::diagnosis answer{.code = found.code};
      answer.cause = std::move(cause);
      answer.advice = std::move(found.advice);
      answer.confidence = found.confidence;
      answer.evidence.push_back(text.line);
      answers.push_back(std::move(answer));
    }
    if (!answers.empty()) {
      break;
    }
  }
  return answers;
}

}  // namespace diag_torch
