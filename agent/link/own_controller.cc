#include "agent/link/own_controller.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "agent/link/controller_address.h"

namespace muster::agent {
namespace {

bool IsOwn(uid_t uid) {
  return uid == geteuid() || uid == 0;
}

absl::Status NotOwn(const std::string& path, uid_t uid, const std::string& node) {
  return absl::PermissionDeniedError(absl::StrCat("the controller at unix:", path, " is uid ", uid,
                                                  "'s, and without keys this agent obeys its ",
                                                  "own user's alone (uid ", geteuid(), "); ",
                                                  HowToMakeKeys(node)));
}

}  // namespace

absl::StatusOr<UniqueFd> ConnectToOwnController(const std::string& path, const std::string& node) {
  // The file is held, so that it is connected to the very one that was looked at.
  const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info = {};
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  if (!IsOwn(info.st_uid)) {
    return NotOwn(path, info.st_uid, node);
  }
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  absl::StrCat("/proc/self/fd/", file.get()).copy(address.sun_path, sizeof(address.sun_path) - 1);
  UniqueFd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.valid() || connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                                     sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat(path, ": cannot find out which process listens there"));
  }
  if (!IsOwn(peer.uid)) {
    return NotOwn(path, peer.uid, node);
  }
  return connection;
}

}  // namespace muster::agent
