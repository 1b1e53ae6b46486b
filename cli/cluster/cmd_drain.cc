#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/controller/controller.h"
#include "cli/controller/each_node.h"
#include "cli/frame/verbs.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::size_t kReasonBytesMax = 500;

// kNoTime: it was not given.
absl::StatusOr<Time> TimeIn(const Invocation& invocation, const std::string& option) {
  const std::string text = invocation.Value(option);
  if (text.empty()) {
    return kNoTime;
  }
  const SystemClock clock;
  const absl::StatusOr<Time> time = ParseBegin(text, clock.Now(), absl::LocalTimeZone());
  return time.ok() ? time
                   : absl::InvalidArgumentError(
                         absl::StrCat("--", option, ": ", std::string(time.status().message())));
}

absl::StatusOr<int> DrainLink(const Invocation& invocation, const std::string& reason) {
  if (!invocation.arguments.empty() || invocation.Has("until") || invocation.Has("deadline")) {
    return absl::InvalidArgumentError(
        "--link takes no nodes, no --until and no --deadline: what runs across it goes on");
  }
  ASSIGN_OR_RETURN(const auto ends, SwitchesIn(invocation.Value("link")));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  DrainNode command{ends.first, /*drained=*/true, reason};
  command.link_to = ends.second;
  RETURN_IF_ERROR(connection->Call(command));
  return 0;
}

absl::StatusOr<int> Drain(const Invocation& invocation) {
  const std::string reason = invocation.Value("reason");
  if (reason.empty()) {
    return absl::InvalidArgumentError("missing --reason TEXT: say why, for users who ask later");
  }
  const absl::Status fits = CheckText(reason, kReasonBytesMax);
  if (!fits.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--reason: ", std::string(fits.message())));
  }
  ASSIGN_OR_RETURN(const Time until, TimeIn(invocation, "until"));
  ASSIGN_OR_RETURN(const Time deadline, TimeIn(invocation, "deadline"));
  if (invocation.Has("link")) {
    return DrainLink(invocation, reason);
  }
  if (invocation.arguments.empty()) {
    return absl::InvalidArgumentError("name the nodes to drain, or --link SWITCH,SWITCH");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> nodes, NodesIn(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const bool narrow = invocation.Has("narrow");
  return ForEachNode("drain", nodes, [&](const std::string& node) {
    return connection->Call(DrainNode{node, /*drained=*/true, reason, until, deadline, narrow});
  });
}

}  // namespace

Verb DrainVerb() {
  Verb verb;
  verb.name = "drain";
  verb.purpose = "Take nodes out of service: what runs there goes on, nothing new starts";
  verb.synopsis = "NODE…|--link SWITCH,SWITCH --reason TEXT";
  verb.examples = {"muster drain node2 --reason 'bad DIMM in slot 4'",
                   "muster drain 'node[1-8,12]' --reason 'new kernel'",
                   "muster drain node3 --reason fans --deadline 18:00 --until tomorrow",
                   "muster drain node5 --narrow --reason 'port 1 runs at a tenth'",
                   "muster drain --link leaf1,leaf2 --reason 'one of two cables is out'"};
  verb.options = {{.name = "reason",
                   .letter = 0,
                   .metavar = "TEXT",
                   .text = "Why (required); muster nodes shows it"},
                  {.name = "until",
                   .letter = 0,
                   .metavar = "TIME",
                   .text = "Resume them then, as 18:00, now+2hours or 2026-12-01T08:00"},
                  {.name = "deadline",
                   .letter = 0,
                   .metavar = "TIME",
                   .text = "Jobs that still run then are sent back to the queue, or ended"},
                  {.name = "narrow",
                   .letter = 0,
                   .metavar = "",
                   .text = "Keep away only jobs that may span nodes"},
                  {.name = "link",
                   .letter = 0,
                   .metavar = "SWITCH,SWITCH",
                   .text = "Keep jobs from lying below both of these switches at once"}};
  verb.arguments_max = kAnyNumber;
  verb.run = Drain;
  return verb;
}

}  // namespace muster::cli
