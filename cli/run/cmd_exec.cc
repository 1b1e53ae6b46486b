#include "cli/frame/verbs.h"
#include "cli/run/entered_step.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Exec(const Invocation& invocation) {
  EnteringCommand command;
  command.verb = "exec";
  command.job = invocation.arguments.front();
  command.argv.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  command.terminal = invocation.Has("pty");
  command.quiet = invocation.Has("quiet");
  return RunInside(invocation, command);
}

}  // namespace

Verb ExecVerb() {
  Verb verb;
  verb.name = "exec";
  verb.purpose = "Run a command inside a running job";
  verb.synopsis = "JOB[.STEP] -- CMD [ARG…]";
  verb.examples = {"muster exec 12 -- nvidia-smi", "muster exec --pty last -- bash",
                   "muster exec --rank 3 12.1 -- py-spy dump --pid 4711"};
  verb.remarks =
      "With the job's environment, devices and limits, beside what runs there; what it uses is "
      "the\n"
      "job's. On the node of the job's script, unless --node or --rank says another. A step or "
      "--rank:\nwith the cores, GPUs and environment of that rank. The exit code is CMD's.";
  verb.options = EnterOptions();
  verb.options.push_back({.name = "pty",
                          .letter = 't',
                          .metavar = "",
                          .text = "Give CMD a terminal, and this one's keys to it"});
  verb.options.push_back({.name = "quiet",
                          .letter = 'q',
                          .metavar = "",
                          .text = "Leave it to CMD to say how it ended"});
  verb.arguments_min = 2;
  verb.arguments_max = kAnyNumber;
  verb.run = Exec;
  return verb;
}

}  // namespace muster::cli
