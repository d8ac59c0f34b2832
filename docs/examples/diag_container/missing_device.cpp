// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

#include <algorithm>
#include <string_view>

namespace container {
namespace {

/// "/dev/dri/renderD129" of a line that names it behind `introduction`, in quotes or not.
std::string device_behind(std::string_view line, std::string_view introduction) {
  const auto at = line.find(introduction);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto begin = line.find("/dev/", at);
  if (begin == std::string_view::npos) {
    return {};
  }
  return std::string(line.substr(begin, line.find_first_of("\"': ", begin) - begin));
}

std::string advice_for(const std::string& device) {
  if (device.rfind("/dev/dri", 0) == 0) {
    return "The numbers of render nodes change; hand in the folder as a whole:\n"
           "$ docker run --device=/dev/dri IMAGE";
  }
  if (device.rfind("/dev/nvidia", 0) == 0) {
    return "On the host, load NVIDIA's driver, and let the toolkit choose the nodes:\n"
           "$ sudo nvidia-modprobe -c 0 -u && ls -l /dev/nvidia*\n"
           "$ docker run --gpus all IMAGE nvidia-smi";
  }
  return {};
}

class missing_device final : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "container.missing_device"; }
  [[nodiscard]] std::string summary() const override {
    return "names the device that a container was to get and that its host lacks";
  }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override {
    for (const std::string_view text : {f.error_text, f.stderr_text, f.stdout_text, f.log}) {
      for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.find("no such file or directory") == std::string_view::npos) {
          continue;
        }
        for (const std::string_view introduction :
             {"while adding custom device", "Error: stat", "failed to stat CDI host device"}) {
          const std::string device = device_behind(line, introduction);
          // assay's own rules know what these two mean.
          const bool known = device == "/dev/kfd" || device == "/dev/dri";
          if (!device.empty() && !known) {
            return {{"CONTAINER-DEVICE-MISSING",
                     device + " is not there on the container's host.",
                     advice_for(device),
                     "likely",
                     {std::string(line)}}};
          }
        }
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<assay::classifier> make_missing_device() {
  return std::make_unique<missing_device>();
}

}  // namespace container
