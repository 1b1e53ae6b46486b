#include "daemon/passed_sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// When no descriptor is left a caller stays in the queue, and is tried again after this.
constexpr std::chrono::milliseconds kOutOfDescriptors{50};

absl::Status CheckOwner(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot look at the passed socket"));
  }
  if ((file.st_mode & 077) != 0 || (file.st_uid != geteuid() && file.st_uid != 0)) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": others may open the passed socket; in its unit, set SocketMode=0600 ",
                     "and SocketUser= to the controller's user"));
  }
  return absl::OkStatus();
}

std::string HostAndPort(int family, const void* host, std::uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, host, text.data(), text.size());
  return family == AF_INET6 ? absl::StrCat("[", text.data(), "]:", ntohs(port))
                            : absl::StrCat(text.data(), ":", ntohs(port));
}

}  // namespace

absl::StatusOr<std::string> AddressOfPassed(const UniqueFd& socket) {
  int listening = 0;
  int type = 0;
  socklen_t size = sizeof(int);
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
      getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || listening == 0 ||
      type != SOCK_STREAM) {
    return absl::InvalidArgumentError(absl::StrCat("passed descriptor ", socket.get(),
                                                   ": not a listening socket; use ListenStream="));
  }
  sockaddr_storage address{};
  size = sizeof(address);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return absl::ErrnoToStatus(errno, "a passed socket has no address");
  }
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return HostAndPort(AF_INET, &v4.sin_addr, v4.sin_port);
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return HostAndPort(AF_INET6, &v6.sin6_addr, v6.sin6_port);
  }
  const std::string path = reinterpret_cast<const sockaddr_un&>(address).sun_path;
  if (address.ss_family != AF_UNIX || path.empty()) {
    return absl::InvalidArgumentError(
        "a passed socket is neither a unix socket with a path nor TCP; use ListenStream=");
  }
  RETURN_IF_ERROR(CheckOwner(path));
  return absl::StrCat("unix:", path);
}

PassedSockets::~PassedSockets() {
  Stop();
}

void PassedSockets::Add(UniqueFd socket, std::shared_ptr<grpc::ServerCredentials> credentials,
                        grpc::ServerBuilder& builder) {
  Door door;
  door.socket = std::move(socket);
  fcntl(door.socket.get(), F_SETFL, fcntl(door.socket.get(), F_GETFL) | O_NONBLOCK);
  door.acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      std::move(credentials));
  doors_.push_back(std::move(door));
}

void PassedSockets::Start() {
  stop_.reset(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { Serve(); });
}

void PassedSockets::Stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof(one));
    thread_.join();
  }
}

void PassedSockets::Serve() {
  std::vector<pollfd> waits;
  for (const Door& door : doors_) {
    waits.push_back({door.socket.get(), POLLIN, 0});
  }
  waits.push_back({stop_.get(), POLLIN, 0});
  while (true) {
    poll(waits.data(), waits.size(), -1);
    if (waits.back().revents != 0) {
      return;
    }
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      if (waits[i].revents != 0) {
        TakeOne(doors_[i]);
      }
    }
  }
}

void PassedSockets::TakeOne(Door& door) {
  // The caller may have gone meanwhile; the socket does not block.
  const int caller = accept4(door.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (caller < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      std::this_thread::sleep_for(kOutOfDescriptors);
    }
    return;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = door.socket.get();
  connection.fd = caller;
  door.acceptor->HandleNewConnection(&connection);
}

}  // namespace muster
