#include "agent/attempts/place/memory_place.h"

#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr std::uint64_t kRoomMin = std::uint64_t{256} << 20;
// Users below it are the system's, whose files a login manager leaves alone.
constexpr uid_t kFirstOrdinaryUser = 1000;
constexpr std::size_t kEntryBytes = 65536;

bool IsInMemory(const std::string& directory) {
  struct statfs found = {};
  return statfs(directory.c_str(), &found) == 0 && found.f_type == TMPFS_MAGIC;
}

bool HasRoom(const std::string& directory) {
  struct statfs found = {};
  return statfs(directory.c_str(), &found) == 0 &&
         static_cast<std::uint64_t>(found.f_bavail) * static_cast<std::uint64_t>(found.f_bsize) >=
             kRoomMin;
}

bool Lingers(uid_t user) {
  std::vector<char> buffer(kEntryBytes);
  passwd entry = {};
  passwd* found = nullptr;
  return getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
         access(absl::StrCat("/var/lib/systemd/linger/", found->pw_name).c_str(), F_OK) == 0;
}

// Whether what the user leaves there goes before the machine does.
bool IsClearedAtLogout(uid_t user) {
  const bool manager = access("/run/systemd/seats", F_OK) == 0;
  return manager && user >= kFirstOrdinaryUser && !Lingers(user);
}

}  // namespace

std::optional<std::string> FindMemory(uid_t user, const std::string& runtime) {
  if (IsClearedAtLogout(user)) {
    return std::nullopt;
  }
  for (const std::string& place :
       {user == 0 ? std::string("/run") : runtime, std::string("/dev/shm")}) {
    if (!place.empty() && IsInMemory(place) && HasRoom(place) &&
        access(place.c_str(), W_OK | X_OK) == 0) {
      return place;
    }
  }
  return std::nullopt;
}

absl::Status CheckMemoryPlace(const std::string& directory, uid_t user) {
  struct stat found = {};
  if (lstat(directory.c_str(), &found) != 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  if (!S_ISDIR(found.st_mode) || found.st_uid != user || (found.st_mode & 0077) != 0 ||
      !IsInMemory(directory)) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": it is not our own directory in memory"));
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
