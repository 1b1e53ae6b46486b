#include "cli/picture/network_svg.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster::cli {
namespace {

constexpr double kNetworkMargin = 12;
constexpr double kNodeWidth = 74;
constexpr double kNodeHeight = 34;
constexpr double kStep = 4;
constexpr double kNetworkGap = 18;
constexpr double kSwitchHeight = 24;
constexpr double kSwitchWidth = 120;
constexpr double kRise = 66;  // from a level to the next
constexpr double kNetworkFont = 11;
constexpr double kNetworkSmall = 9;
constexpr double kStripe = 4;
constexpr std::size_t kInRow = 8;
constexpr std::size_t kLettersOfNode = 11;

std::string SpeedText(const LinkSpeed& speed) {
  return speed.bandwidth == 0
             ? ""
             : absl::StrFormat("%g GB/s", static_cast<double>(speed.bandwidth) / 1000);
}

class NetworkPicture {
 public:
  NetworkPicture(const Network& network, const SvgNodeUse& used, Svg& svg)
      : network_(network),
        used_(used),
        svg_(svg),
        nodes_(network.switches.size() + 1),
        children_(network.switches.size()),
        middle_(network.switches.size(), 0) {
    for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
      nodes_[std::min<std::size_t>(network.nodes[i].leaf, network.switches.size())].push_back(i);
    }
    for (std::uint32_t i = 0; i < network.switches.size(); ++i) {
      const NetworkSwitch& one = network.switches[i];
      levels_ = std::max(levels_, one.level + 1);
      if (one.parent != kNowhere) {
        children_[one.parent].push_back(i);
      }
    }
  }

  double Draw(double top) {
    leaf_top_ = top + kSwitchHeight + (levels_ > 0 ? (levels_ - 1) * kRise : 0);
    next_ = kNetworkMargin;
    for (std::uint32_t i = 0; i < network_.switches.size(); ++i) {
      if (network_.switches[i].parent == kNowhere) {
        PutSwitch(i);
      }
    }
    const double bottom = DrawNodes(network_.switches.size(), next_);
    bottom_ = std::max(bottom_, bottom);
    for (std::uint32_t i = 0; i < network_.switches.size(); ++i) {
      DrawSwitch(i);
    }
    return DrawLegend(bottom_ + kNetworkGap);
  }

 private:
  // Children first, from left to right: a switch stands above the middle of what is below it.
  void PutSwitch(std::uint32_t at) {
    double first = 0;
    double last = 0;
    bool any = false;
    const auto put = [&](double x) {
      first = any ? first : x;
      last = x;
      any = true;
    };
    for (const std::uint32_t child : children_[at]) {
      PutSwitch(child);
      put(middle_[child]);
    }
    if (!nodes_[at].empty() || !any) {
      const double left = next_;
      const std::size_t columns = std::clamp<std::size_t>(nodes_[at].size(), 1, kInRow);
      const double width =
          std::max(kSwitchWidth, static_cast<double>(columns) * (kNodeWidth + kStep));
      bottom_ = std::max(bottom_, DrawNodes(at, left));
      next_ = left + width + kNetworkGap;
      put(left + width / 2);
    }
    middle_[at] = (first + last) / 2;
  }

  double TopOf(std::uint32_t at) const { return leaf_top_ - network_.switches[at].level * kRise; }

  double DrawNodes(std::size_t leaf, double left) {
    const double top = leaf_top_ + kSwitchHeight + kNetworkGap;
    double bottom = top;
    for (std::size_t i = 0; i < nodes_[leaf].size(); ++i) {
      const double x = left + static_cast<double>(i % kInRow) * (kNodeWidth + kStep);
      const std::size_t row = i / kInRow;
      const double y = top + static_cast<double>(row) * (kNodeHeight + kStep);
      DrawNode(network_.nodes[nodes_[leaf][i]], x, y);
      bottom = std::max(bottom, y + kNodeHeight);
    }
    return bottom;
  }

