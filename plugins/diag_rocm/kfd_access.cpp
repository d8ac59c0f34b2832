// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container_marks.hpp"
#include "identity.hpp"
#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

/// Render nodes of AMD GPUs: a machine has those of other makers too.
std::vector<std::string> render_nodes(const probe_site& site, const machine& found) {
  std::vector<std::string> paths;
  for (const gpu& g : found.gpus) {
    if (g.readable) {
      paths.push_back("/dev/dri/renderD" + std::to_string(g.render_minor));
    }
  }
  if (paths.empty()) {
    for (std::string& path : nodes_in(site, "/dev/dri", "renderD")) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (lower(read_line(site.at("/sys/class/drm/" + name + "/device/vendor"))) == "0x1002") {
        paths.push_back(std::move(path));
      }
    }
  }
  return paths;
}

std::string name_of(const identity& who) {
  return who.user_name.empty() ? "user " + std::to_string(who.user) : who.user_name;
}

/// Membership in a group is of no use where the group has no right.
std::string advice_on_mode(bool in_container) {
  const std::string steps =
      "Let udev set the owner and mode of the nodes anew; if they stay as they are, its rule is "
      "missing: AMD's driver package brings one (install it again), or write it:\n"
      "$ sudo udevadm trigger --subsystem-match=kfd --subsystem-match=drm && ls -l /dev/kfd "
      "/dev/dri/renderD*\n"
      "$ printf '%s\\n' 'SUBSYSTEM==\"kfd\", KERNEL==\"kfd\", GROUP=\"render\", MODE=\"0660\"' "
      "'SUBSYSTEM==\"drm\", KERNEL==\"renderD*\", GROUP=\"render\", MODE=\"0660\"' | sudo tee "
      "/etc/udev/rules.d/70-amdgpu.rules\n"
      "$ sudo udevadm control --reload-rules && sudo udevadm trigger --subsystem-match=kfd "
      "--subsystem-match=drm";
  return in_container
             ? "The container's nodes have the owner and mode of the host's. On the host: " + steps
             : steps;
}

class kfd_access final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.kfd_access"; }
  [[nodiscard]] std::string summary() const override {
    return "may this process open /dev/kfd and the render nodes?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (system_of(site) != system_kind::linux_os) {
      answer.fact = "there is no /dev/kfd in Windows and WSL";
      return answer;
    }
    const machine found = look_at(site);
    std::vector<std::string> paths = {"/dev/kfd"};
    for (std::string& path : render_nodes(site, found)) {
      paths.push_back(std::move(path));
    }
    const auto who = identity_of(site);
    std::vector<std::string> missing;
    std::vector<std::string> opened;
    for (const std::string& path : paths) {
      const auto node = find_node(site, path);
      if (!node) {
        missing.push_back(path);
        continue;
      }
      answer.evidence.push_back(path + ": " + owner_text(site, node->owned) +
                                (node->refusal.empty() ? "" : ", open: " + node->refusal));
      const bool refused_by_bits = !site.is_this_machine() && who && !may_use(node->owned, *who);
      if (node->refusal.empty() && !refused_by_bits) {
        opened.push_back(path);
      } else if (answer.findings.empty()) {
        refused(site, *node, who, answer);
      }
    }
    if (!answer.findings.empty()) {
      return answer;
    }
    if (!missing.empty()) {
      // Not "no": nothing was refused, and what is missing is the matter of other probes.
      answer.fact =
          why_unanswered(site, found, "there is no " + joined(missing, ", ") + " to open");
      return answer;
    }
    if (!who && !site.is_this_machine()) {
      answer.fact = "who would open the devices is not known: there is no /proc/self/status";
      return answer;
    }
    answer.state = probe_state::yes;
    const std::size_t renders = opened.size() - 1;
    answer.fact = "/dev/kfd" +
                  (renders == 0 ? " is" : " and " + counted(renders, "render node") + " are") +
                  " open to " + (who ? name_of(*who) : "this process");
    return answer;
  }

 private:
  static void refused(const probe_site& site, const device_node& node,
                      const std::optional<identity>& who, probe_answer& answer) {
    const std::string user = who ? name_of(*who) : "this process";
    if (!node.refusal.empty() && node.refusal != "EACCES" && node.refusal != "EPERM") {
      answer.fact = node.path + " is there but does not open (" + node.refusal +
                    "): the GPU is lost or held; a reboot brings it back";
      answer.findings.emplace_back("ROCM-KFD-BUSY");
      return;
    }
    answer.state = probe_state::no;
    const bool by_bits = who && !may_use(node.owned, *who);
    const std::string seen =
        user + " may not open " + node.path + " (" + owner_text(site, node.owned) + ")";
    if (!by_bits) {
      const auto marks = container_of(site, {});
      answer.fact = seen + ": " + (node.refusal.empty() ? "refused" : node.refusal) +
                    " in spite of its permissions, by " +
                    (marks ? "the " + marks->kind + " container's list of devices"
                           : "a device list (cgroup) or SELinux");
      answer.findings.emplace_back(marks ? "ROCM-CONTAINER-DEVICES" : "ROCM-KFD-PERMISSION");
      return;
    }
    const std::string name = group_name(site, node.owned.group);
    const std::string group = name.empty() ? std::to_string(node.owned.group) : name;
    constexpr unsigned group_read_write = 060;
    // To join the group root would be to give away the machine.
    const bool roots = node.owned.group == 0;
    if (roots || (node.owned.mode & group_read_write) != group_read_write) {
      answer.fact = seen +
                    (roots ? ": it belongs to no group of users" : ": its mode lets no group in") +
                    ", as udev's rule should see to";
      answer.findings.emplace_back("ROCM-KFD-PERMISSION");
      answer.values.emplace_back("advice_instead",
                                 advice_on_mode(container_of(site, {}).has_value()));
    } else if (is_member(site, who->user_name, node.owned.group)) {
      answer.fact = seen + ": " + user + " is in /etc/group's group " + group +
                    " but not yet in this session: log in again";
      answer.findings.emplace_back("ROCM-GROUP-RELOGIN");
    } else {
      answer.fact = seen + ": " + user + " is not in group " + group +
                    (name.empty() ? ", which has no name here" : "");
      answer.findings.emplace_back("ROCM-KFD-PERMISSION");
      if (!name.empty() && !who->user_name.empty() && !container_of(site, {})) {
        answer.values.emplace_back("advice_instead",
                                   "Join the group that owns the node, then log "
                                   "out and in:\n$ sudo usermod -aG " +
                                       name + " " + who->user_name);
      }
    }
    answer.values.emplace_back("group", group);
  }
};

}  // namespace

std::unique_ptr<assay::probe> make_kfd_access() { return std::make_unique<kfd_access>(); }

}  // namespace diag_rocm
