// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "common/platform.hpp"
#include "common/probing.hpp"
#include "platform.hpp"
#include "targets.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view amd_vendor = "0x1002";
constexpr std::string_view topology = "/sys/class/kfd/kfd/topology/nodes";

using properties = std::map<std::string, std::uint64_t, std::less<>>;

/// "name value" a line; what is no number is skipped, as unknown names are.
properties parse_properties(std::string_view text) {
  properties found;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (const auto value = words.size() == 2 ? number(words[1]) : std::nullopt) {
      found.emplace(words[0], *value);
    }
  }
  return found;
}

std::uint64_t value_of(const properties& from, std::string_view name) {
  const auto at = from.find(name);
  return at == from.end() ? 0 : at->second;
}

std::uint64_t video_memory(const fs::path& node) {
  std::uint64_t bytes = 0;
  for (const std::string& bank : names_in(node / "mem_banks")) {
    const properties p = parse_properties(read_file(node / "mem_banks" / bank / "properties").text);
    const std::uint64_t heap = value_of(p, "heap_type");
    if (heap == 1 || heap == 2) {  // the frame buffer, visible to the processor or not
      bytes += value_of(p, "size_in_bytes");
    }
  }
  return bytes;
}

std::string pci_address(const properties& p) {
  const std::uint64_t location = value_of(p, "location_id");
  return hex(value_of(p, "domain"), 4) + ":" + hex(location >> 8U & 0xffU, 2) + ":" +
         hex(location >> 3U & 0x1fU, 2) + "." + hex(location & 7U);
}

/// The name on the box, from the table that comes with libdrm: "73EF,\tC1,\tAMD Radeon ...".
std::string marketing_name(const assay::probe_site& site, std::string_view device,
                           std::string_view revision) {
  const auto bare = [](std::string_view id) {
    return lower(id.substr(0, 2) == "0x" ? id.substr(2) : id);
  };
  std::vector<fs::path> tables = {site.at("/usr/share/libdrm/amdgpu.ids"),
                                  site.at("/opt/amdgpu/share/libdrm/amdgpu.ids")};
  if (!site.torch_dir.empty()) {
    tables.push_back(site.torch_dir / "share/libdrm/amdgpu.ids");
  }
  for (const fs::path& table : tables) {
    const file_text read = read_file(table);
    for (const std::string_view line : lines_of(read.text)) {
      const auto fields = split(line, ',');
      if (fields.size() >= 3 && lower(fields[0]) == bare(device) &&
          lower(fields[1]) == bare(revision)) {
        return std::string(fields[2]);
      }
    }
  }
  return {};
}

std::string driver_of(const fs::path& device) {
  const file_text read = read_file(device / "uevent");
  constexpr std::string_view key = "DRIVER=";
  for (const std::string_view line : lines_of(read.text)) {
    if (line.substr(0, key.size()) == key) {
      return std::string(trimmed(line.substr(key.size())));
    }
  }
  std::error_code error;
  return fs::read_symlink(device / "driver", error).filename().string();
}

gpu read_gpu(const assay::probe_site& site, const std::string& node, std::string_view text) {
  const properties p = parse_properties(text);
  gpu g;
  g.node = static_cast<int>(number(node).value_or(0));
  g.readable = true;
  if (const std::uint64_t version = value_of(p, "gfx_target_version"); version != 0) {
    g.architecture = target_name(static_cast<std::uint32_t>(version));
  }
  const target* const known = find_target(g.architecture);
  g.known = known != nullptr;
  // The old kind of APU node has the processor's cores and the GPU in one.
  g.integrated = value_of(p, "cpu_cores_count") > 0 || (known != nullptr && known->integrated);
  if (const std::uint64_t per_unit = value_of(p, "simd_per_cu"); per_unit != 0) {
    g.compute_units = static_cast<unsigned>(value_of(p, "simd_count") / per_unit);
  }
  g.render_minor = static_cast<int>(value_of(p, "drm_render_minor"));
  g.pci = pci_address(p);
  g.unique_id = value_of(p, "unique_id");
  const fs::path folder = site.at(topology) / node;
  g.vram = video_memory(folder);
  const fs::path drm = drm_folder(site, g.render_minor);
  if (g.vram == 0) {
    g.vram = number(read_line(drm / "mem_info_vram_total")).value_or(0);
  }
  g.name = marketing_name(site, "0x" + hex(value_of(p, "device_id")), read_line(drm / "revision"));
  return g;
}

