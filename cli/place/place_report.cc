#include "cli/place/place_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/frame/json_output.h"
#include "cli/page/text.h"
#include "cli/page/tree.h"
#include "cli/place/place_prediction.h"
#include "cli/sheet/machine_tree.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/nodes/network_span.h"
#include "scheduler/core/place/worth/placement_quality.h"

namespace muster::cli {
namespace {

std::vector<std::string> GpuNumbers(const Machine& machine,
                                    const std::vector<std::uint32_t>& gpus) {
  std::vector<std::string> numbers;
  numbers.reserve(gpus.size());
  for (const std::uint32_t gpu : gpus) {
    numbers.push_back(absl::StrCat(machine.gpus[gpu].os_index));
  }
  return numbers;
}

std::optional<DeviceLink> WeakestOf(const core::PlacedPart& part) {
  std::vector<std::uint32_t> gpus;
  gpus.reserve(part.allocation->gpus.size());
  for (const GpuGrant& grant : part.allocation->gpus) {
    gpus.push_back(grant.gpu);
  }
  return core::WeakestLink(*part.machine, gpus);
}

std::optional<core::NetworkSpan> SpanOver(const PlaceCluster& cluster,
                                          const Allocation& allocation) {
  if (cluster.network == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  names.reserve(allocation.nodes.size());
  for (const NodeAllocation& part : allocation.nodes) {
    names.push_back(part.name);
  }
  return core::SpanOf(*cluster.network, names);
}

template <class Things>
std::vector<std::string> NamesOf(const std::vector<std::uint32_t>& positions,
                                 const Things& things) {
  std::vector<std::string> names;
  names.reserve(positions.size());
  for (const std::uint32_t position : positions) {
    names.push_back(things[position].name);
  }
  return names;
}

Json NodeJson(const core::PlacedPart& part, GpuShare share) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < part.allocation->ranks.size(); ++i) {
    const RankPlacement& rank = part.allocation->ranks[i];
    ranks.push_back({{"rank", rank.rank},
                     {"cpus", rank.cpus.ToList()},
                     {"mem_nodes", rank.mem_nodes.ToList()},
                     {"gpus", GpuNumbers(*part.machine, rank.gpus)},
                     {"nic", rank.nic == 0 ? Json() : Json(part.machine->nics[rank.nic - 1].name)},
                     {"local", core::IsLocal(*part.machine, rank)}});
    if (!share.zero()) {
      ranks.back()["gpu_share"] = share.value() / double{1000};
    }
  }
  return {{"name", part.allocation->name},
          {"machine", part.machine->source},
          {"memory", part.allocation->memory.value()},
          {"ranks", std::move(ranks)}};
}

Json SpanJson(const PlaceCluster& cluster, const Allocation& allocation) {
  Json json = {{"nodes", allocation.nodes.size()}};
  if (const std::optional<core::NetworkSpan> span = SpanOver(cluster, allocation)) {
    const Network& network = *cluster.network;
    const bool met = span->top != kNowhere;
    json["switch"] = met ? Json(network.switches[span->top].name) : Json();
    json["level"] = met ? Json(network.switches[span->top].level) : Json();
    json["leaves"] = NamesOf(span->leaves, network.switches);
    json["blocks"] = NamesOf(span->blocks, network.blocks);
    json["nvlink_domains"] = NamesOf(span->domains, network.nvlink_domains);
  }
  return json;
}

Json LinkJson(const std::optional<DeviceLink>& link) {
  if (!link.has_value()) {
    return {};
  }
  return {{"kind", LinkText(*link)},
          {"bandwidth", link->bandwidth > 0 ? Json(link->bandwidth) : Json()}};
}

// What is known of the ways that a collective will take, and how long it will take.
Json PredictedJson(const PlaceCluster& cluster, const Allocation& allocation,
                   const std::vector<core::PlacedPart>& parts, const PlaceOptions& options) {
  std::optional<DeviceLink> weakest;
  Json nodes = Json::array();
  for (const core::PlacedPart& part : parts) {
    const std::optional<DeviceLink> link = WeakestOf(part);
    nodes.push_back({{"name", part.allocation->name}, {"gpu_link", LinkJson(link)}});
    if (link.has_value() && (!weakest.has_value() || LinkQuality(*link) < LinkQuality(*weakest))) {
      weakest = link;
    }
  }
  const std::optional<core::NetworkSpan> span = SpanOver(cluster, allocation);
  const bool told = span.has_value() && span->bandwidth > 0 && parts.size() > 1;
  Json json = {{"gpu_link", LinkJson(weakest)},
               {"network_bandwidth", told ? Json(span->bandwidth) : Json()},
               {"nodes", std::move(nodes)}};
  json.update(PredictionJson(cluster, allocation, options));
  return json;
}

std::string RankText(const core::PlacedPart& part, const RankPlacement& rank, GpuShare share,
                     const Style& style) {
  const Machine& machine = *part.machine;
  std::string text = absl::StrCat("rank ", rank.rank, "  cpus ", rank.cpus.ToList(), "  memory ",
                                  rank.mem_nodes.Empty() ? "any" : rank.mem_nodes.ToList());
  if (!rank.gpus.empty()) {
    absl::StrAppend(&text, "  ", share.zero() ? "" : GpuShareText(share.value()) + " of ",
                    rank.gpus.size() == 1 ? "GPU " : "GPUs ",
                    absl::StrJoin(GpuNumbers(machine, rank.gpus), ","));
  }
  if (rank.nic > 0) {
    absl::StrAppend(&text, "  NIC ", Printable(machine.nics[rank.nic - 1].name));
  }
  return core::IsLocal(machine, rank)
             ? text
             : absl::StrCat(text, "  ", Painted("not local", Paint::kYellow, style));
}

std::string SpanText(const PlaceCluster& cluster, const Allocation& allocation) {
  if (cluster.network == nullptr) {
    return "";
  }
  std::vector<std::string> names;
  names.reserve(allocation.nodes.size());
  for (const NodeAllocation& part : allocation.nodes) {
    names.push_back(part.name);
  }
  return absl::StrCat("span: ", core::SpanSentence(*cluster.network, names), "\n");
}

}  // namespace

