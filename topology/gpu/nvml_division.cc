#include "topology/gpu/nvml_division.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/machine_check.h"

namespace muster::topology {
namespace {

using nvml::Device;
using nvml::GpuInstance;
using nvml::kSuccess;
using nvml::MigCalls;
using nvml::Nvml;
using nvml::Result;

constexpr unsigned long long kMibPerGib = 1024;

// "1g.10gb" as NVML names it; with an older library by its numbers.
std::string NameOf(const MigCalls& calls, Device device, unsigned int index,
                   const nvml::GpuInstanceProfile& told) {
  nvml::GpuInstanceProfileV2 named{};
  named.version = nvml::kProfileVersion2;
  if (calls.profile_v2 != nullptr && calls.profile_v2(device, index, &named) == kSuccess) {
    named.name.back() = '\0';
    return std::string(absl::StripPrefix(named.name.data(), "MIG "));
  }
  return absl::StrCat(told.slices, "g.", (told.memory_mib + kMibPerGib - 1) / kMibPerGib, "gb");
}

std::vector<MigPlacement> PlacementsOf(const MigCalls& calls, Device device, unsigned int profile) {
  std::array<nvml::Placement, nvml::kInstancesMax> places{};
  auto count = static_cast<unsigned int>(places.size());
  std::vector<MigPlacement> placements;
  if (calls.placements(device, profile, places.data(), &count) == kSuccess) {
    for (std::size_t i = 0; i < count && i < places.size(); ++i) {
      placements.push_back({places.at(i).start, places.at(i).size});
    }
  }
  return placements;
}

// One GPU that is divided, from before to after.
class Division {
 public:
  Division(const Nvml& nvml, const MigCalls& calls, Device device, std::string index)
      : nvml_(nvml), calls_(calls), device_(device), index_(std::move(index)) {}

  absl::Status Make(const std::vector<MigInstance>& wanted) {
    RETURN_IF_ERROR(CheckUnused());
    const bool was_divided = nvml_.IsDivided(device_);
    ASSIGN_OR_RETURN(const std::vector<MigInstance> before, Instances());
    absl::Status made = Change(wanted);
    if (made.ok()) {
      return made;
    }
    const absl::Status back = Restore(was_divided, before);
    return back.ok()
               ? made
               : absl::InternalError(absl::StrCat(
                     std::string(made.message()),
                     "; and it could not be put back as it was: ", std::string(back.message())));
  }

 private:
  [[nodiscard]] absl::Status Failed(const std::string& what, Result result) const {
    return absl::InternalError(absl::StrCat(what, ": ", nvml_.Explain(result)));
  }

  // Of the whole GPU, and of all of its instances.
  [[nodiscard]] absl::Status CheckUnused() const {
    std::vector<Device> devices = {device_};
    unsigned int count = 0;
    if (nvml_.mig_count != nullptr && nvml_.mig_handle != nullptr && nvml_.IsDivided(device_) &&
        nvml_.mig_count(device_, &count) == kSuccess) {
      for (unsigned int i = 0; i < count; ++i) {
        Device instance = nullptr;
        if (nvml_.mig_handle(device_, i, &instance) == kSuccess) {
          devices.push_back(instance);
        }
      }
    }
    for (Device device : devices) {
      for (const auto list : {nvml_.processes.computing, nvml_.processes.drawing}) {
        std::array<nvml::ProcessInfo, nvml::kInstancesMax> found{};
        auto processes = static_cast<unsigned int>(found.size());
        if (list != nullptr && list(device, &processes, found.data()) == kSuccess &&
            processes > 0) {
          return absl::FailedPreconditionError(
              absl::StrCat("process ", found.front().pid, " uses it"));
        }
      }
    }
    return absl::OkStatus();
  }

