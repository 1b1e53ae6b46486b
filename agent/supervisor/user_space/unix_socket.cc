#include "agent/supervisor/user_space/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr int kBacklog = 64;
constexpr std::chrono::seconds kSayEvery{10};

// An address for `path`; `directory` keeps what it refers to open.
struct UnixAddress {
  UniqueFd directory;
  sockaddr_un address = {};
};

absl::StatusOr<UnixAddress> AddressOf(const std::string& path) {
  UnixAddress made;
  made.address.sun_family = AF_UNIX;
  std::string text = path;
  if (text.size() >= sizeof(made.address.sun_path)) {
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    made.directory.reset(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.directory.valid()) {
      return absl::ErrnoToStatus(errno, parent);
    }
    text = absl::StrCat("/proc/self/fd/", made.directory.get(), "/", path.substr(slash + 1));
  }
  if (text.size() >= sizeof(made.address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the socket's own name is too long"));
  }
  std::memcpy(made.address.sun_path, text.c_str(), text.size() + 1);
  return made;
}

const sockaddr* Generic(const UnixAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.address);
}

// Given up for a moment where no other descriptor is left.
UniqueFd& Spare() {
  static UniqueFd spare;
  if (!spare.valid()) {
    spare.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  return spare;
}

void SayNoDescriptorLeft() {
  using Clock = std::chrono::steady_clock;
  static std::optional<Clock::time_point> said;
  const Clock::time_point now = Clock::now();
  if (!said.has_value() || now - *said > kSayEvery) {
    said = now;
    std::fputs(
        "no descriptor is left: connections are closed; raise the limit on open files "
        "(LimitNOFILE of the agent's unit)\n",
        stderr);
  }
}

}  // namespace

absl::StatusOr<UniqueFd> ConnectUnix(const std::string& path, int type) {
  ASSIGN_OR_RETURN(const UnixAddress address, AddressOf(path));
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd.valid() || connect(fd.get(), Generic(address), sizeof(address.address)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot connect to ", path));
  }
  return fd;
}

absl::StatusOr<UniqueFd> BindUnix(const std::string& path, int type) {
  ASSIGN_OR_RETURN(const UnixAddress address, AddressOf(path));
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  struct stat old = {};
  if (lstat(path.c_str(), &old) == 0 && S_ISSOCK(old.st_mode)) {
    unlink(path.c_str());
  }
  // The mode of the socket's inode is taken from the descriptor's, before bind makes it visible.
  fchmod(fd.get(), 0600);
  if (bind(fd.get(), Generic(address), sizeof(address.address)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot bind ", path));
  }
  Spare();
  const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (kind != SOCK_DGRAM && listen(fd.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot listen on ", path));
  }
  return fd;
}

UniqueFd AcceptConnection(int listener) {
  UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) {
    SayNoDescriptorLeft();
    Spare().reset();
    fd.reset(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    fd.reset();
    Spare();
  }
  return fd;
}

}  // namespace muster::agent
