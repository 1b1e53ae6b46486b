#include "daemon/door/listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr const char* kUnix = "unix:";
constexpr unsigned kUserTimeoutMs = 20'000;

absl::Status CheckOwner(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot look at the passed socket"));
  }
  if ((file.st_mode & 077) != 0 || file.st_uid != geteuid()) {
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

absl::Status CannotListen(const std::string& address, const std::string& why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", why));
}

absl::Status BindAndListen(const UniqueFd& socket, const sockaddr* address, socklen_t size,
                           const std::string& text) {
  if (!socket.valid() || bind(socket.get(), address, size) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return CannotListen(text, errno == EADDRINUSE      ? "the address is taken"
                              : errno == EADDRNOTAVAIL ? "the address is not this machine's"
                                                       : std::generic_category().message(errno));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<UniqueFd>> ListenOnUnix(const std::string& address) {
  const std::string path = address.substr(std::strlen(kUnix));
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  path.copy(place.sun_path, sizeof(place.sun_path) - 1);
  unlink(path.c_str());
  UniqueFd opened(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const mode_t mask = umask(0177);
  const absl::Status done =
      BindAndListen(opened, reinterpret_cast<sockaddr*>(&place), sizeof(place), address);
  umask(mask);
  RETURN_IF_ERROR(done);
  std::vector<UniqueFd> sockets;
  sockets.push_back(std::move(opened));
  return sockets;
}

void SetPort(addrinfo& address, std::uint16_t port) {
  if (address.ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_port = htons(port);
  }
}

absl::StatusOr<UniqueFd> ListenOnOne(const addrinfo& address, const std::string& text) {
  UniqueFd opened(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  const int on = 1;
  const int off = 0;
  setsockopt(opened.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ai_family == AF_INET6) {
    setsockopt(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  RETURN_IF_ERROR(BindAndListen(opened, address.ai_addr, address.ai_addrlen, text));
  return opened;
}

}  // namespace

bool IsUnix(std::string_view address) {
  return address.starts_with(kUnix);
}

absl::StatusOr<std::vector<UniqueFd>> ListenOn(const std::string& address) {
  if (IsUnix(address)) {
    return ListenOnUnix(address);
  }
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found);
  if (error != 0) {
    return CannotListen(address, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  std::vector<UniqueFd> sockets;
  for (addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (!sockets.empty()) {
      SetPort(*one, static_cast<std::uint16_t>(PortOf(sockets.front())));
    }
    absl::StatusOr<UniqueFd> socket = ListenOnOne(*one, address);
    if (socket.ok()) {
      sockets.push_back(*std::move(socket));
    } else if (one->ai_next == nullptr && sockets.empty()) {
      return socket.status();
    }
  }
  return sockets;
}

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
  return absl::StrCat(kUnix, path);
}

void Prepare(const UniqueFd& socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  // gRPC does this for its own listening sockets alone. A unix socket refuses, which is as well.
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof(kUserTimeoutMs));
}

int PortOf(const UniqueFd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return address.ss_family == AF_INET
             ? ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port)
         : address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : 0;
}

}  // namespace muster::daemon