  // Calls `act` for every GPU instance; the first error ends it.
  template <class Act>
  absl::Status ForEachInstance(Act act) const {
    if (!nvml_.IsDivided(device_)) {
      return absl::OkStatus();
    }
    for (unsigned int index = 0; index < nvml::kGpuInstanceProfiles; ++index) {
      nvml::GpuInstanceProfile profile{};
      if (calls_.profile(device_, index, &profile) != kSuccess) {
        continue;
      }
      std::array<GpuInstance, nvml::kInstancesMax> instances{};
      auto count = static_cast<unsigned int>(instances.size());
      if (const Result told = calls_.instances(device_, profile.id, instances.data(), &count);
          told != kSuccess) {
        return Failed("its instances cannot be listed", told);
      }
      for (std::size_t i = 0; i < count && i < instances.size(); ++i) {
        RETURN_IF_ERROR(act(instances.at(i)));
      }
    }
    return absl::OkStatus();
  }

  [[nodiscard]] absl::StatusOr<std::vector<MigInstance>> Instances() const {
    std::vector<MigInstance> instances;
    RETURN_IF_ERROR(ForEachInstance([&](GpuInstance instance) {
      nvml::GpuInstanceInfo info{};
      if (const Result told = calls_.info(instance, &info); told != kSuccess) {
        return Failed("an instance of it does not say where it lies", told);
      }
      instances.push_back({"", info.profile, {info.placement.start, info.placement.size}});
      return absl::OkStatus();
    }));
    return instances;
  }

  absl::Status Destroy(GpuInstance instance) const {
    for (unsigned int index = 0; index < nvml::kComputeInstanceProfiles; ++index) {
      nvml::ComputeInstanceProfile profile{};
      if (calls_.compute_profile(instance, index, nvml::kEngineProfileShared, &profile) !=
          kSuccess) {
        continue;
      }
      std::array<nvml::ComputeInstance, nvml::kInstancesMax> parts{};
      auto count = static_cast<unsigned int>(parts.size());
      if (calls_.compute_instances(instance, profile.id, parts.data(), &count) != kSuccess) {
        continue;
      }
      for (std::size_t i = 0; i < count && i < parts.size(); ++i) {
        if (const Result gone = calls_.destroy_compute(parts.at(i)); gone != kSuccess) {
          return Failed("a compute instance of it cannot be taken away", gone);
        }
      }
    }
    const Result gone = calls_.destroy(instance);
    return gone == kSuccess ? absl::OkStatus()
                            : Failed("an instance of it cannot be taken away", gone);
  }

  absl::Status Create(const MigInstance& wanted) const {
    const std::string what =
        absl::StrCat("an instance ", wanted.profile.empty() ? "of before" : wanted.profile,
                     " at slice ", wanted.placement.start, " cannot be made");
    const nvml::Placement place = {wanted.placement.start, wanted.placement.size};
    GpuInstance instance = nullptr;
    if (const Result made = calls_.create(device_, wanted.id, &place, &instance);
        made != kSuccess) {
      return Failed(what, made);
    }
    // The compute instance that has all of it.
    std::optional<nvml::ComputeInstanceProfile> whole;
    for (unsigned int index = 0; index < nvml::kComputeInstanceProfiles; ++index) {
      nvml::ComputeInstanceProfile profile{};
      const bool known =
          calls_.compute_profile(instance, index, nvml::kEngineProfileShared, &profile) == kSuccess;
      if (known && (!whole.has_value() || profile.slices > whole->slices)) {
        whole = profile;
      }
    }
    if (!whole.has_value()) {
      return absl::InternalError(absl::StrCat(what, ": it can have no compute instance"));
    }
    nvml::ComputeInstance part = nullptr;
    const Result made = calls_.create_compute(instance, whole->id, &part);
    return made == kSuccess ? absl::OkStatus() : Failed(what + " for computing", made);
  }

