// SPDX-License-Identifier: Apache-2.0
//
// Every wording of PyTorch's out-of-memory text, and the arithmetic on its numbers.
#include "common/probing.hpp"
#include "diag_torch/classifiers.hpp"
#include "diag_torch/out_of_memory_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>

namespace {

using diag_torch::find_out_of_memory;
using probing::size_text;

constexpr double mib = 1024.0 * 1024;
constexpr double gib = 1024.0 * mib;

assay::diagnosis judged(const assay::failure& f) {
  const auto answers = diag_torch::out_of_memory().classify(f);
  return answers.empty() ? assay::diagnosis{.code = "none"} : answers.front();
}
assay::diagnosis judged(std::string_view text) {
  return judged(assay::failure{.error_text = text});
}

#define EXPECT_SIZE(found, expected)                             \
  do {                                                           \
    ASSERT_TRUE((found).has_value());                            \
    EXPECT_NEAR(*(found), (expected), 0.006 * (expected) + 0.5); \
  } while (false)

// ------------------------------------------------------------------ wordings

TEST(out_of_memory_text, one_dot_zero_said_cached) {
  const auto t = find_out_of_memory(
      "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 7.93 GiB total "
      "capacity; 6.89 GiB already allocated; 17.56 MiB free; 34.00 MiB cached)");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->device, "CUDA");
  EXPECT_EQ(t->index, 1);
  EXPECT_SIZE(t->requested, 20 * mib);
  EXPECT_SIZE(t->total, 7.93 * gib);
  EXPECT_SIZE(t->allocated, 6.89 * gib);
  EXPECT_SIZE(t->free, 17.56 * mib);
}

TEST(out_of_memory_text, until_two_it_said_reserved_in_total) {
  const auto t = find_out_of_memory(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 11.77 "
      "GiB total capacity; 8.00 GiB already allocated; 1.12 GiB free; 10.00 GiB allowed; 9.25 GiB "
      "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
      "max_split_size_mb to avoid fragmentation.");
  ASSERT_TRUE(t);
  EXPECT_SIZE(t->total, 11.77 * gib);
  EXPECT_SIZE(t->free, 1.12 * gib);
  EXPECT_SIZE(t->allowed, 10.0 * gib);
  EXPECT_SIZE(t->allocated, 8.0 * gib);
  EXPECT_SIZE(t->unused, 1.25 * gib);
}

TEST(out_of_memory_text, two_dot_one_misspelt_capacity_and_named_processes) {
  const auto t = find_out_of_memory(
      "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacty "
      "of 23.64 GiB of which 512.00 MiB is free. Process 4711 has 7.25 GiB memory in use. "
      "Including "
      "non-PyTorch memory, this process has 15.80 GiB memory in use. Of the allocated memory 14.00 "
      "GiB is allocated by PyTorch, and 1.25 GiB is reserved by PyTorch but unallocated. If "
      "reserved but unallocated memory is large try setting max_split_size_mb");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->index, 3);
  EXPECT_SIZE(t->requested, 2 * gib);
  EXPECT_SIZE(t->total, 23.64 * gib);
  EXPECT_SIZE(t->free, 512 * mib);
  EXPECT_SIZE(t->this_process, 15.8 * gib);
  EXPECT_SIZE(t->allocated, 14 * gib);
  EXPECT_SIZE(t->unused, 1.25 * gib);
  ASSERT_EQ(t->processes.size(), 1U);
  EXPECT_EQ(t->processes[0], "Process 4711 has 7.25 GiB memory in use");
}

TEST(out_of_memory_text, private_pools_and_a_limit) {
  const auto t = find_out_of_memory(
      "HIP out of memory. Tried to allocate 76.00 MiB. GPU 0 has a total capacity of 15.98 GiB of "
      "which 9.00 GiB is free. 6.00 GiB allowed; Of the allocated memory 5.50 GiB is allocated by "
      "PyTorch, with 20.00 MiB allocated in private pools (e.g., HIP Graphs), and 450.00 MiB is "
      "reserved by PyTorch but unallocated.");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->device, "HIP");
  EXPECT_SIZE(t->allowed, 6 * gib);
  EXPECT_SIZE(t->allocated, 5.5 * gib);
  EXPECT_SIZE(t->unused, 450 * mib);
}

