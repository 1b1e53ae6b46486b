#include "agent/supervisor/user_space/peer_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr int kPeerBacklog = 128;

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string TextOf(const sockaddr& address, std::uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return absl::StrCat(text.data(), ":", port);
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  return absl::StrCat("[", text.data(), "]:", port);
}

// One that others can use: link-local ones mean something else on each machine.
bool IsUseful(const ifaddrs& interface) {
  if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0 ||
      (interface.ifa_flags & IFF_LOOPBACK) != 0) {
    return false;
  }
  if (interface.ifa_addr->sa_family == AF_INET) {
    return true;
  }
  return interface.ifa_addr->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(
             &reinterpret_cast<const sockaddr_in6*>(interface.ifa_addr)->sin6_addr) == 0;
}

// `device` "": any.
absl::StatusOr<std::vector<std::string>> InterfaceAddresses(std::uint16_t port, bool six,
                                                            const std::string& device) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return absl::ErrnoToStatus(errno, "cannot list the network interfaces");
  }
  const std::unique_ptr<ifaddrs, FreeInterfaces> owner(list);
  std::vector<std::string> addresses;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
      if (IsUseful(*each) && each->ifa_addr->sa_family == family && (six || family == AF_INET) &&
          (device.empty() || device == each->ifa_name)) {
        addresses.push_back(TextOf(*each->ifa_addr, port));
      }
    }
  }
  if (addresses.empty()) {
    return absl::FailedPreconditionError(
        "this node has no network address but the loopback: other nodes cannot call it");
  }
  return addresses;
}

// The first that is here and has an address; "": none.
std::string DeviceOf(const PeerTraffic& traffic) {
  for (const std::string& device : traffic.devices) {
    if (InterfaceAddresses(1, true, device).ok()) {
      return device;
    }
  }
  return "";
}

// What it accepts is marked and goes as it does.
template <class Address>
absl::StatusOr<UniqueFd> Listen(Address* address, const PeerTraffic& traffic = {}) {
  const int family = SocketAddress(*address).family();
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.valid()) {
    KeepTo(traffic, fd.get(), family);
  }
  socklen_t size = sizeof(*address);
  if (!fd.valid() || bind(fd.get(), reinterpret_cast<sockaddr*>(address), size) != 0 ||
      listen(fd.get(), kPeerBacklog) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(address), &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot listen for other nodes");
  }
  return fd;
}

}  // namespace

absl::StatusOr<SocketAddress> ParseSocketAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint32_t port = 0;
  const auto bad = [&text] {
    return absl::InvalidArgumentError(absl::StrCat("not an address: ", text));
  };
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port == 0 ||
      port > UINT16_MAX) {
    return bad();
  }
  std::string host = text.substr(0, colon);
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    return SocketAddress(four);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    return SocketAddress(six);
  }
  return bad();
}

bool KeepTo(const PeerTraffic& traffic, int socket, int family) {
  const std::string device = DeviceOf(traffic);
  bool kept = device.empty() || setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, device.c_str(),
                                           static_cast<socklen_t>(device.size())) == 0;
  if (traffic.dscp > 0) {
    constexpr int kBelowDscp = 2;  // bits: explicit congestion notification
    const int mark = static_cast<int>(traffic.dscp) << kBelowDscp;
    kept = setsockopt(socket, IPPROTO_IP, IP_TOS, &mark, sizeof mark) == 0 && kept;
    kept = (family != AF_INET6 ||
            setsockopt(socket, IPPROTO_IPV6, IPV6_TCLASS, &mark, sizeof mark) == 0) &&
           kept;
  }
  return kept;
}

absl::StatusOr<PeerListener> ListenForPeers(bool one_machine, const PeerTraffic& traffic) {
  PeerListener listener;
  const std::string device = DeviceOf(traffic);
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(one_machine ? INADDR_LOOPBACK : INADDR_ANY);
  if (one_machine) {
    ASSIGN_OR_RETURN(listener.socket, Listen(&four));
    listener.addresses = {TextOf(reinterpret_cast<const sockaddr&>(four), ntohs(four.sin_port))};
    return listener;
  }
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_any;
  absl::StatusOr<UniqueFd> both = Listen(&six, traffic);  // takes IPv4's calls, too
  if (both.ok()) {
    listener.socket = *std::move(both);
    ASSIGN_OR_RETURN(listener.addresses, InterfaceAddresses(ntohs(six.sin6_port), true, device));
    return listener;
  }
  ASSIGN_OR_RETURN(listener.socket, Listen(&four, traffic));
  ASSIGN_OR_RETURN(listener.addresses, InterfaceAddresses(ntohs(four.sin_port), false, device));
  return listener;
}

bool IsOneMachine(const std::string& controller) {
  if (controller.rfind("unix:", 0) == 0 || controller.rfind("localhost:", 0) == 0) {
    return true;
  }
  const absl::StatusOr<SocketAddress> address = ParseSocketAddress(controller);
  if (!address.ok()) {
    return false;
  }
  if (address->family() == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address->get())->sin_addr.s_addr) >> 24) ==
           IN_LOOPBACKNET;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address->get())->sin6_addr) !=
         0;
}

}  // namespace muster::agent
