#include "agent/node/discovered_features.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// Of Open MPI 4 and 5.
constexpr std::initializer_list<const char*> kLibraries = {"libopen-pal.so.40",
                                                           "libopen-pal.so.80"};

bool SaysGpuAware(const char* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return false;
  }
  const auto* const built = static_cast<const bool*>(dlsym(handle, "opal_built_with_cuda_support"));
  const bool says = built != nullptr && *built;
  dlclose(handle);
  return says;
}

bool HasNvLink(const Machine& machine) {
  return std::any_of(machine.gpu_links.begin(), machine.gpu_links.end(),
                     [](const DeviceLink& link) { return link.kind == LinkKind::kNvLink; });
}

// Bits of arm64's AT_HWCAP and AT_HWCAP2 (Linux, Documentation/arch/arm64/elf_hwcaps.rst).
struct ArmFeature {
  const char* name;
  bool second;
  unsigned int bit;
};
constexpr std::initializer_list<ArmFeature> kArmFeatures = {
    {"lse", false, 8},  {"dotprod", false, 20}, {"i8mm", true, 13}, {"bf16", true, 14},
    {"sve", false, 22}, {"sve2", true, 1},      {"sme", true, 23}};

[[maybe_unused]] std::vector<std::string> FeaturesOfThisArm() {
  constexpr int kLengthOfVectors = 51;  // PR_SVE_GET_VL, which other machines' headers lack
  constexpr int kLengthMask = 0xFFFF;   // bytes
  const int length = prctl(kLengthOfVectors);
  return ArmFeatures(getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
                     length < 0 ? 0 : (length & kLengthMask) * 8);
}

}  // namespace

std::vector<std::string> ArmFeatures(unsigned long hwcap, unsigned long hwcap2, int vector_bits) {
  std::vector<std::string> features;
  for (const ArmFeature& feature : kArmFeatures) {
    if ((((feature.second ? hwcap2 : hwcap) >> feature.bit) & 1U) != 0) {
      features.emplace_back(feature.name);
    }
  }
  if (vector_bits > 0) {
    features.push_back(absl::StrCat("sve-", vector_bits));
  }
  return features;
}

ProcessorFlags FlagsOfThisProcessor() {
  ProcessorFlags flags;
#if defined(__x86_64__)
  __builtin_cpu_init();
  flags.v2 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0 &&
             __builtin_cpu_supports("ssse3") != 0;
  flags.v3 = flags.v2 && __builtin_cpu_supports("avx2") != 0 &&
             __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
             __builtin_cpu_supports("fma") != 0;
  flags.v4 = flags.v3 && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#elif defined(__aarch64__)
  flags.arm = FeaturesOfThisArm();
#endif
  return flags;
}

bool HasGpuAwareMpi(const std::string& library) {
  if (!library.empty()) {
    return SaysGpuAware(library.c_str());
  }
  return std::any_of(kLibraries.begin(), kLibraries.end(), SaysGpuAware);
}

std::vector<std::string> DiscoveredFeatures(const Machine& machine, const ProcessorFlags& flags,
                                            const FoundPrograms& programs) {
  std::vector<std::string> features;
  const auto add = [&](bool has, const std::string& name) {
    if (has) {
      features.push_back(name);
    }
  };
  const auto add_services = [&] {
    add(programs.containers, "containers");
    add(programs.containers && !programs.machine.empty(), "containers-" + programs.machine);
    add(programs.staging, "staging");
  };
  if (!machine.enforced) {
    add_services();
    return features;
  }
  add(flags.v2, "x86-64-v2");
  add(flags.v3, "x86-64-v3");
  add(flags.v4, "x86-64-v4");
  features.insert(features.end(), flags.arm.begin(), flags.arm.end());
  add(HasNvLink(machine), "nvlink");
  add(std::any_of(machine.nics.begin(), machine.nics.end(),
                  [](const Nic& nic) { return nic.fabric; }),
      "rdma");
  add(programs.gpu_aware_mpi, "gpu-aware-mpi");
  add(programs.criu, "criu");
  add_services();
  return features;
}

std::vector<std::string> AllFeatures(std::vector<std::string> configured,
                                     const std::vector<std::string>& discovered) {
  for (const std::string& feature : discovered) {
    if (std::find(configured.begin(), configured.end(), feature) == configured.end()) {
      configured.push_back(feature);
    }
  }
  return configured;
}

}  // namespace muster::agent
