#include "cli/up/up_service.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/program_answer.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kPatience{60};
constexpr seconds kSystemctlPatience{120};
constexpr milliseconds kPause{50};

std::string LastLine(std::string_view text) {
  const std::vector<std::string> lines =
      absl::StrSplit(absl::StripAsciiWhitespace({text.data(), text.size()}), '\n');
  return lines.back();
}

// Waits until `done` says true, or an error; `what` did not come about otherwise.
absl::Status Await(const std::function<absl::StatusOr<bool>()>& done, const char* what) {
  const auto end = steady_clock::now() + kPatience;
  while (steady_clock::now() < end) {
    ASSIGN_OR_RETURN(const bool came, done());
    if (came) {
      return absl::OkStatus();
    }
    std::this_thread::sleep_for(kPause);
  }
  return absl::DeadlineExceededError(absl::StrCat(what, " within ", kPatience.count(), " s"));
}

// A word of ExecStart=, as systemd.service(5) reads it.
std::string UnitWord(const std::string& word) {
  return absl::StrCat(
      "\"",
      absl::StrReplaceAll(
          word, {{"\\", "\\\\"}, {"\"", "\\\""}, {"$", "$$"}, {"%", "%%"}, {"\n", "\\n"}}),
      "\"");
}

absl::StatusOr<UniqueFd> OpenLog(const std::string& path) {
  UniqueFd log(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  return log.valid() ? absl::StatusOr<UniqueFd>(std::move(log)) : absl::ErrnoToStatus(errno, path);
}

}  // namespace

absl::StatusOr<UserManager> UserManager::Find(const Environment& environment) {
  UserManager manager;
  const std::string said = environment.Get("XDG_RUNTIME_DIR");
  manager.runtime_ = said.empty() ? absl::StrCat("/run/user/", geteuid()) : said;
  if (access((manager.runtime_ + "/systemd/private").c_str(), F_OK) != 0) {
    return absl::NotFoundError("no systemd runs for this user");
  }
  const std::string home = environment.Get("XDG_CONFIG_HOME");
  manager.units_ = (home.empty() ? environment.Get("HOME") + "/.config" : home) + "/systemd/user";
  manager.environment_ = environment.entries();
  std::erase_if(manager.environment_, [](const std::string& entry) {
    return absl::StartsWith(entry, "XDG_RUNTIME_DIR=");
  });
  manager.environment_.push_back("XDG_RUNTIME_DIR=" + manager.runtime_);
  return manager;
}

absl::Status UserManager::Control(const std::vector<std::string>& words) const {
  SpawnRequest request;
  request.program = "/usr/bin/systemctl";
  request.arguments = {"systemctl", "--user", "--quiet"};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = environment_;
  ASSIGN_OR_RETURN(const ProgramAnswer answer,
                   AnswerOf(std::move(request), AnswerStreams::kBoth, kSystemctlPatience));
  return answer.success ? absl::OkStatus()
                        : absl::UnavailableError(absl::StrCat(
                              "systemctl --user ", words.front(), ": ",
                              answer.late ? "did not end in two minutes" : LastLine(answer.text)));
}

std::string UnitName(const std::string& state, const Environment& environment) {
  if (state == environment.Get("HOME") + "/.local/state/muster") {
    return "muster.service";
  }
  std::string name = "muster";
  for (const char c : state) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    name += plain ? std::string(1, c) : "-";
  }
  return name + ".service";
}

// Jobs outlive a stop: their supervisors are in the unit's group, and only the first process ends.
// A pause before it is started again: the daemons of one that was killed stop first.
std::string UnitText(const std::vector<std::string>& command, const std::string& directory) {
  std::string line;
  for (const std::string& word : command) {
    absl::StrAppend(&line, line.empty() ? "" : " ", UnitWord(word));
  }
  return absl::StrCat(
      "# Written by muster up --service; muster down takes it away.\n"
      "[Unit]\nDescription=Muster, a personal cluster\n\n"
      "[Service]\nType=exec\nExecStart=",
      line, "\nWorkingDirectory=", absl::StrReplaceAll(directory, {{"%", "%%"}}),
      "\nDelegate=yes\nKillMode=process\nRestart=on-failure\nRestartSec="
      "2\nRestartPreventExitStatus=2\n\n"
      "[Install]\nWantedBy=default.target\n");
}

absl::Status StartUnit(const UserManager& manager, const std::string& unit, const std::string& text,
                       const std::function<bool()>& ready) {
  std::error_code error;
  std::filesystem::create_directories(manager.units(), error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(manager.units(), ": ", error.message()));
  }
  RETURN_IF_ERROR(WriteFileAtomically(manager.units() + "/" + unit, text));
  RETURN_IF_ERROR(manager.Control({"daemon-reload"}));
  RETURN_IF_ERROR(manager.Control({"enable", unit}));
  RETURN_IF_ERROR(manager.Control({"restart", unit}));
  return Await(
      [&]() -> absl::StatusOr<bool> {
        if (manager.Control({"is-failed", unit}).ok()) {
          return absl::UnavailableError(
              absl::StrCat(unit, ": failed; journalctl --user -u ", unit, " has its words"));
        }
        return ready();
      },
      "the cluster was not ready");
}

absl::Status StartInBackground(const std::vector<std::string>& command,
                               const Environment& environment, const std::string& log,
                               const std::function<bool()>& ready) {
  ASSIGN_OR_RETURN(const UniqueFd output, OpenLog(log));
  const UniqueFd input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const off_t begin = lseek(output.get(), 0, SEEK_END);
  SpawnRequest request;
  request.program = command.front();
  request.arguments = command;
  request.environment = environment.entries();
  request.fds = {
      {input.get(), STDIN_FILENO}, {output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}};
  request.new_session = true;
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  return Await(
      [&]() -> absl::StatusOr<bool> {
        int status = 0;
        if (waitpid(pid, &status, WNOHANG) == pid) {
          const absl::StatusOr<std::string> said = ReadFile(log);
          const std::size_t from = static_cast<std::size_t>(begin);
          return absl::UnavailableError(said.ok() && said->size() > from
                                            ? LastLine(std::string_view(*said).substr(from))
                                            : absl::StrCat("it ended at once; see ", log));
        }
        return ready();
      },
      "the cluster was not ready");
}

absl::Status StopUnit(const UserManager& manager, const std::string& unit) {
  const std::string path = manager.units() + "/" + unit;
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": there is none"));
  }
  RETURN_IF_ERROR(manager.Control({"disable", "--now", unit}));
  if (unlink(path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  return manager.Control({"daemon-reload"});
}

absl::Status StopHolder(const std::string& state) {
  const std::string path = state + "/up.lock";
  if (access(path.c_str(), F_OK) != 0 || LockFile::Take(path).ok()) {
    return absl::NotFoundError(absl::StrCat("no personal cluster runs in ", state));
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  pid_t pid = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &pid) || pid <= 1) {
    return absl::DataLossError(absl::StrCat(path, ": does not say who holds it"));
  }
  const UniqueFd holder(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Still held: by the process that the descriptor names.
  if (!holder.valid() || LockFile::Take(path).ok()) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SendSignal(holder, SIGTERM));
  return Await([&]() -> absl::StatusOr<bool> { return LockFile::Take(path).ok(); },
               "it did not stop");
}

}  // namespace muster::cli
