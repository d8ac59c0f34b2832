// SPDX-License-Identifier: Apache-2.0
#include "container_marks.hpp"

#include <array>
#include <utility>

#include "text.hpp"

namespace diag_rocm {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> groups{{
    {"kubepods", "kubernetes"},
    {"docker", "docker"},
    {"libpod", "podman"},
    {"lxc", "lxc"},
    {"containerd", "containerd"},
    {"garden", "garden"},
    {"buildkit", "buildkit"},
}};

}  // namespace

std::optional<container_marks> container_of(const assay::probe_site& site,
                                            const environment& variables) {
  if (is_set(variables, "KUBERNETES_SERVICE_HOST")) {
    return container_marks{"kubernetes", "KUBERNETES_SERVICE_HOST is set"};
  }
  if (is_there(site.at("/run/secrets/kubernetes.io"))) {
    return container_marks{"kubernetes", "/run/secrets/kubernetes.io"};
  }
  if (is_there(site.at("/.dockerenv"))) {
    return container_marks{"docker", "/.dockerenv"};
  }
  if (is_there(site.at("/run/.containerenv"))) {
    return container_marks{"podman", "/run/.containerenv"};
  }
  for (const char* const file : {"/proc/1/cgroup", "/proc/self/cgroup"}) {
    const std::string text = read_file(site.at(file)).text;
    for (const std::string_view line : lines_of(text)) {
      for (const auto& [mark, kind] : groups) {
        // The path in the hierarchy; a host's own service is named in it as well, with ".service".
        if (line.find(mark) != std::string_view::npos &&
            line.find(".service") == std::string_view::npos) {
          return container_marks{std::string(kind), std::string(file) + ": " + std::string(line)};
        }
      }
    }
  }
  if (const std::string kind = read_line(site.at("/run/systemd/container")); !kind.empty()) {
    return container_marks{kind, "/run/systemd/container: " + kind};
  }
  const std::string named = value_of(variables, "container");
  if (!named.empty()) {
    return container_marks{named, "container=" + named};
  }
  return std::nullopt;
}

}  // namespace diag_rocm