void read_topology(const assay::probe_site& site, machine& found) {
  const fs::path nodes = site.at(topology);
  found.kfd = is_there(nodes);
  for (const std::string& node : names_in(nodes)) {
    const file_text id = read_file(nodes / node / "gpu_id");
    const auto gpu_id = number(trimmed(id.text));
    if (id.state == reading::absent || gpu_id == std::uint64_t{0}) {
      continue;  // a processor
    }
    const std::string where = std::string(topology) + "/" + node;
    const file_text read = read_file(nodes / node / "properties");
    if (!gpu_id || trimmed(read.text).empty()) {
      gpu refused;
      refused.node = static_cast<int>(number(node).value_or(0));
      found.gpus.push_back(refused);
      found.evidence.push_back(where + (gpu_id ? "/properties" : "/gpu_id") + ": " +
                               (read.state == reading::absent ? "absent" : "not readable"));
      continue;
    }
    found.gpus.push_back(read_gpu(site, node, read.text));
    for (const std::string_view line : lines_of(read.text)) {
      if (line.substr(0, line.find(' ')) == "gfx_target_version") {
        found.evidence.push_back(where + "/properties: " + std::string(trimmed(line)));
      }
    }
  }
}

void read_bus(const assay::probe_site& site, machine& found) {
  const fs::path devices = site.at("/sys/bus/pci/devices");
  found.bus_seen = is_there(devices);
  for (const std::string& address : names_in(devices)) {
    const fs::path folder = devices / address;
    if (lower(read_line(folder / "vendor")) != amd_vendor) {
      continue;
    }
    const std::string kind = lower(read_line(folder / "class"));
    const bool display = kind.substr(0, 4) == "0x03";
    const bool accelerator = kind.substr(0, 6) == "0x1200";
    if (!display && !accelerator) {
      continue;
    }
    pci_device device;
    device.address = address;
    device.device = read_line(folder / "device");
    device.driver = driver_of(folder);
    device.name = marketing_name(site, device.device, read_line(folder / "revision"));
    found.evidence.push_back("/sys/bus/pci/devices/" + address + ": 1002:" +
                             device.device.substr(std::min<std::size_t>(2, device.device.size())) +
                             ", driver " + (device.driver.empty() ? "none" : device.driver));
    found.pci.push_back(std::move(device));
  }
}

}  // namespace

system_kind system_of(const assay::probe_site& site) {
  if (site.is_this_machine() && probing::is_windows) {
    return system_kind::windows;
  }
  if (!site.is_this_machine() && !is_there(site.at("/proc")) &&
      is_there(site.at("/Windows/System32"))) {
    return system_kind::windows;
  }
  return probing::is_wsl(site) ? system_kind::wsl : system_kind::linux_os;
}

std::string machine::architectures() const {
  std::vector<std::string> each;
  for (const gpu& g : gpus) {
    if (!g.architecture.empty() &&
        std::find(each.begin(), each.end(), g.architecture) == each.end()) {
      each.push_back(g.architecture);
    }
  }
  return joined(each, ", ");
}

machine look_at(const assay::probe_site& site) {
  machine found;
  read_topology(site, found);
  read_bus(site, found);
  return found;
}

std::string why_unanswered(const assay::probe_site& site, const machine& found,
                           std::string otherwise) {
  // In Windows and WSL it would not be seen here.
  const bool none =
      found.bus_seen && !found.has_amd_gpu() && system_of(site) == system_kind::linux_os;
  return none ? "no AMD GPU is seen here" : otherwise;
}

std::string described(const gpu& g) {
  if (!g.readable) {
    return "the GPU of node " + std::to_string(g.node);
  }
  const std::string target = g.architecture.empty() ? "AMD GPU" : g.architecture;
  return g.name.empty() ? target : target + " (" + g.name + ")";
}

std::filesystem::path drm_folder(const assay::probe_site& site, int render_minor) {
  return site.at("/sys/class/drm/renderD" + std::to_string(render_minor) + "/device");
}

std::vector<std::string> kernel_options(const assay::probe_site& site) {
  std::vector<std::string> options;
  const std::string line = read_line(site.at("/proc/cmdline"));
  for (const std::string_view word : words_of(line)) {
    options.emplace_back(word);
  }
  return options;
}

std::vector<std::string> targets_of_torch(const assay::probe_site& site) {
  std::vector<std::string> targets;
  if (site.torch_dir.empty()) {
    return targets;
  }
  for (const std::string& file : names_in(site.torch_dir / "lib/rocblas/library")) {
    const std::size_t at = file.find("_gfx");
    const std::size_t end = file.find_first_of(".-_", at == std::string::npos ? 0 : at + 1);
    if (file.rfind("TensileLibrary", 0) == 0 && at != std::string::npos &&
        end != std::string::npos && file.substr(end) == ".dat") {
      targets.push_back(file.substr(at + 1, end - at - 1));
    }
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

}  // namespace diag_rocm
