#include "scheduler/runtime/socket/socket_owner.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

void Describe(const sockaddr_storage& plain, __be16& port, __be32* host) {
  if (plain.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(plain);
    port = four.sin_port;
    std::memcpy(host, &four.sin_addr, sizeof(four.sin_addr));
  } else {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(plain);
    port = six.sin6_port;
    std::memcpy(host, &six.sin6_addr, sizeof(six.sin6_addr));
  }
}

}  // namespace

sockaddr_storage PlainAddress(const sockaddr_storage& address) {
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  if (address.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    return address;
  }
  constexpr std::size_t kMappedAt = 12;
  sockaddr_storage plain{};
  auto& four = reinterpret_cast<sockaddr_in&>(plain);
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  std::memcpy(&four.sin_addr, six.sin6_addr.s6_addr + kMappedAt, sizeof(four.sin_addr));
  return plain;
}

std::optional<uid_t> SocketOwner(const sockaddr_storage& own, const sockaddr_storage& other) {
  const UniqueFd kernel(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } ask{};
  ask.header.nlmsg_len = sizeof(ask);
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST;
  ask.request.sdiag_family = static_cast<std::uint8_t>(own.ss_family);
  ask.request.sdiag_protocol = IPPROTO_TCP;
  ask.request.idiag_states = ~0U;
  ask.request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  ask.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  Describe(own, ask.request.id.idiag_sport, ask.request.id.idiag_src);
  Describe(other, ask.request.id.idiag_dport, ask.request.id.idiag_dst);
  if (!kernel.valid() || send(kernel.get(), &ask, sizeof(ask), 0) != sizeof(ask)) {
    return std::nullopt;
  }
  alignas(nlmsghdr) std::array<char, 1024> answer{};
  const ssize_t got = recv(kernel.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg))) ||
      header->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
    return std::nullopt;
  }
  inet_diag_msg found{};
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof(found));
  return found.idiag_inode == 0 ? std::nullopt : std::optional<uid_t>(found.idiag_uid);
}

std::optional<uid_t> PeerOwner(int fd) {
  sockaddr_storage mine{};
  sockaddr_storage peer{};
  socklen_t my_size = sizeof(mine);
  socklen_t peer_size = sizeof(peer);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &my_size) != 0 ||
      getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return std::nullopt;
  }
  return SocketOwner(PlainAddress(peer), PlainAddress(mine));
}

bool TellsOwners(int listener) {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return false;
  }
  sockaddr_storage any{};
  any.ss_family = own.ss_family;
  return SocketOwner(own, any).has_value();
}

}  // namespace muster
