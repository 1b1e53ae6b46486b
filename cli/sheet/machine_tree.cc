#include "cli/sheet/machine_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/page/text.h"
#include "cli/sheet/node_table.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/model/plan/reason.h"
#include "topology/gpu/libraries.h"

namespace muster::cli {
namespace {

using Cores = std::vector<const Core*>;

struct Holder {
  CpuSet cpus;
  std::vector<std::uint32_t> gpus;
  std::vector<GpuGrant> gpu_shares;
  std::string text;
  bool quarantined = false;
};

// The grouping levels, outermost first.
enum class Level { kPackage, kNuma, kDie, kL3, kCore };

Holder HolderOf(const HolderView& view) {
  absl::StatusOr<CpuSet> cpus = CpuSet::Parse(view.cpus);
  return {.cpus = cpus.ok() ? *std::move(cpus) : CpuSet(),
          .gpus = view.gpus,
          .gpu_shares = view.gpu_shares,
          .text = view.quarantined
                      ? absl::StrCat("job ", Printable(view.label), " (quarantined)")
                      : absl::StrCat("job ", Printable(view.label), " ", Printable(view.user)),
          .quarantined = view.quarantined};
}

// Draws one machine; lives for one call of MachineTree.
class Drawing {
 public:
  Drawing(const NodeView& node, const Style& style)
      : machine_(node.machine),
        style_(style),
        all_(AllCpus(node.machine)),
        occupants_(node.gpu_occupants) {
    for (const HolderView& holder : node.holders) {
      holders_.push_back(HolderOf(holder));
    }
  }

  void Draw(Tree& root) {
    Cores cores;
    for (const Core& core : machine_.cores) {
      cores.push_back(&core);
    }
    AddLevel(cores, Level::kPackage, root);
    for (std::size_t i = 0; i < machine_.numa_nodes.size(); ++i) {
      const auto numa = static_cast<std::uint32_t>(i);
      if (drawn_.count(numa) == 0) {
        Tree tree{.text = NumaText(numa, {}), .children = {}};
        AddDevices(numa, tree);
        root.children.push_back(std::move(tree));
      }
    }
    AddDevices(kNowhere, root);
    AddGpuLinks(root);
    if (!machine_.mps.empty()) {
      root.children.push_back({.text = "CUDA MPS  " + Printable(machine_.mps), .children = {}});
    }
    for (const std::string& remark : machine_.remarks) {
      root.children.push_back({.text = "note: " + Printable(remark), .children = {}});
    }
  }

 private:
  // The vendor's own word for its links.
  std::string WordOf(const DeviceLink& link) const {
    const std::string_view own = topology::GpuLibraryOf(machine_.gpus[link.a].vendor).facts().link;
    return link.kind == LinkKind::kNvLink && !own.empty() ? std::string(own) : LinkText(link);
  }

  // How the GPUs are joined, a line for each but the last; one line when all are joined alike.
  void AddGpuLinks(Tree& root) const {
    std::map<std::uint32_t, std::vector<std::string>> words;  // by GPU, to those after it
    std::set<std::string> kinds;
    for (const DeviceLink& link : machine_.gpu_links) {
      words[link.a].push_back(
          absl::StrCat("GPU ", machine_.gpus[link.b].os_index, " ", WordOf(link)));
      kinds.insert(WordOf(link));
    }
    const std::size_t pairs = machine_.gpus.size() * (machine_.gpus.size() - 1) / 2;
    if (kinds.size() == 1 && machine_.gpu_links.size() == pairs) {
      root.children.push_back(
          {.text = absl::StrCat("every two GPUs: ", *kinds.begin()), .children = {}});
      return;
    }
    for (const auto& [gpu, others] : words) {
      root.children.push_back({.text = absl::StrCat("GPU ", machine_.gpus[gpu].os_index, " to ",
                                                    absl::StrJoin(others, ", ")),
                               .children = {}});
    }
  }

  std::uint32_t DieOf(const Core& core) const {
    const auto die =
        std::find_if(machine_.dies.begin(), machine_.dies.end(),
                     [&core](const Die& known) { return known.cpus.Meets(core.cpus); });
    return die == machine_.dies.end() ? kNowhere
                                      : static_cast<std::uint32_t>(die - machine_.dies.begin());
  }

