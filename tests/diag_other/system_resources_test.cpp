// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"
#include "common/mounts.hpp"
#include "diag_system/probes.hpp"
#include "diag_system/room.hpp"
#include "temporary_tree.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

using test::gist;

class tree : public test::temporary_tree {
 public:
  [[nodiscard]] assay::probe_site site() const { return {.root = root()}; }
};

constexpr double mib = 1024.0 * 1024;
constexpr double gib = 1024.0 * mib;

TEST(system_probes, every_one_answers_on_this_machine) {
  for (const auto& probe : diag_system::all_probes()) {
    const auto answer = probe->look({});
    EXPECT_FALSE(answer.fact.empty()) << probe->id();
    std::printf("%s: %s | %s\n", probe->id().c_str(), gist(answer).c_str(), answer.fact.c_str());
  }
}

TEST(system_probes, every_one_answers_on_an_empty_tree) {
  const tree empty;
  for (const auto& probe : diag_system::all_probes()) {
    const auto answer = probe->look(empty.site());
    EXPECT_FALSE(answer.fact.empty()) << probe->id();
  }
}

// ------------------------------------------------------------------ system.disk

TEST(system_disk, room_and_rights) {
  const diag_system::folder good{.role = "home", .path = "/home/x", .free = 20 * gib};
  EXPECT_EQ(gist(diag_system::judge_folders({good})), "yes");
  const diag_system::folder full{.role = "cache", .path = "/home/x/.cache", .free = 100 * mib};
  const auto answer = diag_system::judge_folders({good, full});
  EXPECT_EQ(gist(answer), "no SYSTEM-DISK-FULL");
  EXPECT_SAYS(answer, "cache folder /home/x/.cache has 100 MiB free");
  const diag_system::folder closed{
      .role = "temporary", .path = "/tmp", .not_writable = "Permission denied"};
  EXPECT_EQ(gist(diag_system::judge_folders({full, closed})),
            "no SYSTEM-DISK-FULL SYSTEM-FOLDER-UNWRITABLE");
  EXPECT_EQ(gist(diag_system::judge_folders({})), "unknown");
}

TEST(system_disk, a_network_file_system_is_remarked) {
  const diag_system::folder far{
      .role = "cache", .path = "/home/x/.cache", .free = 20 * gib, .network = true};
  const auto answer = diag_system::judge_folders({far});
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_SAYS(answer, "network file system");
}

