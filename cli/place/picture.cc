#include "cli/place/picture.h"

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/frame/result_file.h"
#include "cli/picture/machine_svg.h"
#include "cli/picture/network_svg.h"
#include "cli/place/place_prediction.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr double kTop = 12;
constexpr double kGap = 16;
constexpr double kFont = 11;
constexpr double kMargin = 12;
constexpr std::size_t kMachinesDrawn = 16;

std::vector<SvgOwner> OwnersOf(const NodeView& node) {
  std::vector<SvgOwner> owners;
  for (const HolderView& holder : node.holders) {
    const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(holder.cpus);
    SvgOwner owner;
    owner.name = absl::StrCat("job ", holder.label, " ", holder.user);
    owner.cpus = cpus.ok() ? *cpus : CpuSet();
    owner.gpus = holder.gpus;
    owner.colour = holder.job.value();
    owners.push_back(std::move(owner));
  }
  return owners;
}

std::vector<SvgOwner> OwnersOf(const core::PlacedPart& part) {
  std::vector<SvgOwner> owners;
  for (const RankPlacement& rank : part.allocation->ranks) {
    SvgOwner owner;
    owner.name = absl::StrCat("rank ", rank.rank);
    owner.cpus = rank.cpus;
    owner.gpus = rank.gpus;
    owner.colour = rank.rank;
    if (rank.nic > 0) {
      owner.nics = {rank.nic - 1};
    }
    owners.push_back(std::move(owner));
  }
  return owners;
}

std::string RanksOn(const NodeAllocation& part) {
  std::vector<std::uint64_t> ranks;
  for (const RankPlacement& rank : part.ranks) {
    ranks.push_back(rank.rank);
  }
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", NumberList(ranks));
}

}  // namespace

std::string PictureOf(const std::vector<NodeView>& nodes) {
  Svg svg;
  double y = kTop;
  for (const NodeView& node : nodes) {
    y = DrawMachine(absl::StrCat(node.name, "  ", node.state), node.machine, OwnersOf(node), y,
                    svg) +
        kGap;
  }
  return svg.Document(nodes.size() == 1 ? nodes.front().name : Counted(nodes.size(), "node"));
}

std::string PictureOf(const PlaceCluster& cluster, const Allocation& allocation) {
  Svg svg;
  double y = kTop;
  const std::vector<core::PlacedPart> parts = PartsOf(cluster, allocation);
  if (cluster.network != nullptr) {
    SvgNodeUse used;
    for (const core::PlacedPart& part : parts) {
      used.emplace(part.allocation->name, RanksOn(*part.allocation));
    }
    y = DrawNetwork(*cluster.network, used, y, svg) + kGap;
  }
  for (std::size_t i = 0; i < std::min(parts.size(), kMachinesDrawn); ++i) {
    y = DrawMachine(absl::StrCat(parts[i].allocation->name, "  ", RanksOn(*parts[i].allocation)),
                    *parts[i].machine, OwnersOf(parts[i]), y, svg) +
        kGap;
  }
  if (parts.size() > kMachinesDrawn) {
    svg.AddText(kMargin, y,
                absl::StrCat("and ", Counted(parts.size() - kMachinesDrawn, "node"), " more"),
                {kFont});
  }
  return svg.Document(absl::StrCat("a job on ", Counted(parts.size(), "node")));
}

absl::Status WritePicture(const std::string& path, const std::string& picture) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(path));
  RETURN_IF_ERROR(file->Append(picture));
  return file->Finish();
}

}  // namespace muster::cli
