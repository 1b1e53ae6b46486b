#include "cli/links/link_page.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/page/table.h"

namespace muster::cli {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e6;

std::string BandwidthText(double bytes) {
  return absl::StrFormat("%.2f GB/s", bytes / kGiga);
}

// GPUs inside a node have none.
std::string LatencyText(double seconds) {
  return seconds == 0 ? "-" : absl::StrFormat("%.1f us", seconds * kMicro);
}

std::string ClassTable(const LinkReport& report, const Style& style) {
  Table table({{.title = "CLASS", .right = false, .least = 8},
               {.title = "LINKS", .right = true, .least = 0},
               {.title = "BANDWIDTH", .right = true, .least = 0},
               {.title = "LATENCY", .right = true, .least = 0},
               {.title = "", .right = false, .least = 0}});
  for (const LinkClass& each : report.classes) {
    table.Add({{.text = each.name},
               {.text = absl::StrCat(each.links)},
               {.text = BandwidthText(each.bandwidth)},
               {.text = LatencyText(each.latency)},
               {.text = each.judged ? "" : "too few to compare"}});
  }
  return table.Print(style);
}

std::string SlowTable(const std::vector<LinkNode>& nodes, const LinkReport& report,
                      const Style& style) {
  Table table({{.title = "SLOW LINK", .right = false, .least = 8},
               {.title = "BANDWIDTH", .right = true, .least = 0},
               {.title = "OF CLASS", .right = true, .least = 0},
               {.title = "LATENCY", .right = true, .least = 0},
               {.title = "OF CLASS", .right = true, .least = 0},
               {.title = "CAUSE", .right = false, .least = 8}});
  for (const SlowLink& slow : report.slow) {
    table.Add(
        {{.text = absl::StrCat(nodes[slow.link.a].name, " - ", nodes[slow.link.b].name)},
         {.text = BandwidthText(slow.link.bandwidth)},
         {.text = absl::StrFormat("%.0f %%", 100 * slow.of_bandwidth)},
         {.text = LatencyText(slow.link.latency)},
         {.text = slow.link.latency == 0 ? "-" : absl::StrFormat("%.0f %%", 100 * slow.of_latency)},
         {.text = slow.cause, .paint = Paint::kRed}});
  }
  return table.Print(style);
}

Json LinkJson(const std::vector<LinkNode>& nodes, const MeasuredLink& link) {
  const bool measured = link.failure.empty();
  return {{"nodes", {nodes[link.a].name, nodes[link.b].name}},
          {"bandwidth", measured ? Json(link.bandwidth) : Json(nullptr)},
          {"latency", measured && link.latency > 0 ? Json(link.latency) : Json(nullptr)},
          {"failure", link.failure}};
}

}  // namespace

std::string PrintLinks(const std::vector<LinkNode>& nodes, const LinkReport& report,
                       const Style& style, const char* parts) {
  std::string page = report.classes.empty() ? "" : ClassTable(report, style);
  if (!report.slow.empty()) {
    absl::StrAppend(&page, "\n", SlowTable(nodes, report, style));
  }
  std::map<std::string, std::size_t> lacking;  // by why
  for (const MeasuredLink& link : report.failed) {
    if (link.lacking) {
      ++lacking[link.failure];
      continue;
    }
    absl::StrAppend(&page, "not measured: ", nodes[link.a].name, " - ", nodes[link.b].name, ": ",
                    link.failure, "\n");
  }
  for (const auto& [why, links] : lacking) {
    absl::StrAppend(&page, "not measured: ", links, links == 1 ? " link: " : " links: ", why, "\n");
  }
  const bool judged = !report.classes.empty();
  absl::StrAppend(&page, judged && report.slow.empty() ? "No link falls behind its class.\n" : "");
  if (!report.bad_nodes.empty()) {
    absl::StrAppend(&page, "Most links of ", absl::StrJoin(report.bad_nodes, ", "),
                    " are slow: look at its ", parts, ".\n");
  }
  for (const std::string& pair : report.bad_switches) {
    absl::StrAppend(&page, "Most links between ", pair, " are slow: look at what joins them.\n");
  }
  return page;
}

Json LinksDocument(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links,
                   const LinkReport& report) {
  Json classes = Json::array();
  for (const LinkClass& each : report.classes) {
    classes.push_back({{"class", each.name},
                       {"links", each.links},
                       {"bandwidth", each.bandwidth},
                       {"latency", each.latency > 0 ? Json(each.latency) : Json(nullptr)},
                       {"judged", each.judged}});
  }
  Json slow = Json::array();
  for (const SlowLink& each : report.slow) {
    slow.push_back({{"nodes", {nodes[each.link.a].name, nodes[each.link.b].name}},
                    {"class", report.classes[each.kind].name},
                    {"of_bandwidth", each.of_bandwidth},
                    {"of_latency", each.of_latency},
                    {"cause", each.cause}});
  }
  Json measured = Json::array();
  for (const MeasuredLink& link : links) {
    measured.push_back(LinkJson(nodes, link));
  }
  return {{"classes", std::move(classes)},
          {"slow", std::move(slow)},
          {"bad_nodes", report.bad_nodes},
          {"bad_switches", report.bad_switches},
          {"links", std::move(measured)}};
}

}  // namespace muster::cli
