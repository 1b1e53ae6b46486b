#include <fcntl.h>
#include <spawn.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster {
namespace {

// Owns the two option objects of posix_spawn.
struct SpawnOptions {
  SpawnOptions() {
    MUSTER_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    MUSTER_CHECK(posix_spawnattr_init(&attributes) == 0);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<char*> PointersTo(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) {
    pointers.push_back(
        const_cast<char*>(text.c_str()));  // exec's old signature; it does not write.
  }
  pointers.push_back(nullptr);
  return pointers;
}

int HighestTarget(const std::vector<FdMapping>& fds) {
  int highest = STDERR_FILENO;
  for (const FdMapping& mapping : fds) {
    highest = std::max(highest, mapping.to);
  }
  return highest;
}

// Duplicates every source above every target first, so that no dup2 in the child overwrites a later
// one's source.
absl::StatusOr<std::vector<UniqueFd>> MapDescriptors(const std::vector<FdMapping>& fds,
                                                     posix_spawn_file_actions_t* actions) {
  const int highest = HighestTarget(fds);
  std::vector<UniqueFd> sources;
  sources.reserve(fds.size());
  for (const FdMapping& mapping : fds) {
    UniqueFd source(fcntl(mapping.from, F_DUPFD_CLOEXEC, highest + 1));
    if (!source.valid()) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot pass descriptor ", mapping.from));
    }
    const int error = posix_spawn_file_actions_adddup2(actions, source.get(), mapping.to);
    if (error != 0) {
      return absl::ErrnoToStatus(error, absl::StrCat("cannot pass descriptor ", mapping.to));
    }
    sources.push_back(std::move(source));
  }
  // Everything else goes, even what some library forgot to mark close-on-exec.
  for (int fd = STDERR_FILENO + 1; fd < highest; ++fd) {
    if (std::none_of(fds.begin(), fds.end(), [fd](const FdMapping& m) { return m.to == fd; })) {
      MUSTER_CHECK(posix_spawn_file_actions_addclose(actions, fd) == 0);
    }
  }
  MUSTER_CHECK(posix_spawn_file_actions_addclosefrom_np(actions, highest + 1) == 0);
  return sources;
}

void SetAttributes(bool new_session, posix_spawnattr_t* attributes) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                    (new_session ? static_cast<int>(POSIX_SPAWN_SETSID) : 0);
  MUSTER_CHECK(posix_spawnattr_setsigmask(attributes, &none) == 0);
  MUSTER_CHECK(posix_spawnattr_setsigdefault(attributes, &all) == 0);
  MUSTER_CHECK(posix_spawnattr_setflags(attributes, static_cast<short>(flags)) == 0);
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SpawnRequest& request) {
  SpawnOptions options;
  SetAttributes(request.new_session, &options.attributes);
  ASSIGN_OR_RETURN(const std::vector<UniqueFd> sources,
                   MapDescriptors(request.fds, &options.actions));
  if (!request.working_directory.empty()) {
    const int error =
        posix_spawn_file_actions_addchdir_np(&options.actions, request.working_directory.c_str());
    if (error != 0) {
      return absl::ErrnoToStatus(error, request.working_directory);
    }
  }
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, request.program.c_str(), &options.actions, &options.attributes,
                  PointersTo(request.arguments).data(), PointersTo(request.environment).data());
  if (error != 0) {
    return absl::ErrnoToStatus(error, absl::StrCat(request.program, ": cannot start",
                                                   request.working_directory.empty() ? "" : " in ",
                                                   request.working_directory));
  }
  return pid;
}

}  // namespace muster
