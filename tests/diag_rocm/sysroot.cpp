// SPDX-License-Identifier: Apache-2.0
#include "sysroot.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "text.hpp"

namespace diag_rocm::testing {

namespace {

namespace fs = std::filesystem;

class maker {
 public:
  maker(fs::path descriptions, fs::path folder)
      : descriptions_(std::move(descriptions)), folder_(std::move(folder)) {}

  void run(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      if (line.substr(0, 2) == "| ") {
        append(line.substr(2));
      } else if (const auto words = words_of(line); !words.empty() && words[0][0] != '#') {
        command(words, line);
      }
    }
  }

 private:
  using values = std::map<std::string, std::string, std::less<>>;

  void command(const std::vector<std::string_view>& words, std::string_view line) {
    const std::string_view first = words[0];
    if (first == "like" && words.size() == 2) {
      const file_text read = read_file(descriptions_ / (std::string(words[1]) + ".tree"));
      if (read.state != reading::ok) {
        throw std::runtime_error("no description: " + std::string(line));
      }
      run(read.text);
    } else if (first == "remove" && words.size() == 2) {
      fs::remove_all(place(words[1]));
    } else if (first == "cpu" || first == "gpu") {
      values given;
      for (std::size_t i = 2; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        given.insert_or_assign(std::string(words[i].substr(0, equals)),
                               std::string(words[i].substr(equals + 1)));
      }
      first == "cpu" ? cpu(std::string(words.at(1)), given) : gpu(std::string(words.at(1)), given);
    } else if (first[0] == '/' && words.size() > 2 && words[1] == "->") {
      fs::create_directories(place(first).parent_path());
      fs::create_symlink(std::string(words[2]), place(first));
    } else if (first[0] == '/' && words.size() > 1 && words[1] == "=") {
      write(first, std::string(trimmed(line.substr(line.find('=') + 1))) + "\n");
    } else if (first[0] == '/' && words.size() == 1 && first.back() == '/') {
      fs::create_directories(place(first));
    } else if (first[0] == '/' && words.size() == 1) {
      write(first, "");
    } else {
      throw std::runtime_error("not understood: " + std::string(line));
    }
  }

  [[nodiscard]] fs::path place(std::string_view path) const {
    return folder_ / fs::path(path).relative_path();
  }

  void write(std::string_view path, const std::string& text) {
    last_ = place(path);
    fs::create_directories(last_.parent_path());
    std::ofstream(last_, std::ios::binary) << text;
  }

  void append(std::string_view line) const {
    std::ofstream(last_, std::ios::binary | std::ios::app) << line << "\n";
  }

  void cpu(const std::string& node, const values& given) {
    const std::string folder = "/sys/class/kfd/kfd/topology/nodes/" + node;
    write(folder + "/gpu_id", "0\n");
    write(folder + "/properties", "cpu_cores_count " + get(given, "cores", "12") +
                                      "\nsimd_count 0\nmem_banks_count 1\ngfx_target_version 0\n"
                                      "drm_render_minor 0\n");
    write(folder + "/mem_banks/0/properties",
          "heap_type 0\nsize_in_bytes 33554432000\nflags 0\nwidth 64\nmem_clk_max 3200\n");
  }

  /// One GPU as KFD, DRM and the PCI bus show it.
  void gpu(const std::string& node, const values& given) {
    const std::string pci = get(given, "pci", "0000:03:00.0");
    const std::string driver = get(given, "driver", "amdgpu");
    const std::string device = get(given, "device", "0x73ef");
    const std::string minor = get(given, "minor", "128");
    for (const std::string& folder :
         {"/sys/bus/pci/devices/" + pci, "/sys/class/drm/renderD" + minor + "/device"}) {
      if (driver != "amdgpu" && folder.find("/drm/") != std::string::npos) {
        continue;
      }
      write(folder + "/vendor", "0x1002\n");
      write(folder + "/device", device + "\n");
      write(folder + "/revision", get(given, "revision", "0xc1") + "\n");
      write(folder + "/class", get(given, "class", "0x030000") + "\n");
      write(folder + "/uevent", (driver == "none" ? "" : "DRIVER=" + driver + "\n") +
                                    "PCI_ID=1002:" + device.substr(2) + "\nPCI_SLOT_NAME=" + pci +
                                    "\n");
      if (driver == "amdgpu") {
        const std::string vram = get(given, "vram", "8573157376");
        write(folder + "/mem_info_vram_total", vram + "\n");
        write(folder + "/mem_info_vis_vram_total", get(given, "visible", vram) + "\n");
        write(folder + "/mem_info_vram_used", get(given, "used", "23068672") + "\n");
        write(folder + "/mem_info_gtt_total", get(given, "gtt", "16777216000") + "\n");
      }
    }
    if (const std::string type = get(given, "iommu", ""); !type.empty()) {
      write("/sys/bus/pci/devices/" + pci + "/iommu_group/type", type + "\n");
    }
    if (node != "none") {
      topology_node(node, device, minor, pci, given);
    }
  }

  void topology_node(const std::string& node, const std::string& device, const std::string& minor,
                     const std::string& pci, const values& given) {
    const auto hexadecimal = [&](std::size_t at, std::size_t length) {
      return number("0x" + pci.substr(at, length)).value_or(0);
    };
    const std::uint64_t location =
        hexadecimal(5, 2) << 8U | hexadecimal(8, 2) << 3U | hexadecimal(11, 1);
    const std::string folder = "/sys/class/kfd/kfd/topology/nodes/" + node;
    std::ostringstream text;
    text << "cpu_cores_count " << get(given, "cores", "0") << "\nsimd_count "
         << get(given, "simd", "64") << "\nmem_banks_count 1\nwave_front_size 32\nsimd_per_cu "
         << get(given, "per_cu", "2");
    if (const std::string version = get(given, "gfx", "100302"); version != "none") {
      text << "\ngfx_target_version " << version;
    }
    text << "\nvendor_id 4098\ndevice_id " << number(device).value_or(0) << "\nlocation_id "
         << location << "\ndomain " << hexadecimal(0, 4) << "\ndrm_render_minor " << minor
         << "\nunique_id " << number(get(given, "unique", "0x0")).value_or(0)
         << "\nlocal_mem_size 0\na_property_of_tomorrow 7\n";
    write(folder + "/gpu_id", "40000\n");
    write(folder + "/properties", text.str());
    write(folder + "/mem_banks/0/properties",
          "heap_type " + get(given, "heap", "1") + "\nsize_in_bytes " +
              get(given, "vram", "8573157376") + "\nflags 0\nwidth 128\nmem_clk_max 1100\n");
  }

  static std::string get(const values& given, std::string_view name, const std::string& otherwise) {
    const auto at = given.find(name);
    return at == given.end() ? otherwise : at->second;
  }

  fs::path descriptions_, folder_, last_{};
};

}  // namespace

void make_sysroot(std::string_view lines, const fs::path& descriptions, const fs::path& folder) {
  fs::create_directories(folder);
  maker(descriptions, folder).run(lines);
}

void make_sysroot(const fs::path& description, const fs::path& folder) {
  const file_text read = read_file(description);
  if (read.state != reading::ok) {
    throw std::runtime_error("cannot read " + description.string());
  }
  make_sysroot(read.text, description.parent_path(), folder);
}

}  // namespace diag_rocm::testing
