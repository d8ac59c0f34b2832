// SPDX-License-Identifier: Apache-2.0
#include "diag_system/probes.hpp"

#include "common/question.hpp"

namespace diag_system {

std::vector<std::unique_ptr<assay::probe>> all_probes() {
  std::vector<std::unique_ptr<assay::probe>> all;
  const auto add = [&](const char* id, const char* summary, probing::question::answerer ask) {
    all.push_back(std::make_unique<probing::question>(id, summary, ask));
  };
  add("system.glibc", "is the C library new enough for this LibTorch?", look_at_glibc);
  add("system.libstdcxx", "is the libstdc++ that is found first new enough for this LibTorch?",
      look_at_libstdcxx);
  add("system.linker", "are all libraries there that this LibTorch loads?", look_at_linker);
  add("system.disk", "are the home, cache and temporary folders writable, with room?",
      look_at_disk);
  add("system.shm", "is /dev/shm large enough for DataLoader workers and NCCL?",
      look_at_shared_memory);
  add("system.memory", "is there memory, and no limit that a GPU program runs into?",
      look_at_memory);
  add("system.selinux", "does SELinux let GPU programs be?", look_at_selinux);
  return all;
}

}  // namespace diag_system