std::string PlaceDocument(const PlaceCluster& cluster, const PlaceOutcome& outcome,
                          const PlaceOptions& options) {
  if (!outcome.allocation.has_value()) {
    Json reason = ToJson(outcome.reason);
    reason["kind"] = Name(outcome.reason.kind);
    reason["text"] = ToSentence(outcome.reason);
    reason["never"] = outcome.reason.verdict == ReasonClass::kNever;
    reason.erase("verdict");
    for (std::size_t i = 0; i < outcome.reason.shortages.size(); ++i) {
      reason["shortages"][i]["text"] = ToSentence(outcome.reason.shortages[i]);
    }
    return PrintJson(Json{{"reason", std::move(reason)}, {"remarks", cluster.remarks}});
  }
  const Allocation& allocation = *outcome.allocation;
  const std::vector<core::PlacedPart> parts = PartsOf(cluster, allocation);
  Json nodes = Json::array();
  for (const core::PlacedPart& part : parts) {
    nodes.push_back(NodeJson(part, options.spec.request.gpu_share));
  }
  return PrintJson(Json{{"nodes", std::move(nodes)},
                        {"locality", LocalityOf(parts).share()},
                        {"span", SpanJson(cluster, allocation)},
                        {"predicted", PredictedJson(cluster, allocation, parts, options)},
                        {"remarks", cluster.remarks}});
}

std::string PrintPlacement(const PlaceCluster& cluster, const Allocation& allocation,
                           const PlaceOptions& options, const Style& style) {
  const std::vector<core::PlacedPart> parts = PartsOf(cluster, allocation);
  const core::Locality locality = LocalityOf(parts);
  std::string page =
      absl::StrCat(Counted(locality.ranks, "rank"), " on ", Counted(parts.size(), "node"),
                   ", locality ", absl::StrFormat("%.3f", locality.share()), "\n");
  absl::StrAppend(&page, SpanText(cluster, allocation));
  for (const core::PlacedPart& part : parts) {
    const std::optional<DeviceLink> link = WeakestOf(part);
    Tree root{.text = absl::StrCat(
                  Painted(Printable(part.allocation->name), Paint::kBold, style), "  ",
                  BytesText(part.allocation->memory.value()),
                  link.has_value() ? absl::StrCat("  weakest GPU link ", LinkText(*link)) : ""),
              .children = {}};
    for (std::size_t i = 0; i < part.allocation->ranks.size(); ++i) {
      root.children.push_back(
          {.text = RankText(part, part.allocation->ranks[i], options.spec.request.gpu_share, style),
           .children = {}});
    }
    absl::StrAppend(&page, PrintTree(root, style));
  }
  absl::StrAppend(&page, PredictionText(cluster, allocation, options));
  for (const std::string& remark : cluster.remarks) {
    absl::StrAppend(&page, "note: ", Printable(remark), "\n");
  }
  return page;
}

}  // namespace muster::cli
