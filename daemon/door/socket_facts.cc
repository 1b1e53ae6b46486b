#include "daemon/door/socket_facts.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scheduler/runtime/socket/socket_owner.h"

namespace muster::daemon {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

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

}  // namespace

std::string PeerText(const sockaddr_storage& address) {
  const sockaddr_storage plain = PlainAddress(address);
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
  const sockaddr_storage other = PlainAddress(peer);
  std::string host = HostText(other, false);
  sockaddr_storage mine{};
  socklen_t size = sizeof(mine);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &size) != 0) {
    return host;
  }
  const sockaddr_storage own = PlainAddress(mine);
  const bool loopback =
      other.ss_family == AF_INET &&
      (ntohl(reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  if (!loopback && !SameHost(own, other)) {
    return host;
  }
  // All of loopback is one place; who has it to himself has 16 million addresses.
  const std::optional<uid_t> user = SocketOwner(other, own);
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