  void DrawNode(const NetworkNode& node, double x, double y) {
    const auto use = used_.find(node.name);
    std::string title = absl::StrCat("node ", node.name);
    const bool in_domain = node.domain < network_.nvlink_domains.size();
    const bool in_block = node.block < network_.blocks.size();
    if (in_domain) {
      absl::StrAppend(&title, ", NVLink domain ", network_.nvlink_domains[node.domain].name);
    }
    if (in_block) {
      absl::StrAppend(&title, ", block ", network_.blocks[node.block].name);
    }
    absl::StrAppend(&title, use == used_.end() ? ", free" : ", " + use->second);
    svg_.AddBox({x, y, kNodeWidth, kNodeHeight}, use == used_.end() ? "#f4f6f8" : OwnerColour(1),
                "#888888", title, 3);
    const std::string name = node.name.size() <= kLettersOfNode
                                 ? node.name
                                 : ".." + node.name.substr(node.name.size() - kLettersOfNode + 2);
    svg_.AddText(x + kNodeWidth / 2, y + kNetworkFont + 1, name, {kNetworkSmall, "middle"});
    if (use != used_.end()) {
      svg_.AddText(x + kNodeWidth / 2, y + 2 * kNetworkFont, use->second,
                   {kNetworkSmall, "middle", "#000", true});
    }
    double stripe = y + kNodeHeight - kStripe;
    if (in_domain) {
      svg_.AddBox({x, stripe, kNodeWidth, kStripe}, OwnerColour(node.domain * 2 + 2), "none", "",
                  0);
      stripe -= kStripe;
    }
    if (in_block) {
      svg_.AddBox({x, stripe, kNodeWidth, kStripe}, OwnerColour(node.block * 3 + 4), "none", "", 0);
    }
  }

  void DrawSwitch(std::uint32_t at) {
    const NetworkSwitch& one = network_.switches[at];
    const double y = TopOf(at);
    if (one.parent != kNowhere) {
      svg_.AddLine(middle_[at], y, middle_[one.parent], TopOf(one.parent) + kSwitchHeight,
                   "#5577aa", 2);
    }
    const char* kind = one.kind == SwitchKind::kGroup  ? "group "
                       : one.kind == SwitchKind::kRoot ? "all to all "
                                                       : "";
    const std::string speed = SpeedText(one.down);
    svg_.AddBox({middle_[at] - kSwitchWidth / 2, y, kSwitchWidth, kSwitchHeight}, "#dce6f5",
                "#335588",
                absl::StrCat("switch ", one.name, ", level ", one.level,
                             speed.empty() ? "" : ", links below ", speed),
                4);
    svg_.AddText(middle_[at], y + kNetworkFont, absl::StrCat(kind, one.name),
                 {kNetworkFont, "middle", "#000", true});
    svg_.AddText(middle_[at], y + kSwitchHeight - 3, speed, {kNetworkSmall, "middle", "#335588"});
  }

  double DrawLegend(double y) {
    double x = kNetworkMargin;
    const auto entry = [&](const std::string& text, const std::string& colour) {
      svg_.AddBox({x, y, 24, kStripe}, colour, "none", "", 0);
      svg_.AddText(x + 30, y + 6, text, {kNetworkSmall});
      x += 160;
    };
    constexpr std::size_t kEntries = 6;
    for (std::size_t i = 0; i < std::min(network_.nvlink_domains.size(), kEntries); ++i) {
      const NetworkGroup& domain = network_.nvlink_domains[i];
      entry(absl::StrCat("NVLink domain ", domain.name, "  ", SpeedText(domain.speed)),
            OwnerColour(i * 2 + 2));
    }
    for (std::size_t i = 0; i < std::min(network_.blocks.size(), kEntries); ++i) {
      entry("block " + network_.blocks[i].name, OwnerColour(i * 3 + 4));
    }
    return x == kNetworkMargin ? y : y + kNetworkGap;
  }

  const Network& network_;
  const SvgNodeUse& used_;
  Svg& svg_;
  std::vector<std::vector<std::uint32_t>> nodes_;     // by leaf; last, those on none
  std::vector<std::vector<std::uint32_t>> children_;  // by switch
  std::vector<double> middle_;                        // by switch
  std::uint32_t levels_ = 0;
  double leaf_top_ = 0;
  double next_ = 0;
  double bottom_ = 0;
};

}  // namespace

double DrawNetwork(const Network& network, const SvgNodeUse& used, double top, Svg& svg) {
  return NetworkPicture(network, used, svg).Draw(top);
}

}  // namespace muster::cli