  std::uint32_t KeyOf(const Core& core, Level level) const {
    switch (level) {
      case Level::kPackage:
        return core.package;
      case Level::kNuma:
        return core.numa;
      case Level::kDie:
        return DieOf(core);
      case Level::kL3:
        return core.l3;
      case Level::kCore:
        break;
    }
    return kNowhere;
  }

  // The groups of one level in order of first appearance; what has no place in it goes one deeper.
  void AddLevel(const Cores& cores, Level level, Tree& parent) {
    if (level == Level::kCore) {
      AddCores(cores, parent);
      return;
    }
    const auto deeper = static_cast<Level>(static_cast<int>(level) + 1);
    std::vector<std::pair<std::uint32_t, Cores>> groups;
    for (const Core* core : cores) {
      const std::uint32_t key = KeyOf(*core, level);
      auto group = std::find_if(groups.begin(), groups.end(),
                                [key](const auto& known) { return known.first == key; });
      if (group == groups.end()) {
        groups.push_back({key, {}});
        group = std::prev(groups.end());
      }
      group->second.push_back(core);
    }
    for (const auto& [key, members] : groups) {
      if (key == kNowhere) {
        AddLevel(members, deeper, parent);
        continue;
      }
      Tree tree{.text = GroupText(level, key, members), .children = {}};
      AddLevel(members, deeper, tree);
      if (level == Level::kNuma && drawn_.insert(key).second) {
        AddDevices(key, tree);
      }
      parent.children.push_back(std::move(tree));
    }
  }

  std::string GroupText(Level level, std::uint32_t key, const Cores& members) const {
    switch (level) {
      case Level::kPackage:
        return PackageText(key);
      case Level::kNuma:
        return NumaText(key, members);
      case Level::kDie:
        return absl::StrCat("die ", machine_.dies[key].os_index,
                            Shared(machine_.dies[key].cpus, members));
      case Level::kL3:
        return L3Text(key, members);
      case Level::kCore:
        break;
    }
    return "";
  }

  std::string PackageText(std::uint32_t package) const {
    if (package >= machine_.packages.size()) {
      return absl::StrCat("package ", package);
    }
    const Package& known = machine_.packages[package];
    return absl::StrCat("package ", known.os_index, known.model.empty() ? "" : "  ",
                        Printable(known.model));
  }

  std::string NumaText(std::uint32_t numa, const Cores& members) const {
    if (numa >= machine_.numa_nodes.size()) {
      return absl::StrCat("NUMA ", numa);
    }
    const NumaNode& known = machine_.numa_nodes[numa];
    return absl::StrCat("NUMA ", known.os_index, "  ",
                        known.memory.zero() ? "memory not known" : BytesText(known.memory.value()),
                        members.empty() ? ", no cores" : Shared(known.cpus, members));
  }

  std::string L3Text(std::uint32_t l3, const Cores& members) const {
    if (l3 >= machine_.l3_caches.size()) {
      return "L3";
    }
    const L3Cache& known = machine_.l3_caches[l3];
    return absl::StrCat("L3 ", BytesText(known.size.value()), Shared(known.cpus, members));
  }

  // Says so where the object `cpus` reaches beyond the branch that it is drawn in.
  std::string Shared(const CpuSet& cpus, const Cores& members) const {
    CpuSet beyond = cpus;
    beyond &= all_;
    for (const Core* core : members) {
      beyond -= core->cpus;
    }
    return beyond.Empty() ? "" : absl::StrCat(", shared with cpus ", beyond.ToList());
  }

  const Holder* FindHolder(const Core& core) const {
    const auto found =
        std::find_if(holders_.begin(), holders_.end(),
                     [&core](const Holder& holder) { return holder.cpus.Meets(core.cpus); });
    return found == holders_.end() ? nullptr : &*found;
  }

  std::string HolderText(const Holder* holder) const {
    if (holder == nullptr) {
      return Painted("free", Paint::kFaint, style_);
    }
    return Painted(holder->text, holder->quarantined ? Paint::kRed : Paint::kGreen, style_);
  }

