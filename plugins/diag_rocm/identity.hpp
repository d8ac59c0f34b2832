// SPDX-License-Identifier: Apache-2.0
//
// Users, groups and device nodes, as files say them: so that another tree can be asked as well.
#pragma once

#include <assay/diagnostics.hpp>

#include <optional>
#include <string>
#include <vector>

#include "platform.hpp"

namespace diag_rocm {

/// Who this process is, by /proc/self/status.
struct identity {
  unsigned user = 0;
  std::vector<unsigned> groups{};  // of the running process, the first one included
  std::string user_name{};
};

[[nodiscard]] std::optional<identity> identity_of(const assay::probe_site& site);

/// Name of a group; empty where /etc/group has none.
[[nodiscard]] std::string group_name(const assay::probe_site& site, unsigned group);

/// Whether /etc/group or /etc/passwd puts the user into the group, whatever this session has.
[[nodiscard]] bool is_member(const assay::probe_site& site, const std::string& user,
                             unsigned group);

/// A device node: of the machine itself, or described by a text file beside its place ("/dev/kfd"
/// by ROOT/dev/kfd.node: "mode 0660 uid 0 gid 109"; "open EPERM" for a refusal that no permission
/// shows), since a test tree can hold no devices.
struct device_node {
  std::string path{};  // on its machine
  platform::owner owned{};
  std::string refusal{};  // error when opened; empty: it opens, or was not tried
};

[[nodiscard]] std::optional<device_node> find_node(const assay::probe_site& site,
                                                   const std::string& path);

/// Paths of the nodes in a folder whose names begin so.
[[nodiscard]] std::vector<std::string> nodes_in(const assay::probe_site& site,
                                                const std::string& folder, std::string_view prefix);

/// Whether the permission bits let someone read and write.
[[nodiscard]] bool may_use(const platform::owner& owned, const identity& who);

/// "root:render 0660".
[[nodiscard]] std::string owner_text(const assay::probe_site& site, const platform::owner& owned);

}  // namespace diag_rocm
