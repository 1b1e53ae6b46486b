#include "cli/dev/session_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

constexpr const char* kContainerFile = "/container";
constexpr const char* kDoor = "/door";
constexpr const char* kLeft = "/left";
constexpr const char* kShell = "shell.";

std::optional<Time> LastRead(const std::string& terminal) {
  struct stat status = {};
  if (stat(terminal.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) {
    return std::nullopt;
  }
  return Time(std::chrono::seconds(status.st_atim.tv_sec));
}

}  // namespace

std::string DoorText(const SessionDoor& door) {
  return absl::StrCat(door.port, "\n", door.token, "\n", door.url, "\n");
}

absl::StatusOr<SessionDoor> ReadDoor(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const absl::StatusOr<std::uint64_t> port = ParseDigits(lines.front(), UINT16_MAX);
  if (lines.size() < 3 || !port.ok()) {
    return absl::DataLossError("it does not say where the session is reached");
  }
  return SessionDoor{static_cast<std::uint16_t>(*port), lines[1], lines[2]};
}

absl::StatusOr<SessionPlace> SessionPlace::Of(const Environment& environment) {
  const std::string job = environment.Get("MUSTER_JOB_ID");
  if (job.empty()) {
    return absl::FailedPreconditionError("this is no process of a job");
  }
  const std::string folder = environment.Get("TMPDIR");
  return SessionPlace(
      absl::StrCat(folder.empty() ? "/tmp" : folder, "/muster-dev-", geteuid(), "-", job));
}

absl::Status SessionPlace::Make() const {
  if (absl::Status there = Check(); there.ok()) {
    Remove();
  } else if (!absl::IsNotFound(there)) {
    return there;
  }
  return EnsurePrivateDirectory(path_);
}

void SessionPlace::Remove() const {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

absl::Status SessionPlace::Check() const {
  struct stat status = {};
  if (lstat(path_.c_str(), &status) != 0) {
    return absl::ErrnoToStatus(errno, path_);
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(path_, ": belongs to another user"));
  }
  return absl::OkStatus();
}

absl::Status SessionPlace::Open(const SessionDoor& door) const {
  return WriteFileAtomically(path_ + kDoor, DoorText(door));
}

absl::StatusOr<std::optional<SessionDoor>> SessionPlace::Door() const {
  RETURN_IF_ERROR(Check());
  const absl::StatusOr<std::string> text = ReadFile(path_ + kDoor);
  if (absl::IsNotFound(text.status())) {
    return std::nullopt;
  }
  RETURN_IF_ERROR(text.status());
  return ReadDoor(*text);
}

absl::Status SessionPlace::KeepContainer(const std::vector<std::string>& options) const {
  // No option holds a NUL.
  return WriteFileAtomically(path_ + kContainerFile, absl::StrJoin(options, std::string(1, '\0')));
}

absl::StatusOr<std::vector<std::string>> SessionPlace::Container() const {
  RETURN_IF_ERROR(Check());
  const absl::StatusOr<std::string> text = ReadFile(path_ + kContainerFile);
  if (absl::IsNotFound(text.status())) {
    return std::vector<std::string>();
  }
  RETURN_IF_ERROR(text.status());
  return std::vector<std::string>(absl::StrSplit(*text, '\0', absl::SkipEmpty()));
}

absl::Status SessionPlace::Enter(pid_t process, const std::string& terminal) const {
  RETURN_IF_ERROR(Check());
  return WriteFileAtomically(absl::StrCat(path_, "/", kShell, process), terminal);
}

absl::Status SessionPlace::Leave() const {
  RETURN_IF_ERROR(Check());
  return WriteFileAtomically(path_ + kLeft, "");
}

SessionPlace::Company SessionPlace::Look() const {
  Company company;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(path_, unknown)) {
    const std::string name = entry.path().filename().string();
    if (name == kLeft + 1) {
      company.left = true;
      continue;
    }
    const std::size_t prefix = std::string_view(kShell).size();
    pid_t process = 0;
    if (name.rfind(kShell, 0) != 0 ||
        std::from_chars(name.data() + prefix, name.data() + name.size(), process).ec !=
            std::errc()) {
      continue;
    }
    if (kill(process, 0) != 0 && errno == ESRCH) {
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
      continue;
    }
    ++company.shells;
    const absl::StatusOr<std::string> terminal = ReadFile(entry.path().string());
    const std::optional<Time> read = terminal.ok() ? LastRead(*terminal) : std::nullopt;
    company.typed = std::max(company.typed, read.value_or(kNoTime));
    if (read.has_value()) {
      company.terminals.push_back(*terminal);
    }
  }
  return company;
}

}  // namespace muster::cli
