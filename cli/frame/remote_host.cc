#include "cli/frame/remote_host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/page/shell_words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
absl::StatusOr<RemoteCommand> OnHost(const std::vector<std::string>& ssh, const std::string& host,
                                     const std::vector<std::string>& words, std::size_t script,
                                     bool terminal) {
  if (host.empty() || host.front() == '-') {
    return absl::InvalidArgumentError(
        absl::StrCat("--host: ", Quote(host), " is not a host: use a name as for ssh"));
  }
  RemoteCommand command;
  std::vector<std::string> there = {"muster"};
  there.insert(there.end(), words.begin(), words.end());
  if (script < words.size()) {
    command.script = words[script];
    there[script + 1] = "-";
  }
  command.argv = ssh;
  if (terminal && command.script.empty()) {
    command.argv.emplace_back("-t");
  }
  command.argv.insert(command.argv.end(), {"--", host, ShellWords(there)});
  return command;
}

absl::Status BecomeRemote(const Environment& environment, const std::string& host,
                          const std::vector<std::string>& words, std::size_t script) {
  const std::string said = environment.Get("MUSTER_SSH");
  const std::vector<std::string> ssh =
      absl::StrSplit(said.empty() ? "ssh" : said, ' ', absl::SkipEmpty());
  const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  ASSIGN_OR_RETURN(const RemoteCommand command, OnHost(ssh, host, words, script, terminal));
  if (!command.script.empty()) {
    const int file = open(command.script.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || dup2(file, STDIN_FILENO) < 0) {
      return absl::ErrnoToStatus(errno, command.script);
    }
  }
  std::vector<char*> argv;
  for (const std::string& word : command.argv) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  return absl::UnavailableError(
      absl::StrCat("--host: ", command.argv.front(), ": ",
                   std::strerror(errno),  // NOLINT(concurrency-mt-unsafe)
                   "; install openssh-client, or name another in $MUSTER_SSH"));
}

}  // namespace muster::cli