TEST(out_of_memory_text, numbers_that_wrapped_around_are_absent) {
  const auto t = find_out_of_memory(
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which 0 bytes is free. Process 12 has 17179869183.99 GiB memory in use. Including "
      "non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the allocated "
      "memory 7.10 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but "
      "unallocated.");
  ASSERT_TRUE(t);
  EXPECT_FALSE(t->this_process);
  EXPECT_TRUE(t->processes.empty());
  ASSERT_TRUE(t->free);
  EXPECT_EQ(*t->free, 0);
}

TEST(out_of_memory_text, a_text_folded_by_a_terminal_is_read_whole) {
  const auto t = find_out_of_memory(
      "  File \"x.py\", line 3\r\nRuntimeError: HIP out of memory. Tried to allocate 2.00 GiB. GPU "
      "0"
      "\n    has a total capacity of 15.98 GiB of which 1.00\n    GiB is free. Of the allocated "
      "memory 13.00 GiB\n    is allocated by PyTorch, and 64.00 MiB is reserved by PyTorch but "
      "unallocated.\nmore");
  ASSERT_TRUE(t);
  EXPECT_SIZE(t->total, 15.98 * gib);
  EXPECT_SIZE(t->free, 1.0 * gib);
  EXPECT_SIZE(t->allocated, 13.0 * gib);
  EXPECT_EQ(t->line, "RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0");
}

TEST(out_of_memory_text, xpu_says_nothing_of_free_memory) {
  const auto t = find_out_of_memory(
      "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total "
      "capacity of 15.11 GiB. Of the allocated memory 5.00 GiB is allocated by PyTorch, and 1.00 "
      "GiB is reserved by PyTorch but unallocated.");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->device, "XPU");
  EXPECT_FALSE(t->free);
  EXPECT_SIZE(t->total, 15.11 * gib);
}

TEST(out_of_memory_text, mps_counts_in_megabytes) {
  const auto t = find_out_of_memory(
      "RuntimeError: MPS backend out of memory (MPS allocated: 8.50 GB, other allocations: 512.00 "
      "MB, max allowed: 9.07 GB). Tried to allocate 256.00 MB on private pool. Use "
      "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->device, "MPS");
  EXPECT_SIZE(t->requested, 256 * mib);
  EXPECT_SIZE(t->total, 9.07 * gib);
  EXPECT_SIZE(t->allocated, 8.5 * gib);
  EXPECT_SIZE(t->elsewhere, 512 * mib);
}

TEST(out_of_memory_text, cpu_and_directml) {
  const auto cpu = find_out_of_memory(
      "[enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: "
      "you tried to allocate 4294967296 bytes. Error code 12 (Cannot allocate memory)");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->device, "CPU");
  EXPECT_SIZE(cpu->requested, 4 * gib);
  const auto windows = find_out_of_memory(
      "RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough "
      "memory: you tried to allocate 1073741824 bytes.");
  ASSERT_TRUE(windows);
  EXPECT_SIZE(windows->requested, 1 * gib);
  const auto old = find_out_of_memory("$ Torch: not enough memory: you tried to allocate 12GB.");
  ASSERT_TRUE(old);
  EXPECT_SIZE(old->requested, 12 * gib);
  const auto directml = find_out_of_memory(
      "RuntimeError: Could not allocate tensor with 1207959552 bytes. There is not enough GPU "
      "video memory available!");
  ASSERT_TRUE(directml);
  EXPECT_EQ(directml->device, "DirectML");
  EXPECT_SIZE(directml->requested, 1207959552.0);
}

TEST(out_of_memory_text, other_texts_are_not_mistaken_for_it) {
  for (const char* text :
       {"", "out of memory", "CUDA error: out of memory", "hipErrorOutOfMemory",
        "Out of memory: Killed process 12 (python3)", "Tried to allocate 2.00 GiB"}) {
    EXPECT_FALSE(find_out_of_memory(text)) << text;
  }
}

TEST(out_of_memory_text, cut_off_anywhere_it_is_still_read) {
  const std::string whole =
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which 0 bytes is free. Process 12 has 3.00 GiB memory in use. Of the allocated memory 7.10 "
      "GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto answer = judged(whole.substr(0, length));
    EXPECT_EQ(answer.code == "none", length < 38) << whole.substr(0, length);
  }
}

