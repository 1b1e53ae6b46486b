#include "agent/attempts/state_directory.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

// The stripped text of a small file, or "" when it is absent.
absl::StatusOr<std::string> ReadText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, 4096);
  if (absl::IsNotFound(text.status())) {
    return std::string();
  }
  RETURN_IF_ERROR(text.status());
  absl::StripAsciiWhitespace(&*text);
  return text;
}

absl::StatusOr<std::string> ReadOrMakeInstance(const std::string& path) {
  ASSIGN_OR_RETURN(std::string instance, ReadText(path));
  if (!instance.empty()) {
    return instance;
  }
  std::array<char, 16> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::ErrnoToStatus(errno, "cannot read random bytes");
  }
  instance = absl::BytesToHexString({bytes.data(), bytes.size()});
  RETURN_IF_ERROR(WriteFileAtomically(path, instance + "\n"));
  return instance;
}

absl::StatusOr<Epoch> ReadEpoch(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  std::uint64_t epoch = 0;
  if (!text.empty() && !absl::SimpleAtoi(text, &epoch)) {
    return absl::DataLossError(absl::StrCat(path, ": not a number; restore it or remove it"));
  }
  return Epoch(epoch);
}

// 0 where none of the names is a number.
std::uint64_t HighestNumberIn(const std::string& directory) {
  std::uint64_t highest = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::uint64_t number = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &number)) {
      highest = std::max(highest, number);
    }
  }
  return highest;
}

// Removes what lies in it but directories; true: all of it, and itself.
bool RemoveFlat(const std::string& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    unlink(entry->path().c_str());
  }
  return rmdir(directory.c_str()) == 0;
}

}  // namespace

StateDirectory::StateDirectory(std::string path, LockFile lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

absl::StatusOr<StateDirectory> StateDirectory::Open(const std::string& path) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) {
    return absl::InternalError(absl::StrCat(path, ": ", error.message()));
  }
  RETURN_IF_ERROR(EnsurePrivateDirectory(absolute));
  RETURN_IF_ERROR(EnsurePrivateDirectory(absolute + "/attempts"));
  RETURN_IF_ERROR(EnsurePrivateDirectory(absolute + "/trash"));
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Take(absolute + "/lock"));
  StateDirectory state(absolute, std::move(lock));
  ASSIGN_OR_RETURN(state.instance_, ReadOrMakeInstance(absolute + "/instance"));
  ASSIGN_OR_RETURN(state.epoch_, ReadEpoch(absolute + "/epoch"));
  ASSIGN_OR_RETURN(state.boot_id_, ReadBootId());
  ASSIGN_OR_RETURN(const std::string last_boot, ReadText(absolute + "/boot"));
  state.rebooted_ = last_boot != state.boot_id_;
  state.removed_ = HighestNumberIn(state.trash());
  return state;
}

absl::Status StateDirectory::RaiseEpoch(Epoch epoch) {
  if (epoch <= epoch_) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteFileAtomically(path_ + "/epoch", absl::StrCat(epoch.value(), "\n")));
  epoch_ = epoch;
  return absl::OkStatus();
}

absl::Status StateDirectory::ConfirmBoot() {
  if (!rebooted_) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteFileAtomically(path_ + "/boot", boot_id_ + "\n"));
  rebooted_ = false;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AttemptKey>> StateDirectory::ListAttempts() const {
  std::vector<AttemptKey> keys;
  std::error_code error;
  std::filesystem::directory_iterator entry(path_ + "/attempts", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    const absl::StatusOr<AttemptKey> key = ParseAttemptKey(entry->path().filename().string());
    if (key.ok()) {
      keys.push_back(*key);
    }
    entry.increment(error);
  }
  if (error) {
    return absl::InternalError(absl::StrCat(path_, "/attempts: ", error.message()));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

absl::Status StateDirectory::MakeAttempt(const AttemptKey& key) const {
  const std::string path = Attempt(key).path();
  if (mkdir(path.c_str(), 0700) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot make the directory"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> StateDirectory::RemoveAttempt(const AttemptKey& key) {
  const std::string from = Attempt(key).path();
  const std::string to = absl::StrCat(trash(), "/", ++removed_);
  if (rename(from.c_str(), to.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(from, ": cannot move to the trash"));
  }
  return RemoveFlat(to);
}

bool StateDirectory::has_trash() const {
  std::error_code error;
  return !std::filesystem::is_empty(trash(), error) && !error;
}

}  // namespace muster::agent
