#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/connect/port_words.h"
#include "cli/connect/relayed_port.h"
#include "cli/frame/own_command.h"
#include "cli/frame/verbs.h"
#include "cli/run/entered_step.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> ForwardPort(const Invocation& invocation) {
  const bool relays = invocation.Has("relay");
  if (invocation.arguments.size() != (relays ? 1 : 2)) {
    return absl::InvalidArgumentError("give the JOB and the PORT");
  }
  ASSIGN_OR_RETURN(const ForwardedPort port, ParseForwardedPort(invocation.arguments.back()));
  if (relays) {
    return RelayPort(port);
  }
  if (invocation.Has("carry")) {
    ASSIGN_OR_RETURN(const std::string self, OwnProgram());
    EnteringCommand command;
    command.verb = "forward";
    command.job = invocation.arguments.front();
    command.argv = {self, "forward", "--relay", invocation.arguments.back()};
    command.quiet = true;
    return RunInside(invocation, command);
  }
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM, SIGHUP}));
  const std::string& job = invocation.arguments.front();
  return ServePort(invocation, job, port, signals.get(), [&](std::uint16_t local) {
    std::cout << absl::StrCat("127.0.0.1:", local, " leads to ", EndOf(port), " in job ", job,
                              "; Ctrl-C ends it\n")
              << std::flush;
  });
}

}  // namespace

Verb ForwardVerb() {
  Verb verb;
  verb.name = "forward";
  verb.purpose = "Make a port of a running job reachable on this machine";
  verb.synopsis = "JOB [LOCAL:]PORT | JOB LOCAL:HOST:PORT";
  verb.examples = {"muster forward 12 8888", "muster forward last 0:6006",
                   "muster forward --node n2 12 9000:db:5432"};
  verb.remarks =
      "Listens on 127.0.0.1 here, and carries each connection into the job and from there to "
      "PORT,\n"
      "on the node itself or on HOST. No port is opened on the node. LOCAL 0: any that is free.";
  verb.options = EnterOptions();
  for (const char* inner : {"carry", "relay"}) {
    verb.options.push_back({.name = inner, .letter = 0, .metavar = "", .text = ""});
  }
  verb.arguments_min = 1;
  verb.arguments_max = 2;
  verb.run = ForwardPort;
  return verb;
}

}  // namespace muster::cli