TEST(out_of_memory_text, sizes_read_well) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(2 * gib), "2.0 GiB");
  EXPECT_EQ(size_text(512 * mib), "512 MiB");
  EXPECT_EQ(size_text(1.25 * mib), "1.2 MiB");
  EXPECT_EQ(size_text(288 * gib), "288 GiB");
  EXPECT_EQ(size_text(1023.99 * mib), "1.0 GiB");
}

// ------------------------------------------------------------------ the arithmetic

struct numbers {
  double requested, total, free, allocated, unused;
  double allowed = 0;
};

std::string printed(double bytes) {
  std::array<char, 64> text{};
  if (bytes < 1024) {
    std::snprintf(text.data(), text.size(), "%.0f bytes", bytes);
  } else if (bytes < gib) {
    std::snprintf(text.data(), text.size(), "%.2f MiB", bytes / mib);
  } else {
    std::snprintf(text.data(), text.size(), "%.2f GiB", bytes / gib);
  }
  return text.data();
}

std::string old_text(const std::string& device, const numbers& n) {
  return "RuntimeError: " + device + " out of memory. Tried to allocate " + printed(n.requested) +
         " (GPU 0; " + printed(n.total) + " total capacity; " + printed(n.allocated) +
         " already allocated; " + printed(n.free) + " free; " +
         (n.allowed > 0 ? printed(n.allowed) + " allowed; " : "") +
         printed(n.allocated + n.unused) +
         " reserved in total by PyTorch) If reserved memory is >> allocated memory try";
}

std::string new_text(const std::string& device, const numbers& n) {
  return "torch.OutOfMemoryError: " + device + " out of memory. Tried to allocate " +
         printed(n.requested) + ". GPU 0 has a total capacity of " + printed(n.total) +
         " of which " + printed(n.free) + " is free. " +
         (n.allowed > 0 ? printed(n.allowed) + " allowed; " : "") + "Of the allocated memory " +
         printed(n.allocated) + " is allocated by PyTorch, and " + printed(n.unused) +
         " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large";
}

std::string code_of(const numbers& n, const std::string& device = "CUDA") {
  const assay::diagnosis one = judged(old_text(device, n));
  const assay::diagnosis other = judged(new_text(device, n));
  EXPECT_EQ(one.code, other.code) << new_text(device, n);
  EXPECT_EQ(one.confidence, other.confidence) << new_text(device, n);
  return other.code.substr(sizeof "TORCH-OOM-" - 1) + " " + other.confidence;
}

TEST(out_of_memory, tells_the_look_alikes_apart) {
  // The card is full of what PyTorch uses.
  EXPECT_EQ(code_of({2 * gib, 8 * gib, 0.5 * gib, 5.7 * gib, 1.2 * gib}), "PLAIN likely");
  EXPECT_EQ(code_of({20 * mib, 4 * gib, 0, 3.4 * gib, 50 * mib}), "PLAIN likely");
  EXPECT_EQ(code_of({20 * mib, 24 * gib, 25.5 * mib, 23.1 * gib, 80 * mib}), "PLAIN possible");
  // Enough is there, but in pieces.
  EXPECT_EQ(code_of({3 * gib, 12 * gib, 1 * gib, 6 * gib, 4.4 * gib}), "FRAGMENTATION likely");
  EXPECT_EQ(code_of({5 * gib, 20 * gib, 4 * gib, 11 * gib, 4.4 * gib}), "FRAGMENTATION possible");
  // Others have it.
  EXPECT_EQ(code_of({2 * gib, 24 * gib, 0.2 * gib, 3 * gib, 0.1 * gib}), "OTHER-PROCESS likely");
  EXPECT_EQ(code_of({2 * gib, 24 * gib, 0.2 * gib, 14 * gib, 0.1 * gib}), "OTHER-PROCESS possible");
  // A desktop's share does not make it the others' fault.
  EXPECT_EQ(code_of({2 * gib, 24 * gib, 0.2 * gib, 20.6 * gib, 0.1 * gib}), "PLAIN likely");
  // No card has that.
  EXPECT_EQ(code_of({300 * gib, 16 * gib, 2 * gib, 13 * gib, 0.1 * gib}), "ABSURD-REQUEST likely");
  EXPECT_EQ(code_of({20 * gib, 16 * gib, 15 * gib, 0, 0}), "ABSURD-REQUEST possible");
  // There was room.
  EXPECT_EQ(code_of({64 * mib, 80 * gib, 50 * gib, 28 * gib, 1 * gib}), "DESPITE-FREE likely");
}

