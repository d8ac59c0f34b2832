// SPDX-License-Identifier: Apache-2.0
//
// An ordinary TORCH_LIBRARY extension whose operators do what operators must not do. One kernel
// serves every device.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <sys/resource.h>
#include <torch/library.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using at::Tensor;
using namespace std::chrono_literals;

Tensor fine(const Tensor& x) { return x.add(x); }

Tensor throws(const Tensor&) { TORCH_CHECK(false, "planted: this operator always fails"); }

Tensor throws_nonstd(const Tensor&) { throw 42; }

Tensor aborts(const Tensor&) { std::abort(); }

Tensor segfaults(const Tensor& x) {
  // An address that the compiler cannot know, or it would make another signal of it.
  volatile std::uintptr_t address = 0;
  *reinterpret_cast<volatile int*>(address) = 1;
  return x.clone();
}

Tensor hangs(const Tensor& x) {
  std::signal(SIGTERM, SIG_IGN);
  volatile bool forever = true;
  while (forever) {
  }
  return x.clone();
}

Tensor sleeps(const Tensor& x, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return x.clone();
}

Tensor returns_cpu(const Tensor& x) { return x.cpu().clone(); }

Tensor warns(const Tensor& x) {
  TORCH_WARN("planted: this operator is not what it seems");
  return x.clone();
}

void print(std::FILE* stream, std::int64_t bytes) {
  constexpr std::string_view line = "planted: what an operator prints in its spare time, often\n";
  for (std::int64_t left = bytes; left > 0;) {
    const auto part = std::min<std::int64_t>(left, line.size());
    std::fwrite(line.data(), 1, static_cast<std::size_t>(part), stream);
    left -= part;
  }
  std::fflush(stream);
}

Tensor prints_stderr(const Tensor& x, std::int64_t bytes) {
  print(stderr, bytes);
  return x.clone();
}

Tensor prints_stdout(const Tensor& x, std::int64_t bytes) {
  print(stdout, bytes);
  return x.clone();
}

/// Says what PLANTED_TEXT holds, in each way in which an operator can.
Tensor tells(const Tensor&) {
  const char* planted = std::getenv("PLANTED_TEXT");
  const std::string text = planted == nullptr ? "" : planted;
  std::fprintf(stdout, "planted: %s\n", text.c_str());
  std::fprintf(stderr, "planted: %s\n", text.c_str());
  std::fflush(stdout);
  TORCH_WARN("planted: ", text);
  TORCH_CHECK(false, "planted: ", text);
}

class address_space_limit {
 public:
  explicit address_space_limit(rlim_t more) {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + more;
    setrlimit(RLIMIT_AS, &now);
  }
  ~address_space_limit() { setrlimit(RLIMIT_AS, &before_); }
  address_space_limit(const address_space_limit&) = delete;
  address_space_limit& operator=(const address_space_limit&) = delete;

 private:
  rlimit before_{};
};

Tensor out_of_memory(const Tensor&) {
  // What is left below one block is for the exception and whoever looks at it.
  constexpr std::int64_t block = std::int64_t{256} << 20;
  const address_space_limit limit(block + block / 2);
  for (std::vector<Tensor> held;;) {
    held.push_back(at::empty({block}, at::kByte));
  }
}

Tensor exits(const Tensor&, std::int64_t code) { std::exit(static_cast<int>(code)); }

Tensor leaves_thread(const Tensor& x) {
  static std::once_flag once;  // one thread a process, however many calls are timed
  std::call_once(once, [] { std::thread([] { std::this_thread::sleep_for(1h); }).detach(); });
  return x.clone();
}

}  // namespace

TORCH_LIBRARY(planted, m) {
  m.def("fine(Tensor x) -> Tensor");
  m.def("throws(Tensor x) -> Tensor");
  m.def("throws_nonstd(Tensor x) -> Tensor");
  m.def("aborts(Tensor x) -> Tensor");
  m.def("segfaults(Tensor x) -> Tensor");
  m.def("hangs(Tensor x) -> Tensor");
  m.def("sleeps(Tensor x, float seconds) -> Tensor");
  m.def("returns_cpu(Tensor x) -> Tensor");
  m.def("warns(Tensor x) -> Tensor");
  m.def("prints_stderr(Tensor x, int bytes) -> Tensor");
  m.def("prints_stdout(Tensor x, int bytes) -> Tensor");
  m.def("tells(Tensor x) -> Tensor");
  m.def("out_of_memory(Tensor x) -> Tensor");
  m.def("exits(Tensor x, int code) -> Tensor");
  m.def("leaves_thread(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(planted, CompositeExplicitAutograd, m) {
  m.impl("fine", fine);
  m.impl("throws", throws);
  m.impl("throws_nonstd", throws_nonstd);
  m.impl("aborts", aborts);
  m.impl("segfaults", segfaults);
  m.impl("hangs", hangs);
  m.impl("sleeps", sleeps);
  m.impl("returns_cpu", returns_cpu);
  m.impl("warns", warns);
  m.impl("prints_stderr", prints_stderr);
  m.impl("prints_stdout", prints_stdout);
  m.impl("tells", tells);
  m.impl("out_of_memory", out_of_memory);
  m.impl("exits", exits);
  m.impl("leaves_thread", leaves_thread);
}