  void AddCores(const Cores& cores, Tree& parent) const {
    const bool fold = machine_.cores.size() > kFoldAbove;
    for (std::size_t i = 0; i < cores.size();) {
      const Holder* holder = FindHolder(*cores[i]);
      CpuSet cpus;
      std::vector<std::uint64_t> numbers;
      do {
        cpus |= cores[i]->cpus;
        numbers.push_back(cores[i]->os_index);
        ++i;
      } while (fold && i < cores.size() && FindHolder(*cores[i]) == holder);
      parent.children.push_back(
          {.text = absl::StrCat(numbers.size() == 1 ? "core " : "cores ", NumberList(numbers),
                                cpus.Count() == 1 ? " (cpu " : " (cpus ", cpus.ToList(), ")  ",
                                HolderText(holder)),
           .children = {}});
    }
  }

  // GPUs and NICs near `numa`, or near none.
  void AddDevices(std::uint32_t numa, Tree& parent) const {
    for (std::size_t i = 0; i < machine_.gpus.size(); ++i) {
      if (HomeOf(machine_.gpus[i].numa) == numa) {
        parent.children.push_back({.text = GpuText(static_cast<std::uint32_t>(i)), .children = {}});
      }
    }
    for (const Nic& nic : machine_.nics) {
      if (HomeOf(nic.numa) == numa) {
        parent.children.push_back(
            {.text = absl::StrCat("NIC ", Printable(nic.name), nic.pci_address.empty() ? "" : "  ",
                                  Printable(nic.pci_address)),
             .children = {}});
      }
    }
  }

  std::uint32_t HomeOf(std::uint32_t numa) const {
    return numa < machine_.numa_nodes.size() ? numa : kNowhere;
  }

  // "0.5 of it: ", where the holder has a part of the GPU only.
  static std::string ShareText(const Holder& holder, std::uint32_t position) {
    for (const GpuGrant& grant : holder.gpu_shares) {
      if (grant.gpu == position && grant.share != kWholeGpu) {
        return absl::StrCat(GpuShareText(grant.share.value()), " of it: ");
      }
    }
    return "";
  }

  std::string GpuText(std::uint32_t position) const {
    const Gpu& gpu = machine_.gpus[position];
    std::string text = absl::StrCat("GPU ", gpu.os_index);
    for (const std::string& part :
         {Printable(gpu.model), gpu.memory.zero() ? "" : BytesText(gpu.memory.value()),
          Printable(gpu.pci_address), gpu.instance.empty() ? "" : Printable(gpu.uuid)}) {
      absl::StrAppend(&text, part.empty() ? "" : "  ", part);
    }
    for (const GpuOccupant& occupant : occupants_) {
      absl::StrAppend(&text, occupant.gpu == position ? "  used outside Muster by " : "",
                      occupant.gpu == position ? Printable(OccupantText(occupant)) : "");
    }
    bool held = false;
    for (const Holder& holder : holders_) {
      if (std::count(holder.gpus.begin(), holder.gpus.end(), position) != 0) {
        absl::StrAppend(&text, held ? ", " : "  ", ShareText(holder, position),
                        HolderText(&holder));
        held = true;
      }
    }
    return held ? text : absl::StrCat(text, "  ", HolderText(nullptr));
  }

  const Machine& machine_;
  const Style& style_;
  const CpuSet all_;
  std::vector<Holder> holders_;
  const GpuOccupants& occupants_;
  std::set<std::uint32_t> drawn_;  // NUMA nodes whose devices are drawn
};

}  // namespace

std::string LinkText(const DeviceLink& link) {
  return link.lanes > 0 ? absl::StrCat(Name(link.kind), link.lanes) : Name(link.kind);
}

Tree MachineTree(const NodeView& node, const Style& style) {
  const std::string host =
      node.hostname.empty() || node.hostname == node.name ? "" : " on " + Printable(node.hostname);
  Tree root{.text = absl::StrCat(
                Painted(Printable(node.name), Paint::kBold, style), host, "  ",
                Painted(node.state, NodePaint(node.state), style), "  ", node.cpus_taken, "/",
                node.cpus, " cpus, ", BytesRatio(node.memory_taken.value(), node.memory.value()),
                ", binding ", node.binding.empty() ? "not known" : Printable(node.binding),
                node.limits.empty() ? "" : ", limits: " + Printable(node.limits)),
            .children = {}};
  Drawing(node, style).Draw(root);
  return root;
}

}  // namespace muster::cli
