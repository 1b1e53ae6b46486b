#include "agent/attempts/mps_daemons.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/launch/mps_control.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/program_search.h"
#include "topology/gpu/cuda_mps.h"

namespace muster::agent {
namespace {

constexpr const char* kMpsComponent = "mps";
constexpr mode_t kOwnersAlone = 0700;
constexpr mode_t kForAllToSee = 0755;
constexpr int kTriesMost = 30;

// A directory that is `uid`'s and that no other user can write to.
absl::Status CheckOwned(const std::string& directory, uid_t uid) {
  struct stat info {};
  if (lstat(directory.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != uid || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, " is no directory that is user ", uid, "'s alone"));
  }
  return absl::OkStatus();
}

absl::Status MakeOwn(const std::string& directory, mode_t mode) {
  if (mkdir(directory.c_str(), mode) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, directory);
  }
  return CheckOwned(directory, geteuid());
}

}  // namespace

MpsDaemons::MpsDaemons(const Logger& log, Children& children, Config config)
    : log_(log), children_(children), config_(std::move(config)) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(config_.base, error), end; !error && at != end;
       at.increment(error)) {
    known_[at->path().string()] = 0;
  }
}

bool MpsDaemons::IsOurs(const std::string& directory) const {
  return known_.count(directory) != 0;
}

std::string MpsDaemons::Serve(uid_t uid, gid_t gid, const Machine& machine,
                              const NodeAllocation& part) {
  if (!machine.mps.empty() || !machine.enforced || config_.base.empty()) {
    return StillSafe(machine.mps) ? machine.mps : "";
  }
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> uuids;
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu >= machine.gpus.size() || machine.gpus[grant.gpu].vendor != GpuVendor::kNvidia) {
      return "";
    }
    numbers.push_back(grant.gpu);
    uuids.push_back(machine.gpus[grant.gpu].uuid);
  }
  const std::string directory =
      Unleft(absl::StrCat(config_.base, "/", uid, "-", absl::StrJoin(numbers, "+")));
  if (running_.count(directory) != 0) {
    return directory;
  }
  absl::Status made = MakeDirectory(directory, uid, gid);
  absl::StatusOr<pid_t> pid =
      made.ok() ? Run(kMpsServe, directory, absl::StrJoin(uuids, ",")) : made;
  if (!pid.ok()) {
    log_.Warning(kMpsComponent,
                 absl::StrCat("no MPS for user ", uid, ": ", std::string(pid.status().message())));
    return "";
  }
  known_[directory] = 0;
  running_[directory] = *pid;  // or it ends at once, where one runs that an earlier agent started
  return directory;
}

// What was found at the start may have gone, and another user's have come in its place.
bool MpsDaemons::StillSafe(const std::string& found) const {
  const absl::Status safe = topology::CheckMpsDirectory(found);
  if (found.empty() || !absl::IsPermissionDenied(safe)) {
    return true;
  }
  log_.Warning(kMpsComponent, absl::StrCat("a job gets no MPS: ", std::string(safe.message())));
  return false;
}

// The directory, or one beside it while the daemon in it is being told to end: a job that came then
// would lose its server at its first call.
std::string MpsDaemons::Unleft(const std::string& directory) const {
  const auto leaving = [this](const std::string& name) {
    const auto found = known_.find(name);
    return found != known_.end() && found->second > 0;
  };
  std::string name = directory;
  for (int i = 2; leaving(name); ++i) {
    name = absl::StrCat(directory, ".", i);
  }
  return name;
}

absl::Status MpsDaemons::MakeDirectory(const std::string& directory, uid_t uid, gid_t gid) const {
  const std::filesystem::path base = config_.base;
  const mode_t mode = geteuid() == 0 ? kForAllToSee : kOwnersAlone;
  RETURN_IF_ERROR(MakeOwn(base.parent_path(), mode));
  RETURN_IF_ERROR(MakeOwn(base, mode));
  if (mkdir(directory.c_str(), kOwnersAlone) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, directory);
  }
  if (geteuid() == 0 && lchown(directory.c_str(), uid, gid) != 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  return CheckOwned(directory, uid);
}

absl::StatusOr<pid_t> MpsDaemons::Run(const char* what, const std::string& directory,
                                      const std::string& gpus) {
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.valid()) {
    return absl::ErrnoToStatus(errno, "/dev/null");
  }
  SpawnRequest request;
  request.program = config_.supervisor;
  request.arguments = {config_.supervisor, what, directory};
  for (const std::string& variable : config_.environment) {
    if (absl::StartsWith(variable, "PATH=")) {
      request.environment.push_back(variable);
    }
  }
  request.environment.push_back(absl::StrCat("CUDA_VISIBLE_DEVICES=", gpus));
  request.fds = {{nothing.get(), STDIN_FILENO},
                 {nothing.get(), STDOUT_FILENO},
                 {nothing.get(), STDERR_FILENO}};
  request.new_session = true;
  return children_.SpawnOwn(request);
}

void MpsDaemons::Keep(const std::set<std::string>& used) {
  std::erase_if(running_, [&](const auto& each) {
    const std::optional<std::string> ended = children_.TakeEnd(each.second);
    if (ended.has_value() && used.count(each.first) != 0) {
      log_.Info(kMpsComponent, absl::StrCat("what started MPS in ", each.first, " ", *ended));
    }
    return ended.has_value();
  });
  for (auto it = known_.begin(); it != known_.end();) {
    it->second = used.count(it->first) != 0 ? 0 : it->second + 1;
    it = it->second > 0 && Remove(it->first, it->second) ? known_.erase(it) : std::next(it);
  }
}

// Whether the directory is gone, or given up. Until then its user's process ends the daemon, and
// once it has ended empties the directory.
bool MpsDaemons::Remove(const std::string& directory, int tries) {
  if (rmdir(directory.c_str()) == 0 || errno == ENOENT) {
    return true;
  }
  if (tries > kTriesMost) {
    log_.Warning(kMpsComponent, absl::StrCat(directory, " stays: it could not be emptied"));
    return true;
  }
  if (const absl::StatusOr<pid_t> pid = Run(kMpsQuit, directory, ""); pid.ok()) {
    children_.Forget(*pid);
  }
  return false;
}

std::string MpsBase(const std::string& node, const std::string& path,
                    const std::string& runtime_directory) {
  if (FindAlong(kMpsProgram, path).empty()) {
    return "";
  }
  const uid_t uid = geteuid();
  const std::string above = uid == 0                     ? "/run/muster-mps"
                            : !runtime_directory.empty() ? runtime_directory + "/muster-mps"
                                                         : absl::StrCat("/tmp/muster-mps-", uid);
  return absl::StrCat(above, "/", node);
}

}  // namespace muster::agent