TEST(out_of_memory, that_was_caught_may_be_no_failure) {
  const numbers n{2 * gib, 16 * gib, 1 * gib, 14 * gib, 0.1 * gib};
  EXPECT_EQ(judged(new_text("HIP", n)).confidence, "likely");
  const assay::diagnosis caught = judged(new_text("HIP", n) + " Retrying with half the batch.");
  EXPECT_EQ(caught.confidence, "possible");
  EXPECT_NE(caught.cause.find("went on"), std::string::npos) << caught.cause;
}

TEST(out_of_memory, a_limit_of_the_programs_own_is_named) {
  const numbers n{1 * gib, 16 * gib, 11 * gib, 3.5 * gib, 0.2 * gib, 4 * gib};
  EXPECT_EQ(code_of(n), "LIMIT likely");
  const assay::diagnosis answer = judged(new_text("CUDA", n));
  EXPECT_NE(answer.cause.find("limits PyTorch to 4.0 GiB"), std::string::npos) << answer.cause;
  // The limit is not what refused it where the card itself is full.
  EXPECT_EQ(code_of({1 * gib, 16 * gib, 0.5 * gib, 14.5 * gib, 0.2 * gib, 15 * gib}),
            "PLAIN likely");
}

TEST(out_of_memory, says_the_numbers_of_the_case) {
  const assay::diagnosis answer =
      judged(new_text("CUDA", {2 * gib, 8 * gib, 512 * mib, 5.7 * gib, 1.2 * gib}));
  EXPECT_EQ(answer.cause.rfind("GPU 0: asked for 2.0 GiB, 512 MiB free of 8.0 GiB, PyTorch holds "
                               "6.9 GiB of which 1.2 GiB unused: ",
                               0),
            0U)
      << answer.cause;
  ASSERT_EQ(answer.evidence.size(), 1U);
  EXPECT_EQ(answer.evidence[0].rfind("torch.OutOfMemoryError: CUDA out of memory. ", 0), 0U);
}

TEST(out_of_memory, this_process_other_libraries_are_not_another_process) {
  const std::string text =
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of "
      "which 0.50 GiB is free. Including non-PyTorch memory, this process has 23.40 GiB memory in "
      "use. Of the allocated memory 9.00 GiB is allocated by PyTorch, and 0.10 GiB is reserved by "
      "PyTorch but unallocated.";
  EXPECT_EQ(judged(text).code, "TORCH-OOM-PLAIN");
}

TEST(out_of_memory, gpus_that_share_the_machines_memory) {
  const numbers odd{4 * gib, 15.24 * gib, 1 * gib, 13.5 * gib, 0.1 * gib};
  EXPECT_EQ(code_of(odd, "HIP"), "SHARED-MEMORY possible");
  EXPECT_EQ(code_of(odd, "CUDA"), "PLAIN likely");
  EXPECT_EQ(code_of({4 * gib, 15.24 * gib, 6 * gib, 8 * gib, 0.1 * gib}, "HIP"),
            "SHARED-MEMORY likely");
  // More free than there is.
  EXPECT_EQ(code_of({4 * gib, 8 * gib, 20 * gib, 1 * gib, 0}, "HIP"), "SHARED-MEMORY likely");
  const std::string text = new_text("HIP", {4 * gib, 16 * gib, 1 * gib, 13.5 * gib, 0.1 * gib});
  const auto with = [&](assay::failure f) {
    const assay::diagnosis answer = judged(f);
    return answer.code + " " + answer.confidence;
  };
  EXPECT_EQ(with({.error_text = text}), "TORCH-OOM-PLAIN likely");
  EXPECT_EQ(with({.error_text = text, .architecture = "gfx1151"}),
            "TORCH-OOM-SHARED-MEMORY likely");
  EXPECT_EQ(with({.error_text = text, .device_name = "AMD Radeon 8060S"}),
            "TORCH-OOM-SHARED-MEMORY likely");
  EXPECT_EQ(with({.error_text = text, .architecture = "gfx1100"}), "TORCH-OOM-PLAIN likely");
  const std::string log = "gfx1103 found\n" + text;
  EXPECT_EQ(with({.log = log}), "TORCH-OOM-SHARED-MEMORY likely");
  const std::string both = "gfx1103 and gfx1100 found\n" + text;
  EXPECT_EQ(with({.log = both}), "TORCH-OOM-PLAIN likely");
  const std::string kernel = text + "\n[drm] amdgpu: 65536M of VRAM memory ready\n";
  EXPECT_EQ(with({.log = kernel}), "TORCH-OOM-SHARED-MEMORY likely");
  const std::string sane_kernel = text + "\n[drm] amdgpu: 16368M of VRAM memory ready\n";
  EXPECT_EQ(with({.log = sane_kernel}), "TORCH-OOM-PLAIN likely");
}

