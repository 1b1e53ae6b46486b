#include "cli/connect/target.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr int kBacklog = 64;
constexpr int kPatienceMs = 10'000;

absl::Status Unreached(const ForwardedPort& target, const std::string& why) {
  return absl::FailedPreconditionError(
      absl::StrCat("no program listens on ", EndOf(target), ": ", why));
}

std::string ErrorText(int error) {
  return std::strerror(error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

absl::Status InUse(std::uint16_t port) {
  return absl::FailedPreconditionError(absl::StrCat("port ", port,
                                                    " of this machine: ", ErrorText(errno),
                                                    "; name another, like 0:PORT for any"));
}

}  // namespace

absl::StatusOr<UniqueFd> TakeOnLoopback(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  if (!fd.valid() || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return InUse(port);
  }
  return fd;
}

absl::Status Listen(const UniqueFd& socket) {
  return listen(socket.get(), kBacklog) == 0 ? absl::OkStatus() : InUse(PortOf(socket));
}

std::uint16_t PortOf(const UniqueFd& socket) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  return getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0
             ? ntohs(address.sin_port)
             : std::uint16_t{0};
}

absl::StatusOr<UniqueFd> BeginConnection(const ForwardedPort& target) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int found =
      getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list);
  if (found != 0) {
    return Unreached(target, gai_strerror(found));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, &freeaddrinfo);
  std::string why = "no address";
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    UniqueFd fd(socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd.valid() &&
        (connect(fd.get(), each->ai_addr, each->ai_addrlen) == 0 || errno == EINPROGRESS)) {
      return fd;
    }
    why = ErrorText(errno);
  }
  return Unreached(target, why);
}

absl::Status CheckListens(const ForwardedPort& target) {
  ASSIGN_OR_RETURN(const UniqueFd fd, BeginConnection(target));
  pollfd watched = {fd.get(), POLLOUT, 0};
  if (poll(&watched, 1, kPatienceMs) != 1) {
    return Unreached(target, "no answer within 10 s");
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? absl::OkStatus() : Unreached(target, ErrorText(error));
}

}  // namespace muster::cli
