#include "cli/connect/ssh_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/page/shell_words.h"
#include "cli/request/program_path.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr const char* kHosts = "muster-*";
constexpr const char* kKeyKind = "ssh-ed25519 ";
constexpr std::size_t kKeyBytesMax = 1024;

// Held while a file of the directory is made or written.
absl::StatusOr<UniqueFd> LockDirectory(const SshFiles& files) {
  const std::string path = files.directory + "/lock";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || flock(fd.get(), LOCK_EX) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be locked"));
  }
  return fd;
}

absl::Status MakePair(const SshFiles& files, const Environment& environment) {
  const absl::StatusOr<std::string> program = FindProgram("ssh-keygen", "/", environment);
  if (!program.ok()) {
    return absl::FailedPreconditionError(
        "ssh-keygen: not found along PATH: install openssh-client, which connect works with");
  }
  SpawnRequest request;
  request.program = *program;
  request.arguments = {
      "ssh-keygen",    "-q", "-t", "ed25519", "-N", "", "-C", "muster-connect", "-f",
      files.identity()};
  request.environment = environment.entries();
  ASSIGN_OR_RETURN(const pid_t child, Spawn(request));
  const int status = AwaitEnd(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("ssh-keygen: made no key in ", files.directory));
  }
  return absl::OkStatus();
}

bool IsKey(const std::string& key) {
  return absl::StartsWith(key, kKeyKind) && key.size() <= kKeyBytesMax &&
         key.find_first_of("\n\r") == std::string::npos;
}

}  // namespace

absl::StatusOr<SshFiles> FindSshFiles(const Environment& environment) {
  // Whatever --state says: the same files for every cluster.
  const std::string xdg = environment.Get("XDG_STATE_HOME");
  const std::string home = environment.Get("HOME");
  if (xdg.empty() && home.empty()) {
    return absl::FailedPreconditionError("HOME: is not set; the key for ssh lies below it");
  }
  SshFiles files{(xdg.empty() ? home + "/.local/state" : xdg) + "/muster/connect"};
  RETURN_IF_ERROR(EnsurePrivateDirectory(files.directory));
  return files;
}

absl::StatusOr<std::string> CallersKey(const SshFiles& files, const Environment& environment) {
  ASSIGN_OR_RETURN(const UniqueFd lock, LockDirectory(files));
  struct stat found = {};
  if (stat(files.identity().c_str(), &found) != 0) {
    RETURN_IF_ERROR(MakePair(files, environment));
  }
  const std::string path = files.identity() + ".pub";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kKeyBytesMax));
  const std::string key(absl::StripAsciiWhitespace(text));
  if (!IsKey(key)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is no key of ssh; remove it and ", files.identity()));
  }
  return key;
}

absl::StatusOr<std::string> WithServer(const std::string& text, const std::string& key) {
  if (!IsKey(key)) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(key), " is no key of an ssh server"));
  }
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  const std::string line = absl::StrCat(kHosts, " ", key);
  lines.erase(std::remove(lines.begin(), lines.end(), line), lines.end());
  lines.push_back(line);
  const std::size_t surplus = lines.size() > kKnownMax ? lines.size() - kKnownMax : 0;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(surplus));
  return absl::StrJoin(lines, "\n") + "\n";
}

absl::Status KnowServer(const SshFiles& files, const std::string& key) {
  ASSIGN_OR_RETURN(const UniqueFd lock, LockDirectory(files));
  absl::StatusOr<std::string> text = ReadFile(files.known_servers());
  if (!text.ok() && !absl::IsNotFound(text.status())) {
    return text.status();
  }
  const std::string old = text.ok() ? *std::move(text) : std::string();
  ASSIGN_OR_RETURN(const std::string now, WithServer(old, key));
  return now == old ? absl::OkStatus() : WriteFileAtomically(files.known_servers(), now);
}

std::string JobOfHost(const std::string& host) {
  return std::string(absl::StripPrefix(host, "muster-"));
}

std::string SshConfig(const SshFiles& files, const std::vector<std::string>& command) {
  const auto path = [](const std::string& text) {
    return absl::StrCat("\"", absl::StrReplaceAll(text, {{"%", "%%"}}), "\"");
  };
  return absl::StrCat("Host ", kHosts, "\n  ProxyCommand ",
                      absl::StrReplaceAll(ShellWords(command), {{"%", "%%"}}),
                      " %h\n  IdentityFile ", path(files.identity()),
                      "\n  IdentitiesOnly yes\n  UserKnownHostsFile ", path(files.known_servers()),
                      "\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n",
                      "  HostKeyAlgorithms ssh-ed25519\n");
}

}  // namespace muster::cli
