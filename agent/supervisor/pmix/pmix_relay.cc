#include "agent/supervisor/pmix/pmix_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/socket/socket_owner.h"

namespace muster::agent {
namespace {

constexpr int kDoorBacklog = 4096;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

// One direction of a connection.
struct Flow {
  std::string held;  // taken from one side and not yet by the other
  bool ended = false;
  bool end_passed = false;
};

struct Pair {
  UniqueFd rank;
  UniqueFd server;
  Flow up;    // from the rank
  Flow down;  // to it
};

absl::StatusOr<sockaddr_in> AddressIn(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint32_t port = 0;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) ||
      port > UINT16_MAX ||
      inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("the address of libpmix's server: ", text));
  }
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void SendSoon(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

// Moves what can be moved now; false when the connection is broken.
bool Move(int from, int to, Flow* flow) {
  if (!flow->ended && flow->held.size() < kPieceBytes) {
    std::array<char, kPieceBytes> piece;  // not set: most are short
    const ssize_t got = recv(from, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
      return false;
    }
    flow->ended = got == 0;
    flow->held.append(piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  while (!flow->held.empty()) {
    const ssize_t sent =
        send(to, flow->held.data(), flow->held.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      return errno == EAGAIN || errno == EINTR;
    }
    flow->held.erase(0, static_cast<std::size_t>(sent));
  }
  if (flow->ended && !std::exchange(flow->end_passed, true)) {
    shutdown(to, SHUT_WR);
  }
  return true;
}

short EventsFor(const Flow& in, const Flow& out) {
  const int reads = !in.ended && in.held.size() < kPieceBytes ? POLLIN : 0;
  return static_cast<short>(reads | (out.held.empty() ? 0 : POLLOUT));
}

class Relay {
 public:
  Relay(UniqueFd door, const sockaddr_in& server, std::size_t connections_max, uid_t user)
      : door_(std::move(door)),
        server_(server),
        connections_max_(connections_max),
        user_(user),
        knows_users_(TellsOwners(door_.get())) {}

  [[noreturn]] void Run() {
    while (true) {
      std::vector<pollfd> ready = {{door_.get(), POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        ready.push_back({pair.rank.get(), EventsFor(pair.up, pair.down), 0});
        ready.push_back({pair.server.get(), EventsFor(pair.down, pair.up), 0});
      }
      if (poll(ready.data(), ready.size(), -1) < 0) {
        continue;
      }
      std::size_t at = 1;
      for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
        const short rank = ready[at].revents;
        const short server = ready[at + 1].revents;
        // An end that was seen and that says more is a broken one.
        const bool broken = ((rank | server) & (POLLERR | POLLNVAL)) != 0 ||
                            ((rank & POLLHUP) != 0 && pair->up.ended) ||
                            ((server & POLLHUP) != 0 && pair->down.ended);
        const bool goes_on = !broken && ((rank | server) == 0 || Carry(*pair));
        pair = goes_on ? std::next(pair) : pairs_.erase(pair);
      }
      if (ready[0].revents != 0) {
        Accept();
      }
    }
  }

 private:
  static bool Carry(Pair& pair) {
    return Move(pair.rank.get(), pair.server.get(), &pair.up) &&
           Move(pair.server.get(), pair.rank.get(), &pair.down) &&
           !(pair.up.end_passed && pair.down.end_passed);
  }

  // One whose process is gone already has no owner, and no use.
  [[nodiscard]] bool MayCall(int rank) const {
    const std::optional<uid_t> owner = PeerOwner(rank);
    return !knows_users_ || owner == user_ || owner == uid_t{0};
  }

  void Accept() {
    while (true) {
      UniqueFd rank = AcceptConnection(door_.get());
      if (!rank.valid()) {
        return;
      }
      if (!MayCall(rank.get())) {
        continue;
      }
      // The server is this machine's: it answers at once.
      UniqueFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (pairs_.size() < connections_max_ && server.valid() &&
          connect(server.get(), reinterpret_cast<const sockaddr*>(&server_), sizeof(server_)) ==
              0) {
        SendSoon(rank.get());
        SendSoon(server.get());
        pairs_.push_back({std::move(rank), std::move(server), {}, {}});
      }
    }
  }

  const UniqueFd door_;
  const sockaddr_in server_;
  const std::size_t connections_max_;
  const uid_t user_;
  const bool knows_users_;
  std::list<Pair> pairs_;
};

}  // namespace

absl::StatusOr<UniqueFd> OpenPmixDoor(int* port) {
  UniqueFd door(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!door.valid() ||
      bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(door.get(), kDoorBacklog) != 0 ||
      getsockname(door.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot listen for ranks on the loopback");
  }
  *port = ntohs(address.sin_port);
  return door;
}

absl::Status StartPmixRelay(UniqueFd door, const std::string& server, std::size_t connections_max,
                            uid_t user) {
  const absl::StatusOr<sockaddr_in> address = AddressIn(server);
  if (!address.ok()) {
    return address.status();
  }
  // Our thread's signals are blocked, and with them its.
  std::thread([relay = std::make_shared<Relay>(std::move(door), *address, connections_max, user)] {
    relay->Run();
  }).detach();
  return absl::OkStatus();
}

}  // namespace muster::agent
