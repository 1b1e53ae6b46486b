#include "cli/picture/machine_svg.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/sheet/machine_tree.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr double kMachineMargin = 12;
constexpr double kPad = 6;
constexpr double kCore = 18;
constexpr double kCoreStep = 20;
constexpr double kLine = 16;
constexpr double kNicWidth = 84;
constexpr double kGpuWidth = 64;
constexpr double kGpuHeight = 38;
constexpr double kMachineFont = 11;
constexpr double kMachineSmall = 9;
constexpr double kMachineGap = 10;
constexpr std::size_t kColumnsMost = 8;  // cores side by side
constexpr std::size_t kNicsInLine = 2;
constexpr std::size_t kLettersOfNic = 13;
constexpr const char* kFree = "#ffffff";
constexpr const char* kEdge = "#888888";

// Wider NVLinks are darker and thicker.
constexpr std::array<const char*, 5> kLinkColours = {"#9bd0a0", "#4fb06a", "#1d8a4c", "#0b6136",
                                                     "#063d22"};

// What stands in one NUMA node's box.
struct NumaCell {
  std::uint32_t numa = kNowhere;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> groups;  // L3, its cores
  std::vector<std::uint32_t> gpus;
  std::vector<std::uint32_t> nics;
  double width = 0;
};

std::string Cut(const std::string& text, std::size_t letters) {
  return text.size() <= letters ? text : absl::StrCat("..", text.substr(text.size() - letters + 2));
}

class MachinePicture {
 public:
  MachinePicture(const Machine& machine, const std::vector<SvgOwner>& owners, Svg& svg)
      : machine_(machine), owners_(owners), svg_(svg) {
    FillCells();
  }

  double Draw(const std::string& name, double top) {
    svg_.AddText(kMachineMargin, top + kLine, name, {kMachineFont + 4, "start", "#000", true});
    top += kLine * 1.5;
    const double inside = top + kLine;
    double cores = 0;
    double nics = 0;
    for (NumaCell& cell : cells_) {
      cores = std::max(cores, HeightOfCores(cell));
      const std::size_t lines = (cell.nics.size() + 1) / kNicsInLine;
      nics = std::max(nics, static_cast<double>(lines) * kLine);
    }
    const double gpu_top = inside + kLine + kPad + cores + nics + kPad;
    const double gpus = machine_.gpus.empty() ? 0 : kGpuHeight + kPad;
    const double bottom = gpu_top + gpus;
    double x = kMachineMargin;
    for (std::size_t i = 0; i < cells_.size(); x += cells_[i++].width + kMachineGap) {
      DrawCell(cells_[i], x, inside, bottom);
      DrawNics(cells_[i], x + kPad, gpu_top - kPad - nics);
      DrawGpus(cells_[i], x + kPad, gpu_top);
    }
    DrawPackages(top, bottom);
    return DrawLinks(gpu_top + kGpuHeight, bottom + kPad);
  }

 private:
  [[nodiscard]] std::uint32_t HomeOf(std::uint32_t numa) const {
    return numa < machine_.numa_nodes.size() ? numa : kNowhere;
  }

  // In the order of packages, then NUMA nodes; what is near none comes last.
  void FillCells() {
    std::map<std::uint32_t, std::uint32_t> package;  // of a NUMA node
    for (const Core& core : machine_.cores) {
      package.emplace(HomeOf(core.numa), core.package);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < machine_.numa_nodes.size(); ++i) {
      const auto its = package.find(i);
      order.emplace_back(its == package.end() ? kNowhere : its->second, i);
    }
    std::sort(order.begin(), order.end());
    order.emplace_back(kNowhere, kNowhere);
    for (const auto& [of, numa] : order) {
      NumaCell cell = CellOf(numa);
      const bool empty = cell.groups.empty() && cell.gpus.empty() && cell.nics.empty();
      if (numa != kNowhere || !empty) {
        package_.push_back(of);
        cells_.push_back(std::move(cell));
      }
    }
  }