TEST(out_of_memory, cards_of_usual_sizes_are_cards) {
  for (const double size : {3.98, 5.98, 7.98, 11.98, 15.98, 19.92, 23.98, 31.98, 44.98 + 3, 63.98,
                            191.98, 191.69, 255.98, 287.98}) {
    EXPECT_EQ(code_of({size * gib / 4, size * gib, 0.1 * gib, size * gib * 0.97, 0}, "HIP"),
              "PLAIN likely")
        << size;
  }
}

TEST(out_of_memory, without_numbers_it_is_careful) {
  EXPECT_EQ(judged("RuntimeError: Could not allocate tensor with 1207959552 bytes. There is not "
                   "enough GPU video memory available!")
                .confidence,
            "possible");
  const assay::diagnosis cpu =
      judged("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes.");
  EXPECT_EQ(cpu.code, "SYSTEM-OUT-OF-MEMORY");
  EXPECT_NE(cpu.cause.find("RAM"), std::string::npos);
  EXPECT_EQ(judged("DefaultCPUAllocator: not enough memory: you tried to allocate "
                   "47244640256000000 bytes.")
                .code,
            "TORCH-OOM-ABSURD-REQUEST");
}

TEST(out_of_memory, the_first_text_counts) {
  const std::string first = new_text("CUDA", {2 * gib, 24 * gib, 0.2 * gib, 3 * gib, 0.1 * gib});
  const std::string second = new_text("CUDA", {300 * gib, 24 * gib, 1 * gib, 3 * gib, 0.1 * gib});
  const std::string log = "x\n" + first + "\nDuring handling of the above:\n" + second + "\n";
  EXPECT_EQ(judged(assay::failure{.log = log}).code, "TORCH-OOM-OTHER-PROCESS");
  EXPECT_EQ(judged(assay::failure{.error_text = second, .stderr_text = first}).code,
            "TORCH-OOM-ABSURD-REQUEST");
}

TEST(out_of_memory, no_text_no_answer) {
  EXPECT_TRUE(diag_torch::out_of_memory().classify({.error_text = "CUDA error: boom"}).empty());
}

