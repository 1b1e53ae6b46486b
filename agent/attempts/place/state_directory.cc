#include "agent/attempts/place/state_directory.h"

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
#include "agent/attempts/place/memory_place.h"
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

absl::StatusOr<std::string> MakeInstance(const std::string& path) {
  std::array<char, 16> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::ErrnoToStatus(errno, "cannot read random bytes");
  }
  std::string instance = absl::BytesToHexString({bytes.data(), bytes.size()});
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

bool HasEntries(const std::string& directory) {
  std::error_code error;
  return !std::filesystem::is_empty(directory, error) && !error;
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

absl::StatusOr<StateDirectory> StateDirectory::Open(const std::string& path,
                                                    const std::string& memory) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) {
    return absl::InternalError(absl::StrCat(path, ": ", error.message()));
  }
  RETURN_IF_ERROR(EnsurePrivateDirectory(absolute));
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Take(absolute + "/lock"));
  StateDirectory state(absolute, std::move(lock));
  RETURN_IF_ERROR(state.ReadRecords());
  RETURN_IF_ERROR(state.TakePlace(memory));
  state.removed_ = HighestNumberIn(state.trash());
  return state;
}

absl::Status StateDirectory::ReadRecords() {
  ASSIGN_OR_RETURN(instance_, ReadText(path_ + "/instance"));
  if (instance_.empty()) {
    ASSIGN_OR_RETURN(instance_, MakeInstance(path_ + "/instance"));
  }
  ASSIGN_OR_RETURN(epoch_, ReadEpoch(path_ + "/epoch"));
  ASSIGN_OR_RETURN(boot_id_, ReadBootId());
  ASSIGN_OR_RETURN(const std::string last_boot, ReadText(path_ + "/boot"));
  rebooted_ = last_boot != boot_id_;
  return absl::OkStatus();
}

absl::Status StateDirectory::TakePlace(const std::string& memory) {
  const std::string link = path_ + "/attempts";
  struct stat found = {};
  if (lstat(link.c_str(), &found) == 0 && S_ISLNK(found.st_mode)) {
    std::error_code error;
    place_ = std::filesystem::read_symlink(link, error).parent_path().string();
    absl::Status there = CheckMemoryPlace(place_ + "/attempts", geteuid());
    if (!absl::IsNotFound(there)) {
      return there;
    }
    // With another instance no order counts as one that was not begun here.
    ASSIGN_OR_RETURN(instance_, MakeInstance(path_ + "/instance"));
    loss_ = rebooted_
                ? ""
                : absl::StrCat(place_, " was removed with all records of jobs; processes of these ",
                               "jobs may still run and must be ended by hand");
    unlink(link.c_str());
  }
  place_ = path_;
  if (!memory.empty() && !HasEntries(link) && !HasEntries(trash()) &&
      MakeMemoryPlace(memory).ok()) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(EnsurePrivateDirectory(link));
  return EnsurePrivateDirectory(trash());
}

absl::Status StateDirectory::MakeMemoryPlace(const std::string& memory) {
  const std::string place = absl::StrCat(memory, "/muster-", geteuid(), "-", instance_);
  if (mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, place);
  }
  RETURN_IF_ERROR(CheckMemoryPlace(place, geteuid()));
  RETURN_IF_ERROR(EnsurePrivateDirectory(place + "/attempts"));
  RETURN_IF_ERROR(EnsurePrivateDirectory(place + "/trash"));
  const std::string link = path_ + "/attempts";
  rmdir(link.c_str());
  if (symlink((place + "/attempts").c_str(), link.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, link);
  }
  place_ = place;
  return absl::OkStatus();
}

void StateDirectory::Fold() const {
  if (place_ != path_ && rmdir((place_ + "/attempts").c_str()) == 0) {
    unlink((path_ + "/attempts").c_str());
    rmdir((place_ + "/trash").c_str());
    rmdir((place_ + "/quarantine").c_str());
    rmdir(place_.c_str());
  }
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
  return HasEntries(trash());
}

}  // namespace muster::agent
