#include "cli/sheet/explanation_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/sheet/job_table.h"
#include "cli/sheet/worth_text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

std::string MemoryNodes(const NumaSet& nodes) {
  return nodes.Empty() ? "any" : nodes.ToList();
}

std::string GpuNumbers(const std::vector<std::uint32_t>& gpus) {
  return NumberList({gpus.begin(), gpus.end()});
}

std::string NodeGpus(const NodeAllocation& node) {
  std::string list;
  for (const GpuGrant& grant : node.gpus) {
    absl::StrAppend(&list, list.empty() ? "" : ",", grant.gpu);
    if (grant.share != kWholeGpu) {
      absl::StrAppend(&list, " (", grant.share.value(), "/1000)");
    }
  }
  return list;
}

bool HasPartOf(const Allocation& allocation, const std::string& node) {
  return std::any_of(allocation.nodes.begin(), allocation.nodes.end(),
                     [&node](const NodeAllocation& part) { return part.name == node; });
}

// The nodes that the job has no part of.
std::string NodeTable(const JobExplanation& explanation, const Style& style) {
  Table table({{.title = "NODE", .right = false, .least = 0},
               {.title = "FITS", .right = false, .least = 0},
               {.title = "WHY", .right = false, .least = 0}});
  bool any = false;
  for (const NodeAnswer& answer : explanation.nodes) {
    if (HasPartOf(explanation.allocation, answer.node)) {
      continue;
    }
    any = true;
    table.Add(
        {{.text = answer.node},
         {.text = answer.fits ? "yes" : "no", .paint = answer.fits ? Paint::kGreen : Paint::kRed},
         {.text = answer.text}});
  }
  return any ? table.Print(style, true, 2) : "";
}

// What the controller says of the node that the job got `part` of; "" when it says nothing.
std::string WhyThere(const JobExplanation& explanation, const NodeAllocation& part) {
  for (const NodeAnswer& answer : explanation.nodes) {
    if (answer.node == part.name) {
      return answer.text;
    }
  }
  return "";
}

// What the controller says, or what the view says where it has no sentence.
std::string Summary(const JobExplanation& explanation) {
  const JobView& job = explanation.job;
  if (!explanation.summary.empty()) {
    return explanation.summary;
  }
  if (IsTerminal(job.state)) {
    return job.exit_text.empty() ? ExitText({.code = job.exit_code, .signal = job.exit_signal})
                                 : job.exit_text;
  }
  return job.nodes.empty() ? job.reason.text
                           : absl::StrCat("placed on ", CompressHostlist(job.nodes));
}

std::string EndLine(const JobView& job, Time now, const Style& style) {
  if (job.start_time == kNoTime) {
    return absl::StrCat("  ended ", MomentText(job.end_time, style.zone),
                        " without having started\n");
  }
  return absl::StrCat("  ended ", MomentText(job.end_time, style.zone), " after ",
                      PreciseText(Elapsed(job, now)), " on ",
                      Printable(CompressHostlist(job.nodes)), ", ",
                      ExitText({.code = job.exit_code, .signal = job.exit_signal}), "\n");
}

// "now", or "2026-11-21 12:30:00, in 1:20:00".
std::string WhenText(Time start, Time now, const Style& style) {
  return start <= now
             ? "now"
             : absl::StrCat(MomentText(start, style.zone), ", in ", ElapsedText(start - now));
}

// "estimate 12:00, from runs of jobs like it; its limit is 1:00:00 (his guesses were closer)".
std::string EstimateLine(const JobExplanation& explanation) {
  const JobEstimate& estimate = explanation.estimate;
  if (estimate.used.count() == 0) {
    return "";
  }
  constexpr std::array<const char*, 5> kSources = {
      "its limit: too little is known of the user",
      "runs of this user's jobs of that name, limit and size",
      "runs of this user's jobs of that limit", "how much of their limits this user's jobs use",
      "runs of this user's jobs of that name and limit"};
  std::string line = absl::StrCat("  estimate ", ElapsedText(estimate.used),
                                  ", for the order of the queue, not for promises");
  const auto source = static_cast<std::size_t>(estimate.source);
  if (source < kSources.size()) {
    absl::StrAppend(&line, "; from ",
                    estimate.trust < 0 && estimate.source != EstimateSource::kLimit
                        ? absl::StrCat("its limit, for guesses (", ElapsedText(estimate.guess),
                                       ") have been worse")
                        : std::string(kSources[source]));
  }
  if (estimate.source != EstimateSource::kLimit) {
    absl::StrAppend(&line,
                    absl::StrFormat("; this user's guesses were %.1f doublings %s than limits",
                                    std::abs(static_cast<double>(estimate.trust)) / 1000,
                                    estimate.trust < 0 ? "further off" : "closer"));
  }
  return line + "\n";
}

