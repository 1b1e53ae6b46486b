#include "cli/sheet/node_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

// "recorded, not enforced (why)" without the why, which topo tells; "pids; not memory (why)"
// without what is missing.
std::string WithoutWhy(const std::string& text) {
  return text.empty() ? "-" : text.substr(0, std::min(text.find(" ("), text.find("; not ")));
}

// Why it is out of service, who keeps GPUs of it from jobs, and which are divided.
std::string ReasonText(const NodeView& node) {
  std::string text = node.reason;
  for (const std::string& more :
       {OccupiedText(node.name, node.gpu_occupants), LayoutsText(node.name, node.gpu_layouts)}) {
    absl::StrAppend(&text, text.empty() || more.empty() ? "" : "; ", Printable(more));
  }
  return text.empty() ? "-" : text;
}

}  // namespace

Paint NodePaint(const std::string& state) {
  if (absl::StartsWith(state, "DOWN") || absl::StrContains(state, "DRAIN")) {
    return Paint::kRed;
  }
  return state == "ALLOCATED" || absl::StrContains(state, "NARROW") ? Paint::kYellow
                                                                    : Paint::kGreen;
}

std::string PrintNodes(const std::vector<NodeView>& nodes, bool header, const Style& style) {
  const bool featured = std::any_of(nodes.begin(), nodes.end(),
                                    [](const NodeView& node) { return !node.features.empty(); });
  std::vector<Column> columns = {{.title = "NAME", .right = false, .least = 0},
                                 {.title = "STATE", .right = false, .least = 0},
                                 {.title = "CPUS", .right = true, .least = 0},
                                 {.title = "MEMORY", .right = true, .least = 0},
                                 {.title = "GPUS", .right = true, .least = 0},
                                 {.title = "BINDING", .right = false, .least = 0},
                                 {.title = "LIMITS", .right = false, .least = 12}};
  if (featured) {
    columns.push_back({.title = "FEATURES", .right = false, .least = 0});
  }
  const bool checked = std::any_of(nodes.begin(), nodes.end(),
                                   [](const NodeView& node) { return !node.health.empty(); });
  if (checked) {
    columns.push_back({.title = "HEALTH", .right = false, .least = 12});
  }
  columns.push_back({.title = "REASON", .right = false, .least = 12});
  Table table(std::move(columns));
  for (const NodeView& node : nodes) {
    std::vector<Cell> cells = {
        {.text = node.name},
        {.text = node.state, .paint = NodePaint(node.state)},
        {.text = absl::StrCat(node.cpus_taken, "/", node.cpus)},
        {.text = BytesRatio(node.memory_taken.value(), node.memory.value())},
        {.text = node.gpus == 0 ? "-" : absl::StrCat(node.gpus_taken, "/", node.gpus)},
        {.text = WithoutWhy(node.binding)},
        {.text = WithoutWhy(node.limits)}};
    if (featured) {
      cells.push_back({.text = node.features.empty() ? "-" : absl::StrJoin(node.features, ",")});
    }
    if (checked) {
      cells.push_back({.text = node.health.empty() ? "-" : node.health});
    }
    cells.push_back({.text = ReasonText(node)});
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string PrintLargest(const std::vector<LargestGpuJob>& largest, bool header,
                         const Style& style) {
  if (largest.empty()) {
    return "";
  }
  const bool networked = std::any_of(largest.begin(), largest.end(),
                                     [](const LargestGpuJob& job) { return job.on_leaf > 0; });
  std::vector<Column> columns = {{.title = "LARGEST JOB NOW", .right = false, .least = 0},
                                 {.title = "FREE", .right = true, .least = 0},
                                 {.title = "ON A NODE", .right = true, .least = 0},
                                 {.title = "BY NVLINK", .right = true, .least = 0}};
  if (networked) {
    columns.push_back({.title = "ON A LEAF", .right = true, .least = 0});
  }
  columns.push_back({.title = "ANYWHERE", .right = true, .least = 0});
  Table table(std::move(columns));
  for (const LargestGpuJob& job : largest) {
    std::vector<Cell> cells = {{.text = job.model.empty() ? "GPU" : job.model},
                               {.text = absl::StrCat(job.free, "/", job.gpus)},
                               {.text = absl::StrCat(job.on_node)},
                               {.text = absl::StrCat(job.on_nvlink)}};
    if (networked) {
      cells.push_back({.text = absl::StrCat(job.on_leaf)});
    }
    cells.push_back({.text = absl::StrCat(job.anywhere)});
    table.Add(cells);
  }
  return (header ? "\n" : "") + table.Print(style, header);
}

std::string PrintNarrowLinks(const std::vector<NarrowLink>& links, bool header,
                             const Style& style) {
  if (links.empty()) {
    return "";
  }
  Table table({{.title = "NARROW LINK", .right = false, .least = 0},
               {.title = "SINCE", .right = false, .least = 0},
               {.title = "BY", .right = false, .least = 0},
               {.title = "REASON", .right = false, .least = 12}});
  for (const NarrowLink& link : links) {
    table.Add({{.text = absl::StrCat(Printable(link.first), " - ", Printable(link.second))},
               {.text = MomentText(link.since, style.zone)},
               {.text = Printable(link.by)},
               {.text = Printable(link.reason)}});
  }
  return (header ? "\n" : "") + table.Print(style, header);
}

}  // namespace muster::cli
