#include <iostream>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/connect/first_line.h"
#include "cli/connect/ssh_files.h"
#include "cli/connect/sshd_script.h"
#include "cli/frame/own_command.h"
#include "cli/frame/verbs.h"
#include "cli/run/entered_step.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr int kCannotRunShell = 127;  // as shells say

// The server's key comes by the controller's channel, before ssh hears of the server.
void LearnServer(const SshFiles& files, const std::string& line) {
  const bool marked = absl::StartsWith(line, kHostKeyMark);
  const absl::Status known =
      marked ? KnowServer(files, line.substr(std::string(kHostKeyMark).size()))
             : absl::FailedPreconditionError("the job's side did not tell its key");
  if (!known.ok()) {
    std::cerr << "muster connect: " << std::string(known.message()) << std::endl;
  }
}

absl::StatusOr<int> Connect(const Invocation& invocation) {
  const bool config = invocation.Has("config");
  if (invocation.arguments.size() != (config ? 0 : 1)) {
    return absl::InvalidArgumentError("name one JOB, or give --config alone");
  }
  ASSIGN_OR_RETURN(const SshFiles files, FindSshFiles(invocation.environment));
  ASSIGN_OR_RETURN(const std::string key, CallersKey(files, invocation.environment));
  if (config) {
    ASSIGN_OR_RETURN(const std::vector<std::string> command, OwnCommand(invocation, "connect"));
    std::cout << SshConfig(files, command) << std::flush;
    return 0;
  }
  const auto first =
      std::make_shared<FirstLine>([&files](const std::string& line) { LearnServer(files, line); });
  EnteringCommand entering;
  entering.verb = "connect";
  entering.job = JobOfHost(invocation.arguments.front());
  entering.argv = {"/bin/sh", "-c", kSshdScript, "muster-connect", key};
  entering.quiet = true;
  entering.passes = [first](std::string_view bytes) { return first->Pass(bytes); };
  ASSIGN_OR_RETURN(const int code, RunInside(invocation, entering));
  if (code == kCannotRunShell) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", entering.job, ": /bin/sh cannot be run there"));
  }
  return code;
}

}  // namespace

Verb ConnectVerb() {
  Verb verb;
  verb.name = "connect";
  verb.purpose = "Let ssh, scp, rsync or an IDE into a running job";
  verb.forms = {"JOB", "--config"};
  verb.examples = {"muster connect --config >> ~/.ssh/config", "ssh muster-12",
                   "rsync -a data/ muster-last:data/",
                   "ssh -o ProxyCommand='muster connect 12' job"};
  verb.remarks =
      "A ProxyCommand of ssh: serves one connection inside the job, as its user, without a port\n"
      "that is open. --config prints what ~/.ssh/config needs for hosts named muster-JOB.";
  verb.options = EnterOptions();
  verb.options.push_back({.name = "config",
                          .letter = 0,
                          .metavar = "",
                          .text = "Print lines for ~/.ssh/config, and connect to nothing"});
  verb.arguments_max = 1;
  verb.run = Connect;
  return verb;
}

}  // namespace muster::cli