// "priority 2147483900: base 2147483648 + age 252 (0.000252 of 1000000)".
std::string PriorityLine(const Priority& priority) {
  if (priority.terms.empty()) {
    return "";
  }
  std::string line = absl::StrCat("  priority ", priority.total, ":");
  for (const PriorityTerm& term : priority.terms) {
    if (term.weight == 0 && term.points == 0) {
      continue;
    }
    absl::StrAppend(&line,
                    term.points < 0      ? " - "
                    : line.back() == ':' ? " "
                                         : " + ",
                    term.name, " ", term.points < 0 ? -term.points : term.points);
    if (term.weight > 0) {
      absl::StrAppend(
          &line, absl::StrFormat(" (%.6f of %d)",
                                 static_cast<double>(term.factor.value()) / kWholeFactor.value(),
                                 term.weight));
    }
  }
  return line + "\n";
}

// When a waiting job is expected to start, and what would make it sooner.
std::string StartLines(const JobExplanation& explanation, Time now, const Style& style) {
  std::string lines;
  if (explanation.job.expected_start != kNoTime) {
    absl::StrAppend(&lines, "  expected to start by ",
                    MomentText(explanation.job.expected_start, style.zone), "\n");
  }
  if (explanation.promised != kNoTime) {
    absl::StrAppend(&lines, "  promised to start by ", MomentText(explanation.promised, style.zone),
                    " at the latest\n");
  }
  for (const Suggestion& suggestion : explanation.suggestions) {
    absl::StrAppend(&lines, "  sooner with ", Printable(suggestion.change), ": ",
                    WhenText(suggestion.start, now, style), "\n");
  }
  return lines;
}

}  // namespace

Tree BindingTree(const NodeAllocation& node, const std::string& why) {
  const std::string gpus = NodeGpus(node);
  Tree tree{.text = absl::StrCat(Printable(node.name), "  cpus ", node.cpus.ToList(), ", memory ",
                                 BytesText(node.memory.value()), " on NUMA ",
                                 MemoryNodes(node.mem_nodes), gpus.empty() ? "" : ", GPUs ", gpus),
            .children = {}};
  if (!why.empty()) {
    tree.children.push_back({.text = "why: " + Printable(why), .children = {}});
  }
  for (const RankPlacement& rank : node.ranks) {
    tree.children.push_back(
        {.text = absl::StrCat("rank ", rank.rank),
         .children = {{.text = absl::StrCat("cores: cpus ", rank.cpus.ToList()), .children = {}},
                      {.text = absl::StrCat("memory: NUMA ", MemoryNodes(rank.mem_nodes)),
                       .children = {}}}});
    if (!rank.gpus.empty()) {
      tree.children.back().children.push_back(
          {.text = absl::StrCat("GPUs: ", GpuNumbers(rank.gpus)), .children = {}});
    }
  }
  return tree;
}

std::string PrintExplanation(const JobExplanation& explanation, Time now, const Style& style) {
  const JobView& job = explanation.job;
  std::string page = absl::StrCat(Painted("job " + Printable(job.label), Paint::kBold, style), " ",
                                  Painted(job.state, StatePaint(job.state), style), ": ",
                                  Printable(Summary(explanation)), "\n");
  if (IsTerminal(job.state)) {
    page += EndLine(job, now, style);
  }
  if (!job.binding.empty()) {
    absl::StrAppend(&page, "  binding ", Printable(job.binding), "\n");
  }
  if (!job.alert.empty()) {
    absl::StrAppend(&page, "  ", Painted("alert: " + Printable(job.alert), Paint::kRed, style),
                    "\n");
  }
  page += PriorityLine(explanation.priority);
  page += StartLines(explanation, now, style);
  page += EstimateLine(explanation);
  page += NodeTable(explanation, style);
  for (const std::string& line :
       {LocalityText(explanation.placement), CollectiveText(explanation.placement, job)}) {
    absl::StrAppend(&page, line.empty() ? "" : "  ", line, line.empty() ? "" : "\n");
  }
  for (const NodeAllocation& part : explanation.allocation.nodes) {
    page += PrintTree(BindingTree(part, WhyThere(explanation, part)), style, "  ");
  }
  return page;
}

}  // namespace muster::cli