// Properties that hold for all numbers, in both wordings alike.
TEST(out_of_memory, holds_its_promises_for_any_numbers) {
  std::mt19937_64 random(20261130);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int seen_plain = 0;
  int seen_pieces = 0;
  int seen_others = 0;
  for (int i = 0; i < 20000; ++i) {
    constexpr std::array totals{4.0, 8.0, 12.0, 16.0, 24.0, 40.0, 80.0, 141.0};
    numbers n{};
    n.total = totals.at(random() % totals.size()) * gib;
    // In steps that both wordings print in full, and that a double holds.
    const auto whole = [](double bytes) { return std::floor(bytes / gib * 4) / 4 * gib; };
    n.free = whole(between(0, 1) < 0.3 ? 0 : n.total * std::pow(between(0, 1), 3));
    n.allocated = whole((n.total - n.free) * between(0, 1));
    n.unused = whole((n.total - n.free - n.allocated) * std::pow(between(0, 1), 2));
    n.requested = whole(0.25 * gib + n.total * std::pow(between(0, 1.6), 4));
    const std::string code = code_of(n);
    const std::string kind = code.substr(0, code.find(' '));
    const double slack = 0.02 * gib;
    SCOPED_TRACE(new_text("CUDA", n) + " -> " + code);
    // Near a threshold either side will do.
    if (n.requested > 2 * n.total + slack) {
      ASSERT_EQ(code, "ABSURD-REQUEST likely");
    } else if (n.requested < n.total - slack) {
      ASSERT_NE(kind, "ABSURD-REQUEST");
    }
    if (kind == "DESPITE-FREE") {
      ASSERT_GE(n.free + slack, n.requested);
    }
    if (kind == "FRAGMENTATION") {
      ++seen_pieces;
      ASSERT_GE(n.free + n.unused + slack, n.requested);
      ASSERT_GE(n.unused + slack, n.total / 20);
    }
    if (kind == "OTHER-PROCESS") {
      ++seen_others;
      ASSERT_GE(n.total - n.allocated - n.unused + slack, n.requested);
      ASSERT_GE(n.total - n.free - n.allocated - n.unused + slack, gib);
    }
    if (code == "PLAIN likely") {
      ++seen_plain;
      ASSERT_LT(n.free, n.requested + slack);
    }
    ASSERT_NE(kind, "SHARED-MEMORY");
  }
  EXPECT_GT(seen_plain, 200);
  EXPECT_GT(seen_pieces, 200);
  EXPECT_GT(seen_others, 200);
}

TEST(out_of_memory, every_gpu_of_a_text_is_judged) {
  const std::string first = new_text("HIP", {20 * mib, 16 * gib, 1 * mib, 15.3 * gib, 80 * mib});
  std::string second = new_text("HIP", {40 * gib, 16 * gib, 1 * mib, 15.3 * gib, 80 * mib});
  second.replace(second.find("GPU 0"), 5, "GPU 1");
  const std::string text = first + "\n" + second + "\n" + first + "\n";
  assay::failure f{};
  f.log = text;
  const auto answers = diag_torch::out_of_memory().classify(f);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].code, "TORCH-OOM-PLAIN");
  EXPECT_NE(answers[0].cause.find("GPU 0: "), std::string::npos) << answers[0].cause;
  EXPECT_EQ(answers[1].code, "TORCH-OOM-ABSURD-REQUEST");
  EXPECT_NE(answers[1].cause.find("GPU 1: "), std::string::npos) << answers[1].cause;
  // Of one kind: one answer that names both.
  std::string third = first;
  third.replace(third.find("GPU 0"), 5, "GPU 2");
  const std::string alike = first + "\n" + third;
  f.log = alike;
  const auto one = diag_torch::out_of_memory().classify(f);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].evidence.size(), 2U);
  EXPECT_NE(one[0].cause.find("GPU 2: "), std::string::npos) << one[0].cause;
}

TEST(out_of_memory, more_than_any_machine_has) {
  const assay::diagnosis found =
      judged("CUDA out of memory. Tried to allocate more than 1EB memory.");
  EXPECT_EQ(found.code, "TORCH-OOM-ABSURD-REQUEST");
  EXPECT_EQ(found.cause.find("asked for more than 1 EiB: "), 0U) << found.cause;
}

TEST(out_of_memory, what_is_printed_is_what_is_read) {
  std::mt19937_64 random(7);
  const auto size = [&] {
    return std::pow(2.0, std::uniform_real_distribution<double>(0, 40)(random));
  };
  for (int i = 0; i < 2000; ++i) {
    const numbers n{size(), size(), size(), size(), size(), size()};
    for (const std::string& text : {old_text("CUDA", n), new_text("HIP", n)}) {
      const auto t = find_out_of_memory(text);
      ASSERT_TRUE(t) << text;
      // Two decimals are printed.
      const auto near = [&](std::optional<double> found, double expected) {
        const double step = expected >= gib ? gib : expected >= 1024 ? mib : 1;
        return found && std::abs(*found - expected) <= 0.02 * step + 1;
      };
      EXPECT_TRUE(near(t->requested, n.requested)) << text;
      EXPECT_TRUE(near(t->total, n.total)) << text;
      EXPECT_TRUE(near(t->free, n.free)) << text;
      EXPECT_TRUE(near(t->allocated, n.allocated)) << text;
      EXPECT_TRUE(near(t->allowed, n.allowed)) << text;
    }
  }
}

}  // namespace
