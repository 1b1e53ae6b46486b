#include "agent/node/network/tcp_connections.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// States of TCP, in the kernel's numbers (include/net/tcp_states.h): those in which an end may
// still send, or has still to have it acknowledged.
constexpr std::uint32_t kStates = 1U << 1      // established
                                  | 1U << 4    // FIN_WAIT1
                                  | 1U << 5    // FIN_WAIT2
                                  | 1U << 8    // CLOSE_WAIT
                                  | 1U << 9    // LAST_ACK
                                  | 1U << 11;  // CLOSING
// As much as the kernel hands over at once.
constexpr std::size_t kAnswerBytes = 64 << 10;
constexpr std::chrono::seconds kPatience{1};

UniqueFd OpenDiagnosis() {
  UniqueFd kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const timeval patience{kPatience.count(), 0};
  if (kernel.valid()) {
    setsockopt(kernel.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  return kernel;
}

bool AskForAll(int kernel, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } ask{};
  ask.header.nlmsg_len = sizeof(ask);
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  ask.request.sdiag_family = static_cast<std::uint8_t>(family);
  ask.request.sdiag_protocol = IPPROTO_TCP;
  ask.request.idiag_states = kStates;
  ask.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
  return send(kernel, &ask, sizeof(ask), 0) == sizeof(ask);
}

bool IsLoopback(const in_addr& address) {
  return ntohl(address.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

// An address of its own is reached without leaving the machine, as the loopback is.
bool IsLocal(const inet_diag_msg& message) {
  if (message.idiag_family == AF_INET) {
    in_addr own{message.id.idiag_src[0]};
    return IsLoopback(own) || message.id.idiag_src[0] == message.id.idiag_dst[0];
  }
  in6_addr own{};
  in6_addr other{};
  std::memcpy(&own, message.id.idiag_src, sizeof(own));
  std::memcpy(&other, message.id.idiag_dst, sizeof(other));
  in_addr four{};
  constexpr std::size_t kMappedAt = 12;
  std::memcpy(&four, own.s6_addr + kMappedAt, sizeof(four));
  return IN6_IS_ADDR_LOOPBACK(&own) || IN6_ARE_ADDR_EQUAL(&own, &other) ||
         (IN6_IS_ADDR_V4MAPPED(&own) && IsLoopback(four));
}

std::optional<TcpConnection> ConnectionOf(std::span<const std::byte> body) {
  inet_diag_msg message{};
  if (body.size() < sizeof(message)) {
    return std::nullopt;
  }
  std::memcpy(&message, body.data(), sizeof(message));
  TcpConnection connection;
  connection.cookie = std::uint64_t{message.id.idiag_cookie[1]} << 32 | message.id.idiag_cookie[0];
  connection.inode = message.idiag_inode;
  connection.local = IsLocal(message);
  std::span<const std::byte> rest = body.subspan(sizeof(message));
  rtattr attribute{};
  while (rest.size() >= sizeof(attribute)) {
    std::memcpy(&attribute, rest.data(), sizeof(attribute));
    if (attribute.rta_len < sizeof(attribute) || attribute.rta_len > rest.size()) {
      break;
    }
    if (attribute.rta_type == INET_DIAG_INFO) {
      const std::optional<TcpCounters> counters = CountersOf(
          rest.subspan(RTA_LENGTH(0), attribute.rta_len - static_cast<std::size_t>(RTA_LENGTH(0))));
      if (!counters.has_value()) {
        return std::nullopt;
      }
      connection.counters = *counters;
      return connection;
    }
    rest = rest.subspan(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), rest.size()));
  }
  return std::nullopt;
}

enum class Answer { kMore, kAll, kRefused };

Answer TakeMessages(std::span<const std::byte> rest, std::vector<TcpConnection>& connections) {
  nlmsghdr header{};
  while (rest.size() >= sizeof(header)) {
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.size()) {
      return Answer::kRefused;
    }
    if (header.nlmsg_type == NLMSG_DONE) {
      return Answer::kAll;
    }
    if (header.nlmsg_type == NLMSG_ERROR) {
      return Answer::kRefused;
    }
    const std::span<const std::byte> body =
        rest.subspan(NLMSG_HDRLEN, header.nlmsg_len - std::size_t{NLMSG_HDRLEN});
    if (const std::optional<TcpConnection> connection = ConnectionOf(body)) {
      connections.push_back(*connection);
    }
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
  }
  return Answer::kMore;
}

bool ReadFamily(int kernel, int family, std::vector<TcpConnection>& connections) {
  if (!AskForAll(kernel, family)) {
    return false;
  }
  std::vector<std::byte> buffer(kAnswerBytes);
  Answer answer = Answer::kMore;
  while (answer == Answer::kMore) {
    const ssize_t got = recv(kernel, buffer.data(), buffer.size(), 0);
    answer = got <= 0 ? Answer::kRefused
                      : TakeMessages(std::span(buffer).first(static_cast<std::size_t>(got)),
                                     connections);
  }
  return answer == Answer::kAll;
}

}  // namespace

std::optional<std::vector<TcpConnection>> ReadTcpConnections() {
  const UniqueFd kernel = OpenDiagnosis();
  std::vector<TcpConnection> connections;
  // A kernel without IPv6 has no connections of it.
  if (!kernel.valid() || !ReadFamily(kernel.get(), AF_INET, connections)) {
    return std::nullopt;
  }
  ReadFamily(kernel.get(), AF_INET6, connections);
  return connections;
}

std::optional<TcpCounters> CountersOf(std::span<const std::byte> tcp_info) {
  struct tcp_info info {};
  std::memcpy(&info, tcp_info.data(), std::min(tcp_info.size(), sizeof(info)));
  const auto has = [&](std::size_t offset, std::size_t bytes) {
    return tcp_info.size() >= offset + bytes;
  };
  if (!has(offsetof(struct tcp_info, tcpi_notsent_bytes), sizeof(info.tcpi_notsent_bytes))) {
    return std::nullopt;
  }
  TcpCounters counters;
  counters.sent = Bytes(info.tcpi_bytes_acked);
  counters.received = Bytes(info.tcpi_bytes_received);
  counters.queued =
      Bytes(info.tcpi_notsent_bytes + std::uint64_t{info.tcpi_unacked} * info.tcpi_snd_mss);
  if (has(offsetof(struct tcp_info, tcpi_busy_time), sizeof(info.tcpi_busy_time))) {
    counters.busy = std::chrono::microseconds(info.tcpi_busy_time);
  }
  if (has(offsetof(struct tcp_info, tcpi_bytes_retrans), sizeof(info.tcpi_bytes_retrans))) {
    counters.resent = Bytes(info.tcpi_bytes_retrans);
  }
  return counters;
}

}  // namespace muster::agent
