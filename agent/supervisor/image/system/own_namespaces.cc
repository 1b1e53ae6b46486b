#include "agent/supervisor/image/system/own_namespaces.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr const char* kControlGroups = "/sys/fs/cgroup";

absl::Status WriteSelf(const char* name, const std::string& text) {
  const std::string path = absl::StrCat("/proc/self/", name);
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() &&
                 write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

// By a descriptor: a path may hold what separates a mount's options.
UniqueFd Place(const std::string& directory) {
  return UniqueFd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

absl::Status EnterOwnNamespaces() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0) {
    return absl::ErrnoToStatus(errno,
                               "users may make no namespaces on this node (see "
                               "user.max_user_namespaces and kernel.unprivileged_userns_clone)");
  }
  RETURN_IF_ERROR(WriteSelf("setgroups", "deny"));
  RETURN_IF_ERROR(WriteSelf("uid_map", absl::StrCat("0 ", uid, " 1")));
  RETURN_IF_ERROR(WriteSelf("gid_map", absl::StrCat("0 ", gid, " 1")));
  return mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, "cannot keep mounts to ourselves");
}

absl::Status ShowControlGroups() {
  struct statfs found = {};
  if (statfs(kControlGroups, &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC) {
    return absl::OkStatus();
  }
  return mount("none", kControlGroups, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot mount ", kControlGroups));
}

absl::Status MountLayers(const std::string& lower, const std::string& upper,
                         const std::string& work, const std::string& at) {
  const UniqueFd below = Place(lower);
  const UniqueFd above = Place(upper);
  const UniqueFd beside = Place(work);
  const auto path = [](const UniqueFd& fd) { return absl::StrCat("/proc/self/fd/", fd.get()); };
  const std::string options = absl::StrCat("userxattr,lowerdir=", path(below),
                                           ",upperdir=", path(above), ",workdir=", path(beside));
  return mount("overlay", at.c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot mount the image's layers at ", at));
}

absl::Status MountToRead(const std::vector<std::string>& layers, const std::string& at) {
  std::vector<UniqueFd> open;
  std::vector<std::string> paths;
  for (const std::string& layer : layers) {
    open.push_back(Place(layer));
    paths.push_back(absl::StrCat("/proc/self/fd/", open.back().get()));
  }
  const std::string options = absl::StrCat("userxattr,lowerdir=", absl::StrJoin(paths, ":"));
  return mount("overlay", at.c_str(), "overlay", MS_NOSUID | MS_NODEV | MS_RDONLY,
               options.c_str()) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, "cannot mount the container's layers");
}

absl::Status MountAlone(const std::string& lower, const std::string& at) {
  return mount(lower.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
                 mount(nullptr, at.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV,
                       nullptr) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot mount the image at ", at));
}

}  // namespace muster::agent
