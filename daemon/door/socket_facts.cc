#include "daemon/door/socket_facts.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A TCP address with IPv4 as itself, also where an IPv6 socket shows it as its own.
sockaddr_storage Plain(const sockaddr_storage& address) {
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

std::string HostText(const sockaddr_storage& plain, bool whole) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (plain.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(plain).sin_addr, text.data(),
              text.size());
    return text.data();
  }
  in6_addr six = reinterpret_cast<const sockaddr_in6&>(plain).sin6_addr;
  if (!whole) {
    std::memset(six.s6_addr + 8, 0, 8);
  }
  inet_ntop(AF_INET6, &six, text.data(), text.size());
  return text.data();
}

bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b) {
  return a.ss_family == b.ss_family && HostText(a, true) == HostText(b, true);
}

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

// Asks the kernel for the one connected socket whose own end is `own` and whose other is `other`.
std::optional<uid_t> AskOwner(const sockaddr_storage& own, const sockaddr_storage& other) {
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
  // A socket that its process has closed is shown as root's.
  return found.idiag_inode == 0 ? std::nullopt : std::optional<uid_t>(found.idiag_uid);
}

}  // namespace

std::string PeerText(const sockaddr_storage& address) {
  const sockaddr_storage plain = Plain(address);
  if (plain.ss_family == AF_INET) {
    return absl::StrCat(HostText(plain, true), ":",
                        ntohs(reinterpret_cast<const sockaddr_in&>(plain).sin_port));
  }
  if (plain.ss_family != AF_INET6) {
    return "";
  }
  return absl::StrCat("[", HostText(plain, true),
                      "]:", ntohs(reinterpret_cast<const sockaddr_in6&>(plain).sin6_port));
}

std::string PeerText(std::string_view grpc_peer) {
  if (!grpc_peer.starts_with("ipv4:") && !grpc_peer.starts_with("ipv6:")) {
    return "";
  }
  return absl::StrReplaceAll(std::string(grpc_peer.substr(5)), {{"%5B", "["}, {"%5D", "]"}});
}

std::string SourceOf(int fd, const sockaddr_storage& peer) {
  const sockaddr_storage other = Plain(peer);
  std::string host = HostText(other, false);
  sockaddr_storage mine{};
  socklen_t size = sizeof(mine);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &size) != 0) {
    return host;
  }
  const sockaddr_storage own = Plain(mine);
  const bool loopback =
      other.ss_family == AF_INET &&
      (ntohl(reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  if (!loopback && !SameHost(own, other)) {
    return host;
  }
  // All of loopback is one place; who has it to himself has 16 million addresses.
  const std::optional<uid_t> user = AskOwner(other, own);
  return user.has_value() ? absl::StrCat("user ", *user, " of this machine") : "this machine";
}

std::uint64_t BytesReceived(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received : 0;
}

void LimitWindow(int fd, int bytes) {
  setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes));
}

void DropUnread(int fd) {
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  connect(fd, &nobody, sizeof(nobody));
}

std::uint64_t CookieOf(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

int FirstBytesNeeded(std::string_view first, bool tls) {
  if (!tls) {
    const std::size_t seen = std::min(first.size(), kPreface.size());
    return first.substr(0, seen) == kPreface.substr(0, seen) ? static_cast<int>(kPreface.size())
                                                             : -1;
  }
  constexpr std::size_t kRecordHead = 5;
  constexpr char kHandshake = 22;
  constexpr char kTls = 3;
  if ((!first.empty() && first[0] != kHandshake) || (first.size() > 1 && first[1] != kTls)) {
    return -1;
  }
  if (first.size() < kRecordHead) {
    return kRecordHead;
  }
  const int length =
      static_cast<unsigned char>(first[3]) * 256 + static_cast<unsigned char>(first[4]);
  return length == 0 || length + static_cast<int>(kRecordHead) > kFirstBytesMax
             ? -1
             : static_cast<int>(kRecordHead) + length;
}

}  // namespace muster::daemon
