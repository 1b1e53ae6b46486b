#pragma once

// Where a process can be called by others of its kind on other nodes: a supervisor by those of its
// step, or who wants an image by who has it.
//
// Thread promise: plain values and functions. Invariant: on a cluster of one machine only the
// loopback listens.

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// An internet address as the kernel takes it.
class SocketAddress {
 public:
  explicit SocketAddress(const sockaddr_in& four) : four_(four), family_(AF_INET) {}
  explicit SocketAddress(const sockaddr_in6& six) : six_(six), family_(AF_INET6) {}
  [[nodiscard]] int family() const { return family_; }
  [[nodiscard]] const sockaddr* get() const {
    return family_ == AF_INET ? reinterpret_cast<const sockaddr*>(&four_)
                              : reinterpret_cast<const sockaddr*>(&six_);
  }
  [[nodiscard]] socklen_t size() const { return family_ == AF_INET ? sizeof(four_) : sizeof(six_); }

 private:
  sockaddr_in four_ = {};
  sockaddr_in6 six_ = {};
  int family_;
};

// "192.0.2.1:7117" or "[2001:db8::1]:7117"; names are not resolved.
absl::StatusOr<SocketAddress> ParseSocketAddress(const std::string& text);

// By which NIC connections go, and how their packets are marked.
struct PeerTraffic {
  std::vector<std::string> devices;  // of these the first that is here; empty: any
  std::uint32_t dscp = 0;            // 0: as others are
};

// Before a socket of that family is bound or connected. False: it goes as any other does.
bool KeepTo(const PeerTraffic& traffic, int socket, int family);

// A listening socket at a port of the kernel's choice, and the addresses that lead to it.
struct PeerListener {
  UniqueFd socket;
  std::vector<std::string> addresses;
};

// On the loopback when all nodes are `one_machine`, else on every interface that is up and not the
// loopback.
// `traffic` (of several machines): only by its device, where that has an address.
absl::StatusOr<PeerListener> ListenForPeers(bool one_machine, const PeerTraffic& traffic = {});

// True when the nodes of a cluster whose controller is called at `controller` ("unix:PATH",
// "HOST:PORT") are all on this machine: no other machine could call it.
bool IsOneMachine(const std::string& controller);

}  // namespace muster::agent
