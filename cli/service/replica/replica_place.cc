#include "cli/service/replica/replica_place.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

// The address of this end of a datagram socket to there; "" where no way leads there.
std::string SourceTowards(const addrinfo& there) {
  const UniqueFd way(socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  std::array<char, NI_MAXHOST> text = {};
  if (!way.valid() || connect(way.get(), there.ai_addr, there.ai_addrlen) != 0 ||
      getsockname(way.get(), address, &size) != 0 ||
      getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "";
  }
  return text.data();
}

}  // namespace

absl::StatusOr<std::string> OwnAddress(const Address& controller) {
  if (IsLocal(controller)) {
    return std::string(kLoopback);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(controller.host.c_str(), controller.port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat(controller.text, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (std::string own = SourceTowards(*each); !own.empty()) {
      return own;
    }
  }
  return absl::UnavailableError(absl::StrCat(controller.text, ": no way leads there"));
}

absl::StatusOr<std::vector<std::uint16_t>> FreePorts(std::size_t count) {
  std::vector<UniqueFd> sockets;  // kept until all are chosen
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    UniqueFd taken(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (!taken.valid() || bind(taken.get(), any, size) != 0 ||
        getsockname(taken.get(), any, &size) != 0) {
      return absl::ErrnoToStatus(errno, "no free port");
    }
    ports.push_back(ntohs(address.sin_port));
    sockets.push_back(std::move(taken));
  }
  return ports;
}

}  // namespace muster::cli
