#include "agent/supervisor/user_space/job_user.h"

#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kEntryBytes = 65536;
constexpr int kGroupsMax = 65536;  // the kernel's own bound
constexpr int kDirectoriesAbove = 3;

std::vector<gid_t> GroupsOf(const std::string& name, gid_t gid) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0 && count <= kGroupsMax) {
    count = std::max(count, static_cast<int>(groups.size()) * 2);
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return groups;
}

// glibc's wrapper would change every thread, and in a child that was cloned wait for those which it
// does not have.
long SetGroups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data());
}

// Async-signal-safe, and only root can: hard limits may be raised.
bool TakeSession(const SessionTraits& session) {
  for (const SessionTraits::Limit& limit : session.limits) {
    if (setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &limit.value) != 0) {
      return false;
    }
  }
  return !session.priority.has_value() || setpriority(PRIO_PROCESS, 0, *session.priority) == 0;
}

}  // namespace

absl::StatusOr<std::optional<JobUser>> FindJobUser(const User& user) {
  if (geteuid() != 0 || user.uid == 0) {
    return std::nullopt;
  }
  std::vector<char> buffer(kEntryBytes);
  passwd entry = {};
  passwd* found = nullptr;
  if (getpwuid_r(user.uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return absl::NotFoundError(absl::StrCat("user ", user.uid, " (", user.name,
                                            ") is not known here: add him, or drain the node"));
  }
  // A controller that does not know the name sends the number.
  if (user.name != found->pw_name && user.name != absl::StrCat(user.uid)) {
    return absl::FailedPreconditionError(absl::StrCat("user ", user.uid, " is ", found->pw_name,
                                                      " here, and ", user.name,
                                                      " to the controller: make them agree"));
  }
  JobUser job_user;
  job_user.uid = user.uid;
  job_user.gid = found->pw_gid;
  job_user.name = found->pw_name;
  job_user.groups = GroupsOf(job_user.name, job_user.gid);
  return job_user;
}

std::optional<JobUser> UserToFind(const User& user) {
  if (geteuid() != 0 || user.uid == 0) {
    return std::nullopt;
  }
  JobUser job_user;
  job_user.uid = user.uid;
  job_user.gid = user.gid;
  job_user.name = user.name;
  job_user.to_find = true;
  return job_user;
}

bool BecomeForGood(const JobUser& user) {
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  if (!TakeSession(user.session)) {
    return false;
  }
  if (SetGroups(user.groups) != 0 || syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0 ||
      syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0 ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return false;
  }
  errno = EPERM;
  if (getresuid(&real, &effective, &saved) != 0 || real != user.uid || effective != user.uid ||
      saved != user.uid) {
    return false;
  }
  if (getresgid(&real, &effective, &saved) != 0 || real != user.gid || effective != user.gid ||
      saved != user.gid) {
    return false;
  }
  // The way back must be closed.
  const bool back = syscall(SYS_setresuid, 0, 0, 0) == 0;
  errno = EPERM;
  return !back;
}

void LetPass(const std::string& directory) {
  std::filesystem::path path = directory;
  for (int i = 0; i < kDirectoriesAbove; ++i) {
    struct stat found = {};
    const bool ours_alone = lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                            found.st_uid == geteuid() && (found.st_mode & 0077) == 0;
    if (ours_alone && chmod(path.c_str(), (found.st_mode & 0700) | 0011) != 0) {
      return;  // the exec will say so
    }
    path = path.parent_path();
  }
}

}  // namespace muster::agent
