// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "asked.hpp"
#include "container_marks.hpp"
#include "identity.hpp"
#include "probes.hpp"

namespace diag_rocm::testing {

namespace {

using assay::probe_state;

assay::probe_answer access_with(const std::string& lines) {
  const made_machine m("like rx6650xt\n" + lines);
  return m.ask(make_kfd_access());
}

TEST(access, is_refused_by_the_render_node_alone_too) {
  const auto answer = access_with("/dev/dri/renderD128.node = mode 0660 uid 0 gid 993\n");
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(says(answer, "/dev/dri/renderD128 (root:993 0660)")) << answer.fact;
  EXPECT_TRUE(says(answer, "group 993, which has no name here")) << answer.fact;
}

TEST(access, tells_a_mode_without_the_group_apart) {
  const auto answer = access_with("/dev/kfd.node = mode 0600 uid 0 gid 109\n");
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(says(answer, "lets no group in")) << answer.fact;
}

TEST(access, that_no_group_has_is_mended_by_udev_not_by_membership) {
  for (const char* const node : {"/dev/kfd.node = mode 0600 uid 0 gid 109\n",
                                 "/dev/dri/renderD128.node = mode 0600 uid 0 gid 0\n",
                                 "/dev/kfd.node = mode 0660 uid 0 gid 0\n"}) {
    const auto answer = access_with(node);
    const std::string steps = value_in(answer, "advice_instead");
    EXPECT_NE(steps.find("$ sudo udevadm trigger"), std::string::npos) << node << answer.fact;
    EXPECT_EQ(steps.find("usermod"), std::string::npos) << node;
  }
}

TEST(access, is_gained_by_joining_the_very_group) {
  const std::string group = "/dev/kfd.node = mode 0660 uid 0 gid 44\n";
  const std::string stranger =
      "/etc/group\n| root:x:0:\n| video:x:44:\n"
      "/proc/self/status\n| Uid: 1000 1000 1000 1000\n| Gid: 1000 1000 1000 1000\n| Groups: 1000\n";
  const std::string steps = value_in(access_with(group + stranger), "advice_instead");
  EXPECT_NE(steps.find("\n$ sudo usermod -aG video kim"), std::string::npos) << steps;
  EXPECT_EQ(value_in(access_with(group + stranger + "/.dockerenv\n"), "advice_instead"), "");
}

TEST(access, is_the_superusers_whatever_the_mode) {
  const auto answer = access_with(
      "/dev/kfd.node = mode 0600 uid 5 gid 5\n"
      "/proc/self/status\n| Uid: 0 0 0 0\n| Gid: 0 0 0 0\n| Groups:\n");
  EXPECT_EQ(answer.state, probe_state::yes);
}

TEST(access, of_a_lost_device_is_no_question_of_rights) {
  const auto answer = access_with("/dev/kfd.node = mode 0666 uid 0 gid 0 open EBUSY\n");
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_TRUE(finds(answer, "ROCM-KFD-BUSY"));
}

TEST(access, refused_in_spite_of_the_mode_is_a_list_of_devices) {
  const auto answer = access_with("/dev/kfd.node = mode 0666 uid 0 gid 0 open EPERM\n");
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(finds(answer, "ROCM-KFD-PERMISSION"));
  EXPECT_TRUE(says(answer, "EPERM in spite of its permissions")) << answer.fact;
}

TEST(access, to_what_is_not_there_is_not_refused) {
  const auto answer = access_with("remove /dev/kfd.node\n");
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_TRUE(answer.findings.empty());
}

TEST(access, leaves_other_makers_render_nodes_alone) {
  const made_machine m(
      "like linux\n"
      "/dev/kfd.node = mode 0666 uid 0 gid 0\n"
      "/sys/class/drm/renderD128/device/vendor = 0x8086\n"
      "/dev/dri/renderD128.node = mode 0600 uid 0 gid 0\n");
  EXPECT_EQ(m.ask(make_kfd_access()).state, probe_state::yes);
}

TEST(access, without_a_name_for_the_user_names_its_number) {
  const auto answer = access_with("remove /etc/passwd\n/dev/kfd.node = mode 0660 uid 0 gid 50\n");
  EXPECT_TRUE(says(answer, "user 1000 may not open /dev/kfd (0:50 0660)")) << answer.fact;
}

std::string kind_of(const std::string& lines, const environment& variables = {}) {
  const made_machine m(lines);
  const auto marks = container_of(m.site(), variables);
  return marks ? marks->kind : "none";
}

TEST(containers, are_known_by_their_marks) {
  EXPECT_EQ(kind_of("like linux\n"), "none");
  EXPECT_EQ(kind_of("/.dockerenv\n"), "docker");
  EXPECT_EQ(kind_of("/run/.containerenv\n"), "podman");
  EXPECT_EQ(kind_of("/run/systemd/container = systemd-nspawn\n"), "systemd-nspawn");
  EXPECT_EQ(kind_of("/proc/1/cgroup = 0::/kubepods.slice/kubepods-pod1.slice\n"), "kubernetes");
  EXPECT_EQ(kind_of("/proc/1/cgroup = 12:devices:/docker/0123456789ab\n"), "docker");
  EXPECT_EQ(kind_of("/proc/self/cgroup = 0::/system.slice/docker.service\n"), "none");
  EXPECT_EQ(kind_of("", {{"container", "lxc"}}), "lxc");
  EXPECT_EQ(kind_of("", {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}), "kubernetes");
}

TEST(container, without_devices_on_a_host_without_a_gpu_is_no_fault) {
  const made_machine m("like linux\n/.dockerenv\n");
  const auto answer = m.ask(make_container());
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_TRUE(answer.findings.empty());
}

TEST(container, with_kfd_but_no_render_node_lacks_one) {
  const made_machine m("like rx6650xt\n/.dockerenv\nremove /dev/dri\n");
  const auto answer = m.ask(make_container());
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(says(answer, "without /dev/dri/renderD*")) << answer.fact;
  EXPECT_TRUE(finds(answer, "ROCM-CONTAINER-DEVICES"));
}

TEST(container, cannot_get_what_the_host_lacks) {
  const made_machine m("like rx6650xt\n/.dockerenv\nremove /dev\nremove /sys/class/kfd\n");
  const auto answer = m.ask(make_container());
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(says(answer, "the host itself has no /dev/kfd")) << answer.fact;
  EXPECT_TRUE(answer.findings.empty());
  EXPECT_NE(value_in(answer, "advice_instead").find("$ sudo modprobe amdgpu"), std::string::npos);
}

TEST(container, without_the_device_is_one_finding) {
  const made_machine m("like container_no_devices\n");
  EXPECT_EQ(m.ask(make_kfd_present()).findings, m.ask(make_container()).findings);
}

TEST(membership, counts_the_first_group_of_a_user) {
  const made_machine m(
      "/etc/passwd\n| kim:x:1000:109::/home/kim:/bin/sh\n/etc/group\n| render:x:109:\n");
  EXPECT_TRUE(is_member(m.site(), "kim", 109));
  EXPECT_FALSE(is_member(m.site(), "kim", 44));
  EXPECT_FALSE(is_member(m.site(), "ki", 109));
}

}  // namespace

}  // namespace diag_rocm::testing
