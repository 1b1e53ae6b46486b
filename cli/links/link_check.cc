#include "cli/links/link_check.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/links/gpu_links.h"
#include "cli/links/link_page.h"
#include "cli/links/link_rounds.h"
#include "cli/links/link_run.h"
#include "cli/links/link_verdict.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/change/command.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kRoundsUsual = 31;
constexpr std::uint32_t kRoundsMost = 100000;
constexpr double kLeastUsual = 80;  // per cent

struct Wanted {
  std::uint32_t rounds = kRoundsUsual;
  double least = kLeastUsual / 100;
};

absl::StatusOr<Wanted> ReadWanted(const Invocation& invocation) {
  Wanted wanted;
  if (invocation.Has("rounds")) {
    const absl::StatusOr<std::uint32_t> rounds =
        ParseCount(invocation.Value("rounds"), kRoundsMost);
    if (!rounds.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--rounds: ", Quote(invocation.Value("rounds")),
                       " is not a whole number from 1 to ", kRoundsMost));
    }
    wanted.rounds = *rounds;
  }
  if (invocation.Has("least")) {
    double percent = 0;
    if (!absl::SimpleAtod(invocation.Value("least"), &percent) || !(percent > 0 && percent < 100)) {
      return absl::InvalidArgumentError(absl::StrCat("--least: ", Quote(invocation.Value("least")),
                                                     " is not a number between 0 and 100"));
    }
    wanted.least = percent / 100;
  }
  return wanted;
}

// What is measured: idle nodes, but no pair of them that a narrow link lies between.
struct Measurable {
  std::vector<LinkNode> nodes;
  std::vector<NarrowLink> narrow;
  std::vector<GpuNode> gpu_nodes;
};

bool HasLinksInside(const Measurable& measurable) {
  return std::any_of(measurable.gpu_nodes.begin(), measurable.gpu_nodes.end(),
                     [](const GpuNode& node) { return node.gpus.size() > 1; });
}

// The nodes that are idle now, of those named or of all.
absl::StatusOr<Measurable> IdleNodes(const Invocation& invocation, Connection& connection) {
  ASSIGN_OR_RETURN(const NodeList list, connection.Call(ListNodes{}));
  const std::vector<NodeView>& views = list.nodes;
  const std::vector<std::string>& names = invocation.arguments;
  Measurable measurable;
  measurable.narrow = list.narrow_links;
  std::vector<LinkNode>& nodes = measurable.nodes;
  std::vector<NodeView> idle;
  for (const NodeView& view : views) {
    const bool named = std::find(names.begin(), names.end(), view.name) != names.end();
    if (view.state == "IDLE" && (names.empty() || named)) {
      nodes.push_back({view.name, view.topology});
      idle.push_back(view);
    } else if (named || (names.empty() && absl::StrContains(view.state, "+NARROW"))) {
      std::cerr << "muster health: " << view.name << " is " << view.state << ": left out\n";
    }
  }
  for (const std::string& name : names) {
    if (std::none_of(views.begin(), views.end(),
                     [&name](const NodeView& view) { return view.name == name; })) {
      return absl::NotFoundError(absl::StrCat("node ", Quote(name), ": no such node"));
    }
  }
  ASSIGN_OR_RETURN(measurable.gpu_nodes, GpuNodesOf(idle, connection));
  if (nodes.size() < 2 && !HasLinksInside(measurable)) {
    return absl::FailedPreconditionError(
        absl::StrCat("a link has two ends, and ",
                     nodes.size() == 1 ? "one node, without two GPUs, is" : "no node is",
                     " idle: see muster nodes"));
  }
  for (const NarrowLink& link : list.narrow_links) {
    std::cerr << "muster health: the link between " << link.first << " and " << link.second
              << " is narrow: left out\n";
  }
  return measurable;
}

bool IsKeptApart(const Measurable& measurable, const LinkNode& a, const LinkNode& b) {
  return std::any_of(
      measurable.narrow.begin(), measurable.narrow.end(),
      [&](const NarrowLink& link) { return LiesBetween(a, b, link.first, link.second); });
}

absl::StatusOr<Survey> SurveyNodes(const Invocation& invocation, const Measurable& measurable,
                                   const Wanted& wanted) {
  Survey survey;
  survey.ends = measurable.nodes;
  const std::vector<LinkNode>& nodes = measurable.nodes;
  if (nodes.size() < 2) {
    return survey;
  }
  ASSIGN_OR_RETURN(const LinkRun run, LinkRun::Make(invocation, "pingpong"));
  survey.links = MeasureRounds(
      "links", LinkRounds(nodes.size(), wanted.rounds),
      [&](std::size_t a, std::size_t b) { return !IsKeptApart(measurable, nodes[a], nodes[b]); },
      [&](MeasuredLink& link) {
        TakeReport(run.On({nodes[link.a].name, nodes[link.b].name}, 1, {}, {"--n", "4M"}), link);
      });
  survey.report = JudgeLinks(nodes, survey.links, wanted.least);
  return survey;
}

