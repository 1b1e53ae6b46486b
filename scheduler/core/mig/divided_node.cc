#include "scheduler/core/mig/divided_node.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/mig/mig_layout.h"
#include "scheduler/core/place/request.h"
#include "scheduler/model/machine/gpu_positions.h"

namespace muster::core {
namespace {

bool IsPartOf(const Gpu& part, const std::string& gpu) {
  return part.uuid == gpu || part.parent == gpu;
}

bool IsUsed(const NodeUse& taken, std::uint32_t gpu) {
  return gpu < taken.gpus.size() && !taken.gpus[gpu].zero();
}

Gpu InstanceOf(const MigGpu& gpu, const std::string& name, Bytes memory, std::uint32_t start) {
  Gpu instance = gpu.whole;
  instance.uuid = absl::StrCat("MIG-", gpu.whole.uuid, "-", start);
  instance.model = absl::StrCat(gpu.whole.model, " MIG ", name);
  instance.memory = memory;
  instance.instance = name;
  instance.parent = gpu.whole.uuid;
  instance.by_name = true;
  return instance;
}

Bytes MemoryOf(const MigGpu& gpu, const std::string& profile) {
  const auto found =
      std::find_if(gpu.profiles.begin(), gpu.profiles.end(),
                   [&profile](const MigProfile& other) { return other.name == profile; });
  return found == gpu.profiles.end() ? Bytes() : found->memory;
}

// The links between GPUs that stay, under their new positions.
void DropLinks(const std::vector<std::uint32_t>& gone, Machine& machine) {
  const auto is_gone = [&gone](std::uint32_t gpu) {
    return std::binary_search(gone.begin(), gone.end(), gpu);
  };
  const auto moved = [&gone](std::uint32_t gpu) {
    return gpu - static_cast<std::uint32_t>(std::lower_bound(gone.begin(), gone.end(), gpu) -
                                            gone.begin());
  };
  std::erase_if(machine.gpu_links,
                [&](const DeviceLink& link) { return is_gone(link.a) || is_gone(link.b); });
  std::erase_if(machine.nic_links, [&](const DeviceLink& link) { return is_gone(link.a); });
  for (DeviceLink& link : machine.gpu_links) {
    link.a = moved(link.a);
    link.b = moved(link.b);
  }
  for (DeviceLink& link : machine.nic_links) {
    link.a = moved(link.a);
  }
}

}  // namespace

std::vector<std::uint32_t> PositionsOf(const Machine& machine, const std::string& gpu) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
    if (IsPartOf(machine.gpus[i], gpu)) {
      positions.push_back(i);
    }
  }
  return positions;
}

bool IsGpuIdle(const Machine& machine, const NodeUse& taken, const GpuOccupants& occupants,
               const std::string& gpu) {
  const std::vector<std::uint32_t> positions = PositionsOf(machine, gpu);
  return std::none_of(positions.begin(), positions.end(), [&](std::uint32_t position) {
    return IsUsed(taken, position) || IsOccupied(occupants, position);
  });
}

bool CanKeepPositions(const Machine& machine, const NodeUse& taken, const std::string& gpu,
                      std::size_t instances) {
  const std::size_t after =
      machine.gpus.size() - PositionsOf(machine, gpu).size() + std::max<std::size_t>(instances, 1);
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
    if (i >= after && IsUsed(taken, i) && !IsPartOf(machine.gpus[i], gpu)) {
      return false;
    }
  }
  return true;
}

const MigGpu* FindMig(const Machine& machine, const std::string& gpu) {
  const auto found = std::find_if(machine.mig.begin(), machine.mig.end(),
                                  [&gpu](const MigGpu& mig) { return mig.whole.uuid == gpu; });
  return found == machine.mig.end() ? nullptr : &*found;
}

bool IsUnderWay(const std::vector<GpuLayout>& layouts, const Machine& machine, std::uint32_t gpu) {
  return std::any_of(layouts.begin(), layouts.end(), [&](const GpuLayout& layout) {
    return muster::IsUnderWay(layout) && IsPartOf(machine.gpus[gpu], layout.gpu);
  });
}

