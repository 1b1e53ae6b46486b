#include "cli/place/place_prediction.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/page/text.h"
#include "cli/sheet/worth_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/core/place/nodes/block_placement.h"
#include "scheduler/core/place/worth/placement_quality.h"

namespace muster::cli {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
constexpr double kMicro = 1e-6;

std::vector<core::PlacementLevel> LevelsIn(const PlaceCluster& cluster,
                                           const std::vector<core::PlacedPart>& parts) {
  return core::LevelsOf(parts, cluster.network.get());
}

Json LevelJson(const core::PlacementLevel& level) {
  return {{"name", level.name},
          {"groups", level.group_sizes},
          {"bandwidth", static_cast<std::uint64_t>(level.link.bytes_per_second / kMega)},
          {"shared_bandwidth", static_cast<std::uint64_t>(level.shared_bandwidth / kMega)},
          {"latency_us", level.link.alpha_s / kMicro},
          {"assumed", level.assumed}};
}

Json CostJson(const std::optional<core::CollectiveCost>& cost) {
  if (!cost.has_value()) {
    return {{"seconds", 0.0}, {"algorithm", ToText(core::CollectiveAlgorithm::kNone)}};
  }
  return {{"seconds", cost->seconds}, {"algorithm", ToText(cost->algorithm)}};
}

Json OneJson(const PlaceCluster& cluster, const Allocation& allocation, Bytes bytes) {
  const std::vector<core::PlacedPart> parts = PartsOf(cluster, allocation);
  const std::vector<core::PlacementLevel> levels = LevelsIn(cluster, parts);
  std::vector<std::string> nodes;
  nodes.reserve(parts.size());
  for (const core::PlacedPart& part : parts) {
    nodes.push_back(part.allocation->name);
  }
  Json json = {{"locality", LocalityOf(parts).share()}, {"nodes", std::move(nodes)}};
  for (const auto& [name, collective] : core::kCollectives) {
    json[name] = CostJson(core::PredictPlaced(levels, collective, bytes));
  }
  json["links"] = Json::array();
  for (const core::PlacementLevel& level : levels) {
    json["links"].push_back(LevelJson(level));
  }
  return json;
}

std::string OneText(const PlaceCluster& cluster, const Allocation& allocation, Bytes bytes) {
  const std::vector<core::PlacedPart> parts = PartsOf(cluster, allocation);
  const std::vector<core::PlacementLevel> levels = LevelsIn(cluster, parts);
  const std::optional<core::CollectiveCost> cost =
      core::PredictPlaced(levels, core::Collective::kAllReduce, bytes);
  if (!cost.has_value()) {
    return "";
  }
  std::vector<std::string> links;
  links.reserve(levels.size());
  for (const core::PlacementLevel& level : levels) {
    links.push_back(absl::StrFormat("%s%s %.4g GB/s", level.assumed ? "~" : "",
                                    Printable(level.name), level.link.bytes_per_second / kGiga));
  }
  return absl::StrCat(PredictedTime(cost->seconds), ", ", ToText(cost->algorithm), " (",
                      absl::StrJoin(links, ", "), "), locality ",
                      absl::StrFormat("%.3f", LocalityOf(parts).share()));
}

}  // namespace

std::vector<core::PlacedPart> PartsOf(const PlaceCluster& cluster, const Allocation& allocation) {
  std::vector<core::PlacedPart> parts;
  for (const NodeAllocation& part : allocation.nodes) {
    const auto node = std::find_if(cluster.nodes.begin(), cluster.nodes.end(),
                                   [&part](const NodeSnapshot& n) { return n.id == part.node; });
    parts.push_back({&part, node->machine.get()});
  }
  return parts;
}

core::Locality LocalityOf(const std::vector<core::PlacedPart>& parts) {
  core::Locality locality;
  for (const core::PlacedPart& part : parts) {
    core::AddLocality(*part.machine, *part.allocation, locality);
  }
  return locality;
}

Json PredictionJson(const PlaceCluster& cluster, const Allocation& chosen,
                    const PlaceOptions& options) {
  const std::optional<Allocation> blocks = core::PlaceInBlocks(cluster.nodes, options.spec.request);
  return {{"bytes", options.message.value()},
          {"chosen", OneJson(cluster, chosen, options.message)},
          {"default", blocks.has_value() ? OneJson(cluster, *blocks, options.message) : Json()}};
}

std::string PredictionText(const PlaceCluster& cluster, const Allocation& chosen,
                           const PlaceOptions& options) {
  const std::string here = OneText(cluster, chosen, options.message);
  if (here.empty()) {
    return "";
  }
  const std::optional<Allocation> blocks = core::PlaceInBlocks(cluster.nodes, options.spec.request);
  const std::string there =
      blocks.has_value() ? OneText(cluster, *blocks, options.message) : "does not fit";
  return absl::StrCat("predicted all-reduce of ", BytesText(options.message.value()),
                      ":\n  placed so   ", here, "\n  in blocks   ",
                      there.empty() ? "nothing to send" : there, "\n");
}

}  // namespace muster::cli