  // Turns MIG on or off. Some GPUs do so only when they are reset.
  absl::Status SetMode(bool on) const {
    if (nvml_.IsDivided(device_) == on) {
      return absl::OkStatus();
    }
    const std::string what = absl::StrCat("MIG cannot be turned ", on ? "on" : "off");
    Result activation = kSuccess;
    if (const Result set = calls_.set_mode(device_, on ? 1 : 0, &activation); set != kSuccess) {
      return Failed(what, set);
    }
    if (nvml_.IsDivided(device_) == on) {
      return absl::OkStatus();
    }
    Result ignored = kSuccess;
    calls_.set_mode(device_, on ? 0 : 1, &ignored);  // nothing stays pending
    return absl::FailedPreconditionError(
        absl::StrCat(what, " while the machine runs", activation == kSuccess ? "" : ": ",
                     activation == kSuccess ? "" : nvml_.Explain(activation),
                     "; drain the node, then nvidia-smi -i ", index_, " -mig ", on ? 1 : 0,
                     " and nvidia-smi -i ", index_,
                     " --gpu-reset, or start it again; after that Muster divides the GPU without"));
  }

  absl::Status Change(const std::vector<MigInstance>& wanted) const {
    RETURN_IF_ERROR(ForEachInstance([this](GpuInstance instance) { return Destroy(instance); }));
    RETURN_IF_ERROR(SetMode(!wanted.empty()));
    for (const MigInstance& instance : wanted) {
      RETURN_IF_ERROR(Create(instance));
    }
    return absl::OkStatus();
  }

  absl::Status Restore(bool was_divided, const std::vector<MigInstance>& before) const {
    RETURN_IF_ERROR(ForEachInstance([this](GpuInstance instance) { return Destroy(instance); }));
    RETURN_IF_ERROR(SetMode(was_divided));
    for (const MigInstance& instance : before) {
      RETURN_IF_ERROR(Create(instance));
    }
    return absl::OkStatus();
  }

  const Nvml& nvml_;
  const MigCalls& calls_;
  Device device_;
  std::string index_;
};

}  // namespace

std::vector<MigProfile> ReadMigProfiles(const Nvml& nvml, Device device) {
  std::vector<MigProfile> profiles;
  const MigCalls& calls = nvml.division;
  unsigned int current = 0;
  unsigned int pending = 0;
  if (!calls.tells() || nvml.mig == nullptr || nvml.mig(device, &current, &pending) != kSuccess) {
    return profiles;
  }
  for (unsigned int index = 0; index < nvml::kGpuInstanceProfiles; ++index) {
    nvml::GpuInstanceProfile told{};
    if (calls.profile(device, index, &told) != kSuccess) {
      continue;
    }
    MigProfile profile;
    profile.name = NameOf(calls, device, index, told);
    profile.id = told.id;
    profile.slices = told.slices;
    profile.instances = told.instances;
    profile.memory = kMebibyte * told.memory_mib;
    profile.placements = PlacementsOf(calls, device, told.id);
    if (!profile.placements.empty() && IsMigProfile(profile) && profiles.size() < kMigProfilesMax) {
      profiles.push_back(std::move(profile));
    }
  }
  return profiles;
}

absl::Status DivideNvidia(const std::string& library, const std::string& uuid,
                          const std::vector<MigInstance>& instances) {
  Nvml nvml(library);
  if (!nvml.loaded()) {
    return absl::NotFoundError(absl::StrCat(library, ": NVML does not load"));
  }
  unsigned int count = 0;
  std::string trouble = nvml.Start();
  if (trouble.empty()) {
    const Result counted = nvml.count(&count);
    trouble = counted == kSuccess ? "" : nvml.Explain(counted);
  }
  if (!trouble.empty()) {
    return absl::UnavailableError(absl::StrCat("NVML does not start: ", trouble));
  }
  const MigCalls& calls = nvml.division;
  if (!calls.divides()) {
    return absl::UnimplementedError("this driver's NVML cannot divide GPUs; use a newer driver");
  }
  for (unsigned int index = 0; index < count; ++index) {
    Device device = nullptr;
    std::array<char, 96> text{};
    if (nvml.handle(index, &device) == kSuccess &&
        nvml.uuid(device, text.data(), static_cast<unsigned int>(text.size())) == kSuccess &&
        uuid == text.data()) {
      return Division(nvml, calls, device, absl::StrCat(index)).Make(instances);
    }
  }
  return absl::NotFoundError(absl::StrCat("NVML lists no GPU ", uuid, " any more"));
}

}  // namespace muster::topology