const MigProfile* ProfileFor(const MigGpu& gpu, const GpuRequest& kind) {
  const auto rank = [](const MigProfile& profile) {
    return std::tuple(profile.name.find_first_of("+-") != std::string::npos, profile.slices,
                      profile.memory, profile.id);
  };
  const MigProfile* best = nullptr;
  for (const MigProfile& profile : gpu.profiles) {
    const bool fits = !profile.placements.empty() &&
                      IsOfKind(InstanceOf(gpu, profile.name, profile.memory, 0), kind);
    if (fits && (best == nullptr || rank(profile) < rank(*best))) {
      best = &profile;
    }
  }
  return best;
}

bool IsWholeOfKind(const MigGpu& gpu, const GpuRequest& kind) {
  return IsOfKind(gpu.whole, kind);
}

bool IsLaidOut(const Machine& machine, const MigGpu& gpu,
               const std::vector<MigInstance>& instances) {
  std::vector<std::string> now;
  for (const std::uint32_t position : PositionsOf(machine, gpu.whole.uuid)) {
    now.push_back(machine.gpus[position].instance);
  }
  std::vector<std::string> then;
  for (const MigInstance& instance : instances) {
    then.push_back(instance.profile);
  }
  if (instances.empty()) {
    then.emplace_back();
  }
  return std::is_permutation(now.begin(), now.end(), then.begin(), then.end());
}

NodeSnapshot Divided(NodeSnapshot node, const MigGpu& gpu,
                     const std::vector<MigInstance>& instances) {
  Machine machine = *node.machine;
  const std::vector<std::string> before = GpuOrder(machine);
  DropLinks(PositionsOf(machine, gpu.whole.uuid), machine);
  std::erase_if(machine.gpus, [&gpu](const Gpu& part) { return IsPartOf(part, gpu.whole.uuid); });
  for (const MigInstance& instance : instances) {
    machine.gpus.push_back(InstanceOf(gpu, instance.profile, MemoryOf(gpu, instance.profile),
                                      instance.placement.start));
  }
  if (instances.empty()) {
    machine.gpus.push_back(gpu.whole);
  }
  KeepGpuPositions(before, machine);
  std::vector<GpuShare> taken(machine.gpus.size());
  for (std::size_t i = 0; i < std::min(taken.size(), node.taken.gpus.size()); ++i) {
    if (i < before.size() && machine.gpus[i].uuid == before[i] &&
        !IsPartOf(machine.gpus[i], gpu.whole.uuid)) {
      taken[i] = node.taken.gpus[i];
    }
  }
  node.taken.gpus = std::move(taken);
  node.machine = std::make_shared<const Machine>(std::move(machine));
  return node;
}

NodeSnapshot WithoutUsersOf(NodeSnapshot node, const std::string& gpu) {
  const std::vector<std::uint32_t> positions = PositionsOf(*node.machine, gpu);
  const auto is_user = [&positions](const Holding& holding) {
    return std::any_of(holding.gpus.begin(), holding.gpus.end(), [&](const GpuGrant& grant) {
      return std::binary_search(positions.begin(), positions.end(), grant.gpu);
    });
  };
  for (const Holding& holding : node.holdings) {
    if (!is_user(holding)) {
      continue;
    }
    node.taken.cpus -= holding.cpus;
    node.taken.memory -= std::min(holding.memory, node.taken.memory);
    for (const GpuGrant& grant : holding.gpus) {
      if (grant.gpu < node.taken.gpus.size()) {
        node.taken.gpus[grant.gpu] -= std::min(grant.share, node.taken.gpus[grant.gpu]);
      }
    }
  }
  std::erase_if(node.holdings, is_user);
  return node;
}

NodeSnapshot AsAskedFor(const NodeSnapshot& node, const ResourceRequest& request) {
  const GpuRequest& kind = GpuKind(request);
  NodeSnapshot divided = node;
  for (const MigGpu& gpu : node.machine->mig) {
    if (const MigProfile* const profile = ProfileFor(gpu, kind)) {
      const std::optional<std::vector<MigInstance>> instances =
          FindLayout(gpu.profiles, {{profile->name, profile->instances}}, {});
      divided = instances.has_value() ? Divided(std::move(divided), gpu, *instances) : divided;
    } else if (IsWholeOfKind(gpu, kind)) {
      divided = Divided(std::move(divided), gpu, {});
    }
  }
  return divided;
}

}  // namespace muster::core