TEST(system_disk, a_tree_says_how_its_folders_are_mounted) {
  const tree machine;
  machine.file("/environment", "HOME=/home/x\n");
  machine.folder("/home/x");
  machine.folder("/tmp");
  machine.file("/proc/mounts", "/dev/sda1 / ext4 rw,relatime 0 0\n");
  EXPECT_EQ(gist(diag_system::look_at_disk(machine.site())), "unknown");
  machine.file("/proc/mounts",
               "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 ro,vers=4.2 0 0\n");
  const auto answer = diag_system::look_at_disk(machine.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-FOLDER-UNWRITABLE");
  EXPECT_SAYS(answer, "home folder /home/x may not be written: it is mounted read-only");
  ASSERT_FALSE(answer.evidence.empty());
  EXPECT_EQ(answer.evidence[0], "server:/home /home nfs4 ro,vers=4.2 0 0");
}

TEST(system_disk, a_file_in_the_place_of_a_folder) {
  const tree machine;
  machine.file("/environment", "HOME=/home/x\nMIOPEN_USER_DB_PATH=/data/db\n");
  machine.folder("/home/x");
  machine.file("/data/db", "x");
  const auto answer = diag_system::look_at_disk(machine.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-FOLDER-UNWRITABLE");
  EXPECT_SAYS(answer, "MIOPEN_USER_DB_PATH");
}

TEST(system_mounts, are_read_as_the_kernel_writes_them) {
  const auto mounts = probing::mounts_in(
      "/dev/sda1 / ext4 rw 0 0\nshm /dev/shm tmpfs rw,size=65536k,inode64 0 0\n"
      "//s/x /mnt/my\\040share cifs rw 0 0\ntmpfs /data tmpfs rw,size=2g 0 0\nbroken line\n"
      "tmpfs /half tmpfs rw,size=50% 0 0\n");
  ASSERT_EQ(mounts.size(), 5U);
  EXPECT_EQ(mounts[1].size().value_or(0), 64 * mib);
  EXPECT_EQ(mounts[3].size().value_or(0), 2 * gib);
  EXPECT_FALSE(mounts[4].size());
  EXPECT_EQ(mounts[2].point, "/mnt/my share");
  EXPECT_TRUE(mounts[2].is_network());
  EXPECT_EQ(probing::mount_of(mounts, "/data/x")->point, "/data");
  EXPECT_EQ(probing::mount_of(mounts, "/database")->point, "/");
  EXPECT_EQ(probing::mount_of({}, "/x"), nullptr);
}

// ------------------------------------------------------------------ system.shm

TEST(system_shm, a_containers_64_mebibytes_are_too_few) {
  const tree machine;
  // A mount is never in a copy of a machine's files.
  EXPECT_EQ(gist(diag_system::look_at_shared_memory(machine.site())), "unknown");
  machine.folder("/dev/shm");
  EXPECT_EQ(gist(diag_system::look_at_shared_memory(machine.site())), "unknown");
  machine.file("/proc/mounts", "shm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n");
  const auto answer = diag_system::look_at_shared_memory(machine.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-SHM-SMALL");
  EXPECT_SAYS(answer, "64 MiB");
  EXPECT_SAYS(answer, "--shm-size");
  machine.file("/proc/mounts", "tmpfs /dev/shm tmpfs rw,nosuid,size=8388608k 0 0\n");
  EXPECT_EQ(gist(diag_system::look_at_shared_memory(machine.site())), "yes");
}

// ------------------------------------------------------------------ system.memory

std::string meminfo(double available_gib) {
  return "MemTotal:       32768000 kB\nMemFree:          100000 kB\nMemAvailable:   " +
         std::to_string(static_cast<long long>(available_gib * 1024 * 1024)) + " kB\n";
}

TEST(system_memory, of_the_machine) {
  const tree machine;
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "unknown");
  machine.file("/proc/meminfo", meminfo(20));
  const auto answer = diag_system::look_at_memory(machine.site());
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_SAYS(answer, "20.0 GiB of 31.2 GiB memory available");
  machine.file("/proc/meminfo", meminfo(1.5));
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "no SYSTEM-OUT-OF-MEMORY");
}

TEST(system_memory, of_the_control_group_and_those_above_it) {
  const tree machine;
  machine.file("/proc/meminfo", meminfo(20));
  machine.file("/proc/self/cgroup", "0::/user.slice/job\n");
  machine.file("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "yes");
  machine.file("/sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
  machine.file("/sys/fs/cgroup/user.slice/memory.current", "3221225472\n");
  const auto answer = diag_system::look_at_memory(machine.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-OUT-OF-MEMORY");
  EXPECT_SAYS(answer, "this control group may use 4.0 GiB, of which 1.0 GiB are left");
  // Cached files would make room.
  machine.file("/sys/fs/cgroup/user.slice/memory.stat", "anon 1\ninactive_file 2147483648\n");
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "yes");
}

TEST(system_memory, of_a_control_group_of_version_one) {
  const tree machine;
  machine.file("/proc/meminfo", meminfo(20));
  machine.file("/proc/self/cgroup", "5:memory:/docker/abc\n1:cpu:/docker/abc\n");
  // In a container the group's files stand at the top.
  machine.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  machine.file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "no SYSTEM-OUT-OF-MEMORY");
  machine.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(gist(diag_system::look_at_memory(machine.site())), "yes");
}

// ------------------------------------------------------------------ system.selinux

TEST(system_selinux, what_it_refused) {
  const tree machine;
  EXPECT_SAYS(diag_system::look_at_selinux(machine.site()), "not active");
  machine.file("/sys/fs/selinux/enforce", "0");
  EXPECT_SAYS(diag_system::look_at_selinux(machine.site()), "permissive");
  machine.file("/sys/fs/selinux/enforce", "1");
  EXPECT_EQ(gist(diag_system::look_at_selinux(machine.site())), "unknown");
  machine.file("/var/log/audit/audit.log",
               "type=AVC msg=audit(1:2): avc:  denied  { read } for pid=1 comm=\"httpd\"\n");
  EXPECT_EQ(gist(diag_system::look_at_selinux(machine.site())), "yes");
  machine.file("/var/log/audit/audit.log",
               "type=AVC msg=audit(1:3): avc:  denied  { read write } for pid=7 comm=\"python3\" "
               "name=\"kfd\" dev=\"devtmpfs\" scontext=x tcontext=y tclass=chr_file\n");
  const auto answer = diag_system::look_at_selinux(machine.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-SELINUX");
  EXPECT_EQ(answer.evidence.size(), 1U);
}

TEST(system_selinux, apparmor_is_no_selinux) {
  const tree machine;
  machine.file("/proc/self/attr/current", "docker-default (enforce)\n");
  EXPECT_SAYS(diag_system::look_at_selinux(machine.site()), "not active");
  machine.file("/proc/self/attr/current", "system_u:system_r:container_t:s0:c1,c2");
  EXPECT_SAYS(diag_system::look_at_selinux(machine.site()), "container_t");
}

}  // namespace
