// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "text.hpp"

namespace diag_rocm {

namespace {

constexpr std::string_view sidecar = ".node";

unsigned small_number(std::string_view text) {
  return static_cast<unsigned>(number(text).value_or(0));
}

/// The fields of the line of /etc/passwd or /etc/group whose third field is this number.
std::vector<std::string> entry_of(const assay::probe_site& site, const char* file, unsigned id) {
  const file_text read = read_file(site.at(file));
  for (const std::string_view line : lines_of(read.text)) {
    const auto fields = split(line, ':');
    if (fields.size() >= 4 && number(fields[2]) == std::uint64_t{id}) {
      return {fields.begin(), fields.end()};
    }
  }
  return {};
}

device_node parse_node(const std::string& path, std::string_view text) {
  device_node node;
  node.path = path;
  const auto words = words_of(text);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "mode") {
      std::from_chars(words[i + 1].data(), words[i + 1].data() + words[i + 1].size(),
                      node.owned.mode, 8);
    } else if (words[i] == "uid") {
      node.owned.user = small_number(words[i + 1]);
    } else if (words[i] == "gid") {
      node.owned.group = small_number(words[i + 1]);
    } else if (words[i] == "open") {
      node.refusal = words[i + 1];
    }
  }
  return node;
}

}  // namespace

std::optional<identity> identity_of(const assay::probe_site& site) {
  const file_text status = read_file(site.at("/proc/self/status"));
  identity who;
  bool found = false;
  for (const std::string_view line : lines_of(status.text)) {
    const auto words = words_of(line);
    if (words.size() >= 3 && (words[0] == "Uid:" || words[0] == "Gid:")) {
      // The second number is the effective one, by which the kernel decides.
      if (words[0] == "Uid:") {
        who.user = small_number(words[2]);
        found = true;
      } else {
        who.groups.push_back(small_number(words[2]));
      }
    } else if (!words.empty() && words[0] == "Groups:") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        who.groups.push_back(small_number(words[i]));
      }
    }
  }
  if (!found) {
    return std::nullopt;
  }
  const auto entry = entry_of(site, "/etc/passwd", who.user);
  who.user_name = entry.empty() ? "" : entry[0];
  return who;
}

std::string group_name(const assay::probe_site& site, unsigned group) {
  const auto entry = entry_of(site, "/etc/group", group);
  return entry.empty() ? "" : entry[0];
}

bool is_member(const assay::probe_site& site, const std::string& user, unsigned group) {
  if (user.empty()) {
    return false;
  }
  const auto entry = entry_of(site, "/etc/group", group);
  if (!entry.empty()) {
    const auto members = split(entry[3], ',');
    if (std::find(members.begin(), members.end(), user) != members.end()) {
      return true;
    }
  }
  const file_text users = read_file(site.at("/etc/passwd"));
  const auto lines = lines_of(users.text);
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    const auto fields = split(line, ':');
    return fields.size() >= 4 && fields[0] == user && number(fields[3]) == std::uint64_t{group};
  });
}

std::optional<device_node> find_node(const assay::probe_site& site, const std::string& path) {
  const file_text described = read_file(site.at(path + std::string(sidecar)));
  if (!site.is_this_machine() && described.state == reading::ok) {
    return parse_node(path, described.text);
  }
  const auto owned = platform::owner_of(site.at(path));
  if (!owned) {
    return std::nullopt;
  }
  device_node node{path, *owned, {}};
  if (site.is_this_machine()) {
    node.refusal = platform::try_to_open(site.at(path));
  }
  return node;
}

std::vector<std::string> nodes_in(const assay::probe_site& site, const std::string& folder,
                                  std::string_view prefix) {
  std::vector<std::string> paths;
  for (std::string name : names_in(site.at(folder))) {
    if (name.rfind(prefix, 0) != 0) {
      continue;
    }
    if (name.size() > sidecar.size() && !site.is_this_machine() &&
        std::string_view(name).substr(name.size() - sidecar.size()) == sidecar) {
      name.resize(name.size() - sidecar.size());
    }
    paths.push_back(folder + "/" + name);
  }
  return paths;
}

bool may_use(const platform::owner& owned, const identity& who) {
  constexpr unsigned read_write = 6;
  if (who.user == 0) {
    return true;
  }
  unsigned bits = owned.mode & 7U;
  if (owned.user == who.user) {
    bits = owned.mode >> 6U & 7U;
  } else if (std::find(who.groups.begin(), who.groups.end(), owned.group) != who.groups.end()) {
    bits = owned.mode >> 3U & 7U;
  }
  return (bits & read_write) == read_write;
}

std::string owner_text(const assay::probe_site& site, const platform::owner& owned) {
  const auto user = entry_of(site, "/etc/passwd", owned.user);
  const std::string group = group_name(site, owned.group);
  std::array<char, 16> mode{};
  const int length = std::snprintf(mode.data(), mode.size(), "%04o", owned.mode);
  return (user.empty() ? std::to_string(owned.user) : user[0]) + ":" +
         (group.empty() ? std::to_string(owned.group) : group) + " " +
         std::string(mode.data(), static_cast<std::size_t>(std::max(length, 0)));
}

}  // namespace diag_rocm
