#include "topology/captured/slice.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/machine_check.h"

namespace muster::topology {
namespace {

// What is dealt out: a core, or one thread of it.
struct Unit {
  std::uint32_t core = 0;  // position in the machine
  CpuSet cpus;
};

// floor(amount * part / whole) for part <= whole < 2^17, without overflow.
std::uint64_t Portion(std::uint64_t amount, std::uint64_t part, std::uint64_t whole) {
  return amount / whole * part + amount % whole * part / whole;
}

std::vector<Unit> UnitsOf(const Machine& machine, std::uint32_t count) {
  std::vector<std::uint32_t> order(machine.cores.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto place = [&machine](std::uint32_t i) {
    const Core& core = machine.cores[i];
    return std::tuple{core.package, core.numa, core.l3, core.cpus.First()};
  };
  std::sort(order.begin(), order.end(),
            [&place](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  std::vector<Unit> units;
  for (const std::uint32_t i : order) {
    if (machine.cores.size() >= count) {
      units.push_back({i, machine.cores[i].cpus});
      continue;
    }
    for (const std::uint32_t thread : machine.cores[i].cpus.Members()) {
      units.push_back({i, CpuSet::Of({thread})});
    }
  }
  return units;
}

// A machine's things and which of them stay: hands out new positions.
class Kept {
 public:
  explicit Kept(std::size_t size) : kept_(size, false) {}
  void Keep(std::uint32_t position) {
    if (position != kNowhere) {
      kept_[position] = true;
    }
  }
  [[nodiscard]] bool Has(std::uint32_t position) const {
    return position != kNowhere && kept_[position];
  }
  // The position among those kept; kNowhere for what is not.
  [[nodiscard]] std::uint32_t Renumber(std::uint32_t position) const {
    return Has(position) ? static_cast<std::uint32_t>(
                               std::count(kept_.begin(), kept_.begin() + position, true))
                         : kNowhere;
  }

 private:
  std::vector<bool> kept_;
};

class Slicer {
 public:
  Slicer(const Machine& machine, std::uint32_t index, std::uint32_t count)
      : machine_(machine), units_(UnitsOf(machine, count)), count_(count) {
    begin_ = Boundary(index);
    end_ = Boundary(index + std::uint64_t{1});
  }

  Machine Cut() {
    CopyWords();
    TakeCores();
    TakeGpus();
    TakeNics();
    TakeLinks();
    TakeNumaNodes();
    TakeCachesAndPackages();
    return std::move(slice_);
  }

 private:
  [[nodiscard]] std::uint64_t Boundary(std::uint64_t slice) const {
    return slice * units_.size() / count_;
  }
  [[nodiscard]] bool Mine(std::uint64_t unit) const { return unit >= begin_ && unit < end_; }

  void CopyWords() {
    slice_.source = machine_.source;
    slice_.enforced = machine_.enforced;
    slice_.mps = machine_.mps;
    slice_.why_not_enforced = machine_.why_not_enforced;
    slice_.remarks = machine_.remarks;
    if (machine_.cores.size() < count_) {
      slice_.remarks.push_back(absl::StrCat("nodes share a core: ", machine_.cores.size(),
                                            " cores are divided among ", count_,
                                            " nodes by hardware threads"));
    }
  }

  void TakeCores() {
    std::uint32_t last = kNowhere;
    for (std::uint64_t u = begin_; u < end_; ++u) {
      const Unit& unit = units_[u];
      if (unit.core != last) {
        slice_.cores.push_back(machine_.cores[unit.core]);
        slice_.cores.back().cpus = CpuSet();
        last = unit.core;
      }
      slice_.cores.back().cpus |= unit.cpus;
    }
    std::sort(slice_.cores.begin(), slice_.cores.end(),
              [](const Core& a, const Core& b) { return a.cpus.First() < b.cpus.First(); });
  }

  // The units whose core is on the NUMA node at `numa`; all units when there are none.
  [[nodiscard]] std::vector<std::uint64_t> UnitsNear(std::uint32_t numa) const {
    std::vector<std::uint64_t> near;
    for (std::uint64_t u = 0; u < units_.size(); ++u) {
      if (numa != kNowhere && machine_.cores[units_[u].core].numa == numa) {
        near.push_back(u);
      }
    }
    if (near.empty()) {
      near.resize(units_.size());
      std::iota(near.begin(), near.end(), std::uint64_t{0});
    }
    return near;
  }

  void TakeGpus() {
    for (std::size_t i = 0; i < machine_.gpus.size(); ++i) {
      const Gpu& gpu = machine_.gpus[i];
      const auto same = [&gpu](const Gpu& other) { return other.numa == gpu.numa; };
      const auto here = machine_.gpus.begin() + static_cast<std::ptrdiff_t>(i);
      const auto rank =
          static_cast<std::uint64_t>(std::count_if(machine_.gpus.begin(), here, same));
      const auto peers = static_cast<std::uint64_t>(
          std::count_if(machine_.gpus.begin(), machine_.gpus.end(), same));
      const std::vector<std::uint64_t> near = UnitsNear(gpu.numa);
      if (Mine(near[rank * near.size() / peers])) {
        slice_.gpus.push_back(gpu);
      }
    }
  }

  // The NICs near our cores or nowhere; all of them when none is.
  void TakeNics() {
    for (const Nic& nic : machine_.nics) {
      const bool near = std::any_of(slice_.cores.begin(), slice_.cores.end(),
                                    [&nic](const Core& core) { return core.numa == nic.numa; });
      if (near || nic.numa == kNowhere) {
        slice_.nics.push_back(nic);
      }
    }
    if (slice_.nics.empty()) {
      slice_.nics = machine_.nics;
    }
  }

  // The links between devices that are both ours, under their new positions.
  void TakeLinks() {
    const auto places = [](const auto& all, const auto& mine, auto name) {
      std::map<std::uint32_t, std::uint32_t> kept;
      for (std::uint32_t i = 0, next = 0; i < all.size() && next < mine.size(); ++i) {
        if (name(all[i]) == name(mine[next])) {
          kept[i] = next++;
        }
      }
      return kept;
    };
    const auto gpus = places(machine_.gpus, slice_.gpus, [](const Gpu& gpu) { return gpu.uuid; });
    const auto nics = places(machine_.nics, slice_.nics, [](const Nic& nic) { return nic.name; });
    const auto take = [&gpus](const auto& links, const auto& others, auto& into) {
      for (DeviceLink link : links) {
        if (gpus.contains(link.a) && others.contains(link.b)) {
          link.a = gpus.at(link.a);
          link.b = others.at(link.b);
          into.push_back(link);
        }
      }
    };
    take(machine_.gpu_links, gpus, slice_.gpu_links);
    take(machine_.nic_links, nics, slice_.nic_links);
  }

  // What `amount` of memory that goes with `units` gives us, and exactly the rest to the others.
  [[nodiscard]] Bytes Share(Bytes amount, const std::vector<std::uint64_t>& units) const {
    const auto before = static_cast<std::uint64_t>(
        std::count_if(units.begin(), units.end(), [this](std::uint64_t u) { return u < begin_; }));
    const auto until = static_cast<std::uint64_t>(
        std::count_if(units.begin(), units.end(), [this](std::uint64_t u) { return u < end_; }));
    return Bytes(Portion(amount.value(), until, units.size()) -
                 Portion(amount.value(), before, units.size()));
  }

  void TakeNumaNodes() {
    Kept kept(machine_.numa_nodes.size());
    const auto keep_numa = [&kept](const auto& things) {
      for (const auto& thing : things) {
        kept.Keep(thing.numa);
      }
    };
    keep_numa(slice_.cores);
    keep_numa(slice_.gpus);
    keep_numa(slice_.nics);
    Bytes surplus = machine_.memory;
    for (std::uint32_t i = 0; i < machine_.numa_nodes.size(); ++i) {
      NumaNode node = machine_.numa_nodes[i];
      surplus -= node.memory;
      node.memory = Share(node.memory, UnitsNear(i));
      node.cpus &= AllCpus(slice_);
      if (!node.memory.zero()) {
        kept.Keep(i);
      }
      if (kept.Has(i)) {
        slice_.numa_nodes.push_back(node);
        slice_.memory += node.memory;
      }
    }
    slice_.memory += Share(surplus, UnitsNear(kNowhere));
    const auto renumber = [&kept](auto& things) {
      for (auto& thing : things) {
        thing.numa = kept.Renumber(thing.numa);
      }
    };
    renumber(slice_.cores);
    renumber(slice_.gpus);
    renumber(slice_.nics);
  }

  void TakeCachesAndPackages() {
    Kept caches(machine_.l3_caches.size());
    Kept packages(machine_.packages.size());
    for (const Core& core : slice_.cores) {
      caches.Keep(core.l3);
      packages.Keep(core.package);
    }
    for (std::uint32_t i = 0; i < machine_.packages.size(); ++i) {
      if (packages.Has(i)) {
        slice_.packages.push_back(machine_.packages[i]);
      }
    }
    for (std::uint32_t i = 0; i < machine_.l3_caches.size(); ++i) {
      if (caches.Has(i)) {
        L3Cache cache = machine_.l3_caches[i];
        cache.cpus &= AllCpus(slice_);
        cache.package = packages.Renumber(cache.package);
        slice_.l3_caches.push_back(cache);
      }
    }
    for (Die die : machine_.dies) {
      die.cpus &= AllCpus(slice_);
      if (!die.cpus.Empty()) {
        die.package = packages.Renumber(die.package);
        slice_.dies.push_back(die);
      }
    }
    for (Core& core : slice_.cores) {
      core.l3 = caches.Renumber(core.l3);
      core.package = packages.Renumber(core.package);
    }
  }

  const Machine& machine_;
  std::vector<Unit> units_;
  std::uint32_t count_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  Machine slice_;
};

}  // namespace

absl::StatusOr<Machine> SliceMachine(const Machine& machine, std::uint32_t index,
                                     std::uint32_t count) {
  RETURN_IF_ERROR(CheckMachine(machine));
  if (index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no slice ", index, " of ", count, ": they count from 0"));
  }
  const std::uint32_t threads = AllCpus(machine).Count();
  if (threads < count) {
    return absl::InvalidArgumentError(absl::StrCat(machine.source, ": ", threads,
                                                   " hardware threads cannot be divided among ",
                                                   count, " nodes: ask for at most ", threads));
  }
  Machine slice = Slicer(machine, index, count).Cut();
  RETURN_IF_ERROR(CheckMachine(slice));
  return slice;
}

}  // namespace muster::topology
