#include "cli/request/given_variables.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kEndPatience{1};
constexpr int kAnswer = 3;  // the shell's descriptor for what it is asked; profiles print elsewhere
constexpr std::size_t kLoginBytesMax = std::size_t{4} << 20;

std::string_view NamePart(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// Of the shell that was run, and of no login.
bool IsOfTheShell(std::string_view entry) {
  constexpr std::array<std::string_view, 4> kNames = {"PWD", "OLDPWD", "SHLVL", "_"};
  return std::find(kNames.begin(), kNames.end(), NamePart(entry)) != kNames.end();
}

bool IsEntry(const std::string& entry) {
  const std::size_t equals = entry.find('=');
  return equals != std::string::npos && equals > 0 && IsUtf8(entry);
}

// Until its end, or nothing more comes for too long.
std::string ReadUntil(int fd, SteadyTime end, const Clock& clock) {
  std::string text;
  std::array<char, 65536> buffer = {};
  while (text.size() <= kLoginBytesMax) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - clock.SteadyNow()).count();
    pollfd waits = {.fd = fd, .events = POLLIN, .revents = 0};
    if (left <= 0 || poll(&waits, 1, static_cast<int>(left)) == 0) {
      return "";
    }
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Asks the shell, and what its profile left in the background, to end; the shell must.
void EndSession(pid_t shell) {
  kill(-shell, SIGTERM);
  if (!EndsWithin(shell, kEndPatience)) {
    kill(-shell, SIGKILL);
  }
  (void)AwaitEnd(shell);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> VariablesIn(const std::string& name) {
  const bool number = name.find_first_not_of("0123456789") == std::string::npos && name.size() < 7;
  const absl::StatusOr<std::string> text =
      ReadFile(number ? absl::StrCat("/proc/self/fd/", name) : name);
  if (!text.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--export-file: ", std::string(text.status().message())));
  }
  std::vector<std::string> entries = absl::StrSplit(*text, '\0', absl::SkipEmpty());
  for (const std::string& entry : entries) {
    if (!IsEntry(entry)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--export-file: ", Quote(entry.substr(0, 60)),
                       " is not NAME=VALUE: write a NUL byte after each variable"));
    }
  }
  return entries;
}

absl::StatusOr<Login> OwnLogin(const Environment& environment) {
  std::array<char, 16384> buffer = {};
  passwd entry = {};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return absl::FailedPreconditionError("--get-user-env: this user is not in the password file");
  }
  const std::string shell = *found->pw_shell == '\0' ? "/bin/sh" : found->pw_shell;
  const std::string term = environment.Get("TERM");
  return Login{
      shell,
      {absl::StrCat("HOME=", found->pw_dir), absl::StrCat("USER=", found->pw_name),
       absl::StrCat("LOGNAME=", found->pw_name), absl::StrCat("SHELL=", shell),
       absl::StrCat("TERM=", term.empty() ? "dumb" : term), "PATH=/usr/local/bin:/usr/bin:/bin"}};
}

absl::StatusOr<std::vector<std::string>> LoginVariables(const Login& login,
                                                        std::chrono::seconds patience) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "--get-user-env: cannot make a pipe");
  }
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request;
  request.program = login.shell;
  request.arguments = {"-" + login.shell.substr(login.shell.rfind('/') + 1), "-c",
                       absl::StrCat("/usr/bin/env -0 >/proc/self/fd/", kAnswer)};
  request.environment = login.environment;
  request.fds = {
      {nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}, {theirs.get(), kAnswer}};
  request.new_session = true;
  ASSIGN_OR_RETURN(const pid_t shell, Spawn(request));
  theirs.reset();
  const SystemClock clock;
  const std::string text = ReadUntil(ours.get(), clock.SteadyNow() + patience, clock);
  EndSession(shell);
  std::vector<std::string> entries = absl::StrSplit(text, '\0', absl::SkipEmpty());
  std::erase_if(entries,
                [](const std::string& entry) { return !IsEntry(entry) || IsOfTheShell(entry); });
  if (entries.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--get-user-env: ", login.shell, " said no variables within ",
                     patience.count(), " s: does a profile of yours wait for something?"));
  }
  return entries;
}

void AddMissing(const std::vector<std::string>& more, std::vector<std::string>* variables) {
  std::set<std::string, std::less<>> known;
  for (const std::string& entry : *variables) {
    known.emplace(NamePart(entry));
  }
  for (const std::string& entry : more) {
    if (known.emplace(NamePart(entry)).second) {
      variables->push_back(entry);
    }
  }
}

}  // namespace muster::cli