  [[nodiscard]] NumaCell CellOf(std::uint32_t numa) const {
    NumaCell cell;
    cell.numa = numa;
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t i = 0; i < machine_.cores.size(); ++i) {
      if (HomeOf(machine_.cores[i].numa) == numa) {
        groups[machine_.cores[i].l3].push_back(i);
      }
    }
    cell.groups.assign(groups.begin(), groups.end());
    for (std::uint32_t i = 0; i < machine_.gpus.size(); ++i) {
      if (HomeOf(machine_.gpus[i].numa) == numa) {
        cell.gpus.push_back(i);
      }
    }
    for (std::uint32_t i = 0; i < machine_.nics.size(); ++i) {
      if (HomeOf(machine_.nics[i].numa) == numa) {
        cell.nics.push_back(i);
      }
    }
    constexpr double kHeading = 120;
    const auto gpus = static_cast<double>(cell.gpus.size());
    const auto columns = static_cast<double>(ColumnsOf(cell));
    const auto nics = static_cast<double>(std::min(cell.nics.size(), kNicsInLine));
    cell.width = 2 * kPad + std::max({kHeading, gpus * (kGpuWidth + 4), nics * (kNicWidth + 4),
                                      columns * kCoreStep + 2 * kPad});
    return cell;
  }

  // Cores side by side in a group: as many as the widest group has, up to eight.
  static std::size_t ColumnsOf(const NumaCell& cell) {
    std::size_t columns = 1;
    for (const auto& [l3, cores] : cell.groups) {
      columns = std::max(columns, std::min(cores.size(), kColumnsMost));
    }
    return columns;
  }

  static double HeightOfGroup(std::size_t cores) {
    const std::size_t rows = (cores + kColumnsMost - 1) / kColumnsMost;
    return static_cast<double>(rows) * kCoreStep + kLine + kPad;
  }
  static double HeightOfCores(const NumaCell& cell) {
    double height = 0;
    for (const auto& [l3, cores] : cell.groups) {
      height += HeightOfGroup(cores.size());
    }
    return height;
  }

  // The owner's fill, and its name behind the title.
  template <class Has>
  [[nodiscard]] std::pair<std::string, std::string> Owned(const std::string& title, Has has) const {
    std::string fill = kFree;
    std::vector<std::string> names;
    for (const SvgOwner& owner : owners_) {
      if (has(owner)) {
        fill = names.empty() ? OwnerColour(owner.colour) : fill;
        names.push_back(owner.name);
      }
    }
    return {fill, names.empty() ? absl::StrCat(title, ", free")
                                : absl::StrCat(title, ", ", absl::StrJoin(names, ", "))};
  }

  void DrawCell(const NumaCell& cell, double x, double y, double bottom) {
    const bool known = cell.numa != kNowhere;
    std::string heading = known ? "NUMA " : "near no NUMA node";
    if (known) {
      const NumaNode& numa = machine_.numa_nodes[cell.numa];
      absl::StrAppend(&heading, numa.os_index,
                      numa.memory.zero() ? "" : "  " + BytesText(numa.memory.value()),
                      cell.groups.empty() && numa.cpus.Empty() ? ", no cores" : "");
    }
    svg_.AddBox({x, y, cell.width, bottom - y}, "#f4f6f8", kEdge, heading, 4);
    svg_.AddText(x + kPad, y + kLine - 3, heading, {kMachineFont});
    y += kLine + kPad;
    for (const auto& [l3, cores] : cell.groups) {
      DrawGroup(l3, cores, x + kPad, y, cell.width - 2 * kPad);
      y += HeightOfGroup(cores.size());
    }
  }

  void DrawGroup(std::uint32_t l3, const std::vector<std::uint32_t>& cores, double x, double y,
                 double width) {
    const bool known = l3 < machine_.l3_caches.size();
    const std::string heading =
        known ? absl::StrCat("L3 ", BytesText(machine_.l3_caches[l3].size.value())) : "";
    svg_.AddBox({x, y, width, HeightOfGroup(cores.size()) - 4}, "#e6eaee", "none", heading);
    svg_.AddText(x + 4, y + kLine - 5, heading, {kMachineSmall, "start", "#555"});
    for (std::size_t i = 0; i < cores.size(); ++i) {
      const Core& core = machine_.cores[cores[i]];
      const auto [fill, title] =
          Owned(absl::StrCat("core ", core.os_index, ", cpus ", core.cpus.ToList()),
                [&core](const SvgOwner& owner) { return owner.cpus.Meets(core.cpus); });
      const double left = x + kPad + static_cast<double>(i % kColumnsMost) * kCoreStep;
      const std::size_t row = i / kColumnsMost;
      const double top = y + kLine - 2 + static_cast<double>(row) * kCoreStep;
      svg_.AddBox({left, top, kCore, kCore}, fill, kEdge, title);
      svg_.AddText(left + kCore / 2, top + kCore / 2 + 3, absl::StrCat(core.os_index),
                   {kMachineSmall, "middle"});
    }
  }

  void DrawNics(const NumaCell& cell, double x, double y) {
    for (std::size_t i = 0; i < cell.nics.size(); ++i) {
      const std::uint32_t position = cell.nics[i];
      const Nic& nic = machine_.nics[position];
      const auto [fill, title] = Owned(
          absl::StrCat("NIC ", nic.name, nic.pci_address.empty() ? "" : ", ", nic.pci_address),
          [position](const SvgOwner& owner) {
            return std::count(owner.nics.begin(), owner.nics.end(), position) > 0;
          });
      const double left = x + static_cast<double>(i % kNicsInLine) * (kNicWidth + 4);
      const std::size_t line = i / kNicsInLine;
      const double top = y + static_cast<double>(line) * kLine;
      svg_.AddBox({left, top, kNicWidth, kLine - 3}, fill, "#b07020", title);
      svg_.AddText(left + kNicWidth / 2, top + kMachineSmall + 1, Cut(nic.name, kLettersOfNic),
                   {kMachineSmall, "middle"});
    }
  }

  void DrawGpus(const NumaCell& cell, double x, double y) {
    for (const std::uint32_t position : cell.gpus) {
      const Gpu& gpu = machine_.gpus[position];
      std::string holder;
      for (const SvgOwner& owner : owners_) {
        if (std::count(owner.gpus.begin(), owner.gpus.end(), position) > 0) {
          holder = holder.empty() ? owner.name : absl::StrCat(owner.name, " …");
        }
      }
      const auto [fill, title] =
          Owned(absl::StrCat("GPU ", gpu.os_index, gpu.model.empty() ? "" : ", ", gpu.model,
                             gpu.memory.zero() ? "" : ", ",
                             gpu.memory.zero() ? "" : BytesText(gpu.memory.value()),
                             gpu.pci_address.empty() ? "" : ", ", gpu.pci_address),
                [position](const SvgOwner& owner) {
                  return std::count(owner.gpus.begin(), owner.gpus.end(), position) > 0;
                });
      svg_.AddBox({x, y, kGpuWidth, kGpuHeight}, fill, "#2d6a3a", title, 4);
      svg_.AddText(x + kGpuWidth / 2, y + kLine, absl::StrCat("GPU ", gpu.os_index),
                   {kMachineFont, "middle", "#000", true});
      svg_.AddText(x + kGpuWidth / 2, y + 2 * kLine - 2, holder, {kMachineSmall, "middle"});
      middle_[position] = x + kGpuWidth / 2;
      x += kGpuWidth + 4;
    }
  }

  // A frame round the NUMA nodes of each package.
  void DrawPackages(double top, double bottom) {
    double x = kMachineMargin;
    for (std::size_t i = 0; i < cells_.size();) {
      std::size_t end = i;
      double right = x;
      while (end < cells_.size() && package_[end] == package_[i]) {
        right += cells_[end++].width + kMachineGap;
      }
      if (package_[i] < machine_.packages.size()) {
        const Package& package = machine_.packages[package_[i]];
        const std::string heading = absl::StrCat("package ", package.os_index,
                                                 package.model.empty() ? "" : "  ", package.model);
        svg_.AddLine(x, top + kLine - 3, right - kMachineGap, top + kLine - 3, "#444444", 2);
        svg_.AddLine(x, bottom, right - kMachineGap, bottom, "#444444", 2);
        const double letters = (right - kMachineGap - x) / (0.6 * kMachineFont);
        svg_.AddText(x, top + kMachineFont - 3,
                     heading.substr(0, static_cast<std::size_t>(letters)),
                     {kMachineFont, "start", "#444"});
      }
      x = right;
      i = end;
    }
  }

  // MB/s, or what that number of lanes usually has.
  static std::uint64_t WidthOf(const DeviceLink& link) {
    constexpr std::uint64_t kLaneBandwidth = 25'000;
    return link.bandwidth > 0 ? link.bandwidth : link.lanes * kLaneBandwidth;
  }

  double DrawLinks(double y, double bottom) {
    std::set<std::uint64_t> widths;
    std::size_t links = 0;
    for (const DeviceLink& link : machine_.gpu_links) {
      if (link.kind == LinkKind::kNvLink) {
        widths.insert(WidthOf(link));
        ++links;
      }
    }
    if (links == 0) {
      return bottom + kLine;
    }
    const std::size_t pairs = machine_.gpus.size() * (machine_.gpus.size() - 1) / 2;
    if (machine_.gpus.size() > 2 && links == pairs && widths.size() == 1) {
      return DrawBar(y, bottom);
    }
    double depth = 0;
    for (const DeviceLink& link : machine_.gpu_links) {
      if (link.kind == LinkKind::kNvLink) {
        depth = std::max(depth, DrawArc(link, widths, y));
      }
    }
    return DrawLegend(widths, std::max(bottom, y + depth) + kLine);
  }

  static std::pair<const char*, double> StrokeOf(const std::set<std::uint64_t>& widths,
                                                 std::uint64_t width) {
    const auto rank = static_cast<std::size_t>(std::distance(widths.begin(), widths.find(width)));
    const std::size_t at = std::min(rank + (widths.size() == 1 ? 2 : 0), kLinkColours.size() - 1);
    return {kLinkColours[at], 1.5 + 1.5 * static_cast<double>(at)};
  }

  double DrawArc(const DeviceLink& link, const std::set<std::uint64_t>& widths, double y) {
    const double from = middle_.at(link.a);
    const double to = middle_.at(link.b);
    constexpr double kDepthMost = 130;
    const double depth = std::min(18 + 0.22 * std::abs(to - from), kDepthMost);
    const auto [colour, width] = StrokeOf(widths, WidthOf(link));
    svg_.AddArc({from, to, y, depth}, colour, width,
                absl::StrCat(machine_.gpus[link.a].os_index, " to ", machine_.gpus[link.b].os_index,
                             ": ", LinkText(link)));
    return depth;
  }

  // Every two GPUs have the same one: through a switch, or as good as that.
  double DrawBar(double y, double bottom) {
    double left = middle_.begin()->second;
    double right = left;
    const double bar = bottom + kLine;
    for (const auto& [gpu, x] : middle_) {
      svg_.AddLine(x, y, x, bar, kLinkColours[2], 4);
      left = std::min(left, x);
      right = std::max(right, x);
    }
    const std::string text = absl::StrCat("every two GPUs: ", LinkText(machine_.gpu_links.front()));
    svg_.AddBox({left - kGpuWidth / 2, bar, right - left + kGpuWidth, kLine}, kLinkColours[1],
                kLinkColours[3], text, 3);
    svg_.AddText((left + right) / 2, bar + kLine - 4, text, {kMachineFont, "middle", "#000", true});
    return bar + 2 * kLine;
  }

  double DrawLegend(const std::set<std::uint64_t>& widths, double y) {
    double x = kMachineMargin;
    for (const std::uint64_t width : widths) {
      const auto [colour, stroke] = StrokeOf(widths, width);
      svg_.AddLine(x, y - 4, x + 30, y - 4, colour, stroke);
      svg_.AddText(x + 36, y,
                   width > 0 ? absl::StrCat("NVLink, ", width / 1000, " GB/s") : "NVLink",
                   {kMachineFont});
      x += 150;
    }
    return y + kLine;
  }

  const Machine& machine_;
  const std::vector<SvgOwner>& owners_;
  Svg& svg_;
  std::vector<NumaCell> cells_;
  std::vector<std::uint32_t> package_;      // by cell
  std::map<std::uint32_t, double> middle_;  // by GPU position
};

}  // namespace

double DrawMachine(const std::string& name, const Machine& machine,
                   const std::vector<SvgOwner>& owners, double top, Svg& svg) {
  return MachinePicture(machine, owners, svg).Draw(name, top);
}

}  // namespace muster::cli