// Of GPUs: between nodes, then inside of them; none where nothing measures them.
std::vector<Survey> SurveyGpus(const Invocation& invocation, const Measurable& measurable,
                               const Wanted& wanted) {
  const std::vector<GpuNode>& nodes = measurable.gpu_nodes;
  if (nodes.size() < 2 && !HasLinksInside(measurable)) {
    return {};
  }
  const absl::StatusOr<LinkRun> run = LinkRun::Make(invocation, "nccl");
  if (!run.ok()) {
    std::cerr << "muster health: links of GPUs are not measured: " << run.status().message()
              << "\n";
    return {};
  }
  std::vector<Survey> surveys;
  if (nodes.size() > 1) {
    surveys.push_back(
        SurveyBetween(*run, nodes, wanted.rounds, wanted.least, [&](std::size_t a, std::size_t b) {
          return !IsKeptApart(measurable, nodes[a].node, nodes[b].node);
        }));
  }
  std::vector<Survey> inside = SurveysInside(*run, nodes, wanted.least);
  std::move(inside.begin(), inside.end(), std::back_inserter(surveys));
  return surveys;
}

std::string PageOf(const Survey& nodes, const std::vector<Survey>& gpus, const Style& style) {
  std::string page = nodes.links.empty() ? "" : PrintLinks(nodes.ends, nodes.report, style);
  for (const Survey& survey : gpus) {
    absl::StrAppend(
        &page, page.empty() ? "" : "\n", survey.title, ":\n",
        PrintLinks(survey.ends, survey.report, style,
                   survey.between_nodes ? "GPUs, NICs and cables" : "NVLinks or its PCIe slot"));
  }
  return page;
}

Json DocumentOf(const Survey& nodes, const std::vector<Survey>& gpus) {
  Json document = LinksDocument(nodes.ends, nodes.links, nodes.report);
  document["gpus"] = Json::array();
  for (const Survey& survey : gpus) {
    Json one = {{"what", survey.title}};
    one.update(LinksDocument(survey.ends, survey.links, survey.report));
    document["gpus"].push_back(std::move(one));
  }
  return document;
}

// Whether a link is slow, or has no result though it can be measured.
bool FoundSomething(const LinkReport& report) {
  return !report.slow.empty() ||
         std::any_of(report.failed.begin(), report.failed.end(),
                     [](const MeasuredLink& link) { return !link.lacking; });
}

absl::Status DrainBad(Connection& connection, const std::vector<LinkNode>& nodes,
                      const LinkReport& report, bool narrow) {
  for (const auto& [node, reason] : narrow ? NarrowNodes(nodes, report) : BadNodes(report)) {
    RETURN_IF_ERROR(
        connection.Call(DrainNode{node, /*drained=*/true, reason, kNoTime, kNoTime, narrow}));
    std::cerr << "muster health: drained " << node
              << (narrow ? " for jobs that may span nodes: " : ": ") << reason << "\n";
  }
  for (const SwitchPair& pair :
       narrow ? NarrowSwitches(nodes, report) : std::vector<SwitchPair>()) {
    DrainNode command{pair.first, /*drained=*/true, pair.reason};
    command.link_to = pair.second;
    RETURN_IF_ERROR(connection.Call(command));
    std::cerr << "muster health: jobs are kept off the link between " << pair.first << " and "
              << pair.second << ": " << pair.reason << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> LinkOptions() {
  return {{.name = "links",
           .letter = 0,
           .metavar = "",
           .text = "Measure latency and bandwidth between idle nodes (those named, else all) and "
                   "between their GPUs, two by two, and name what falls behind"},
          {.name = "rounds",
           .letter = 0,
           .metavar = "N",
           .text = "links: partners of each node (default 31; with fewer nodes all others)"},
          {.name = "least",
           .letter = 0,
           .metavar = "PERCENT",
           .text = "links: of its class's bandwidth that a link must have (default 80)"},
          {.name = "drain",
           .letter = 0,
           .metavar = "",
           .text = "links: drain nodes most of whose links are slow"},
          {.name = "narrow",
           .letter = 0,
           .metavar = "",
           .text = "links: keep jobs that may span nodes off slow links, and off those between "
                   "switches"}};
}

absl::StatusOr<int> CheckLinks(const Invocation& invocation, Connection& connection) {
  ASSIGN_OR_RETURN(const Wanted wanted, ReadWanted(invocation));
  ASSIGN_OR_RETURN(const Measurable measurable, IdleNodes(invocation, connection));
  ASSIGN_OR_RETURN(const Survey nodes, SurveyNodes(invocation, measurable, wanted));
  const std::vector<Survey> gpus = SurveyGpus(invocation, measurable, wanted);
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? PrintJson(DocumentOf(nodes, gpus))
                                                  : PageOf(nodes, gpus, style)));
  const bool narrow = invocation.Has("narrow");
  bool found = FoundSomething(nodes.report);
  if (narrow || invocation.Has("drain")) {
    RETURN_IF_ERROR(DrainBad(connection, nodes.ends, nodes.report, narrow));
  }
  for (const Survey& survey : gpus) {
    found = found || FoundSomething(survey.report);
    if (survey.between_nodes && (narrow || invocation.Has("drain"))) {
      RETURN_IF_ERROR(DrainBad(connection, survey.ends, survey.report, narrow));
    }
  }
  return found ? 1 : 0;
}

}  // namespace muster::cli
