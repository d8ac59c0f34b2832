// SPDX-License-Identifier: Apache-2.0
// What LibTorch asks about the device, and what assay asks its backend library for.
#include "hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>

#include <cstdio>
#include <string>

#include "queue.h"

namespace assay_simulated {
const at::Generator& default_generator() {
  static const auto* leaked = new at::Generator(
      at::make_generator<at::CPUGeneratorImpl>(c10::detail::getNonDeterministicRandom()));
  return *leaked;
}
}  // namespace assay_simulated

namespace at {

using assay_simulated::device_count;

// LibTorch looks the hooks up under exactly this name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasCUDA() const override { return device_count() > 0; }
  bool hasROCM() const override { return true; }
  bool hasCuDNN() const override { return true; }
  bool compiledWithCuDNN() const override { return false; }
  bool compiledWithMIOpen() const override { return true; }
  long versionMIOpen() const override { return 3005001; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return device_count(); }
  int getNumGPUs() const override { return device_count(); }
  DeviceIndex current_device() const override { return assay_simulated::current_device(); }
  DeviceIndex getCurrentDevice() const override { return assay_simulated::current_device(); }
  void setCurrentDevice(DeviceIndex device) const override {
    assay_simulated::set_current_device(device);
  }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    const auto before = assay_simulated::current_device();
    assay_simulated::set_current_device(device);
    return before;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  void deviceSynchronize(DeviceIndex device) const override {
    assay_simulated::synchronize_device(device);
  }
  Device getDeviceFromPtr(void*) const override {
    return {kCUDA, assay_simulated::current_device()};
  }
  Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(kCPU); }
  const Generator& getDefaultGenerator(DeviceIndex) const override {
    return assay_simulated::default_generator();
  }
  Generator getNewGenerator(DeviceIndex) const override {
    return make_generator<CPUGeneratorImpl>();
  }
  std::string showConfig() const override { return "  - simulated ROCm device\n"; }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at

extern "C" {

// HIP's signature and its codes (hipSuccess, hipErrorInvalidDevice).
__attribute__((visibility("default"))) int hipDeviceGetName(char* name, int length, int device) {
  if (!name || length <= 0 || device < 0 || device >= assay_simulated::device_count()) return 101;
  std::snprintf(name, static_cast<size_t>(length), "simulated ROCm device");
  return 0;
}

// A small device, all of it free: what one allocation may take.
__attribute__((visibility("default"))) int hipMemGetInfo(size_t* free, size_t* total) {
  if (!free || !total) return 1;
  *free = *total = size_t{192} << 20;
  return 0;
}

// Whoever looks for an architecture in HIP's properties finds it by its text alone.
__attribute__((visibility("default"))) int hipGetDevicePropertiesR0600(void* properties,
                                                                       int device) {
  if (!properties || device < 0 || device >= assay_simulated::device_count()) return 101;
  constexpr size_t behind_the_name = 512;
  std::snprintf(static_cast<char*>(properties) + behind_the_name, 32, "gfx0000 (simulated)");
  return 0;
}
}
