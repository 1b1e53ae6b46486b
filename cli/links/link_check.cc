#include "cli/links/link_check.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/own_command.h"
#include "cli/frame/progress_bar.h"
#include "cli/kernel/kernel_catalogue.h"
#include "cli/kernel/kernel_process.h"
#include "cli/links/link_page.h"
#include "cli/links/link_rounds.h"
#include "cli/links/link_verdict.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/change/command.h"
#include "scheduler/runtime/clock.h"

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

// The nodes that are idle now, of those named or of all.
absl::StatusOr<std::vector<LinkNode>> IdleNodes(const Invocation& invocation,
                                                Connection& connection) {
  ASSIGN_OR_RETURN(const NodeList list, connection.Call(ListNodes{}));
  const std::vector<NodeView>& views = list.nodes;
  const std::vector<std::string>& names = invocation.arguments;
  std::vector<LinkNode> nodes;
  for (const NodeView& view : views) {
    const bool named = std::find(names.begin(), names.end(), view.name) != names.end();
    if (view.state == "IDLE" && (names.empty() || named)) {
      nodes.push_back({view.name, view.topology});
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
  if (nodes.size() < 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("a link has two ends, and ", nodes.size() == 1 ? "one node is" : "no node is",
                     " idle: see muster nodes"));
  }
  return nodes;
}

// `muster run` of two ranks of the kernel; {0} and {1} in front of it are the nodes.
class PairRun {
 public:
  static absl::StatusOr<PairRun> Make(const Invocation& invocation) {
    ASSIGN_OR_RETURN(const BundledKernel kernel, FindKernel("pingpong"));
    ASSIGN_OR_RETURN(std::string program, KernelProgram(kernel, invocation.environment));
    ASSIGN_OR_RETURN(std::string self, OwnProgram());
    std::vector<std::string> words = {std::move(self), "run"};
    for (const char* option : {"controller", "state"}) {
      if (invocation.Has(option)) {
        words.push_back(absl::StrCat("--", option, "=", invocation.Value(option)));
      }
    }
    return PairRun(invocation.environment, std::move(words), std::move(program));
  }

  void Measure(const std::vector<LinkNode>& nodes, MeasuredLink& link) const {
    std::vector<std::string> words = words_;
    words.insert(words.end(), {"--job-name=links", "-N", "2", "-n", "2", "--ntasks-per-node=1",
                               "--exclusive", "-t", "2", "--deadline=now+3minutes", "-w",
                               absl::StrCat(nodes[link.a].name, ",", nodes[link.b].name), program_,
                               "--n", "4M", "--repeat", "5", "--json"});
    // Inside a job this would be a step of it.
    const absl::StatusOr<Json> document =
        MeasureKernel(words, environment_, {"MUSTER_JOB_ID", "SLURM_JOB_ID", "SLURM_JOBID"});
    if (!document.ok()) {
      link.failure =
          "the ranks had no result: see muster history --user " + environment_.Get("USER");
      return;
    }
    link.latency = document->value("latency_us", 0.0) * 1e-6;
    link.bandwidth = document->value("bandwidth_gb_per_s", 0.0) * 1e9;
  }

 private:
  PairRun(const Environment& environment, std::vector<std::string> words, std::string program)
      : environment_(environment), words_(std::move(words)), program_(std::move(program)) {}

  const Environment& environment_;
  std::vector<std::string> words_;
  std::string program_;
};

std::vector<MeasuredLink> MeasureAll(const PairRun& run, const std::vector<LinkNode>& nodes,
                                     std::size_t most) {
  const std::vector<LinkRound> rounds = LinkRounds(nodes.size(), most);
  const SystemClock clock;
  ProgressBar bar("links", "rounds", clock, STDERR_FILENO);
  std::vector<MeasuredLink> links;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    bar.Show(static_cast<double>(i) / static_cast<double>(rounds.size()), i);
    std::vector<MeasuredLink> round;
    for (const auto& [a, b] : rounds[i]) {
      round.push_back({.a = a, .b = b, .failure = ""});
    }
    std::vector<std::thread> threads;
    threads.reserve(round.size());
    for (MeasuredLink& link : round) {
      threads.emplace_back([&] { run.Measure(nodes, link); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    links.insert(links.end(), round.begin(), round.end());
  }
  bar.Wipe();
  return links;
}

absl::Status DrainBad(Connection& connection, const std::vector<LinkNode>& nodes,
                      const LinkReport& report, bool narrow) {
  for (const auto& [node, reason] : narrow ? NarrowNodes(nodes, report) : BadNodes(report)) {
    RETURN_IF_ERROR(
        connection.Call(DrainNode{node, /*drained=*/true, reason, kNoTime, kNoTime, narrow}));
    std::cerr << "muster health: drained " << node
              << (narrow ? " for jobs that may span nodes: " : ": ") << reason << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> LinkOptions() {
  return {{.name = "links",
           .letter = 0,
           .metavar = "",
           .text = "Measure latency and bandwidth between idle nodes (those named, else all), two "
                   "by two, and name what falls behind"},
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
           .text = "links: keep only jobs that may span nodes off slow links"}};
}

absl::StatusOr<int> CheckLinks(const Invocation& invocation, Connection& connection) {
  ASSIGN_OR_RETURN(const Wanted wanted, ReadWanted(invocation));
  ASSIGN_OR_RETURN(const PairRun run, PairRun::Make(invocation));
  ASSIGN_OR_RETURN(const std::vector<LinkNode> nodes, IdleNodes(invocation, connection));
  const std::vector<MeasuredLink> links = MeasureAll(run, nodes, wanted.rounds);
  const LinkReport report = JudgeLinks(nodes, links, wanted.least);
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? PrintJson(LinksDocument(nodes, links, report))
                                                  : PrintLinks(nodes, report, style)));
  const bool narrow = invocation.Has("narrow");
  if (narrow || invocation.Has("drain")) {
    RETURN_IF_ERROR(DrainBad(connection, nodes, report, narrow));
  }
  return report.slow.empty() && report.failed.empty() ? 0 : 1;
}

}  // namespace muster::cli
