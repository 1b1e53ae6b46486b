#include <algorithm>
#include <utility>

#include "cli/controller/controller.h"
#include "cli/controller/each_node.h"
#include "cli/frame/verbs.h"
#include "cli/parse/number.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameBytesMax = 500;

// What the words name: "12", "12_3" and "12_[3-5]" are jobs, all else nodes.
struct Resumed {
  std::vector<JobSelector> jobs;
  std::vector<std::string> nodes;  // lists of them, as written
};

absl::StatusOr<Resumed> Sort(const std::vector<std::string>& words) {
  Resumed resumed;
  for (const std::string& word : words) {
    RETURN_IF_ERROR(CheckText(word, kNameBytesMax));
    absl::StatusOr<JobSelector> job = ParseSelector(word);
    if (job.ok()) {
      resumed.jobs.push_back(*std::move(job));
    } else {
      resumed.nodes.push_back(word);
    }
  }
  return resumed;
}

absl::StatusOr<int> ResumeLink(const Invocation& invocation) {
  if (!invocation.arguments.empty()) {
    return absl::InvalidArgumentError("--link takes no jobs or nodes beside it");
  }
  ASSIGN_OR_RETURN(const auto ends, SwitchesIn(invocation.Value("link")));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  DrainNode command{ends.first, /*drained=*/false, ""};
  command.link_to = ends.second;
  RETURN_IF_ERROR(connection->Call(command));
  return 0;
}

absl::StatusOr<int> Resume(const Invocation& invocation) {
  if (invocation.Has("link")) {
    return ResumeLink(invocation);
  }
  if (invocation.arguments.empty()) {
    return absl::InvalidArgumentError("name the jobs or nodes to resume, or --link SWITCH,SWITCH");
  }
  ASSIGN_OR_RETURN(const Resumed resumed, Sort(invocation.arguments));
  ASSIGN_OR_RETURN(const std::vector<std::string> nodes, NodesIn(resumed.nodes));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const int code, ForEachNode("resume", nodes, [&](const std::string& node) {
                     return connection->Call(DrainNode{node, /*drained=*/false, ""});
                   }));
  if (resumed.jobs.empty()) {
    return code;
  }
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<SuspendJob>{{.suspended = false}, resumed.jobs}));
  return std::max(code, ReportChange("resume", outcome));
}

}  // namespace

Verb ResumeVerb() {
  Verb verb;
  verb.name = "resume";
  verb.purpose = "Let suspended jobs run again, or put drained nodes back into service";
  verb.synopsis = "JOB…|NODE…|--link SWITCH,SWITCH";
  verb.examples = {"muster resume 12", "muster resume 12_[3-5]", "muster resume 'node[1-8]'",
                   "muster resume --link leaf1,leaf2"};
  verb.remarks =
      "A word that is a job's number, such as 12 or 12_3, is a job; anything else is a node. A "
      "job\n"
      "runs again once its own cores are free; until then it stays SUSPENDED and says who has "
      "them.";
  verb.options = {{.name = "link",
                   .letter = 0,
                   .metavar = "SWITCH,SWITCH",
                   .text = "The link between these switches is as others again"}};
  verb.arguments_max = kAnyNumber;
  verb.run = Resume;
  return verb;
}

}  // namespace muster::cli
