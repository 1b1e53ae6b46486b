#include "daemon/handshake_log.h"

#include <arpa/inet.h>
#include <grpc/support/log.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace muster {
namespace {

constexpr const char* kComponent = "access";
constexpr std::size_t kToldMost = 4;

std::atomic<HandshakeLog*> the_log{nullptr};

void TakeFromGrpc(gpr_log_func_args* args) {
  if (HandshakeLog* const log = the_log.load(); log != nullptr) {
    log->Take(args->message);
  }
}

std::string Bare(const std::string& peer) {
  return absl::StrReplaceAll(peer.substr(peer.find(':') + 1), {{"%5B", "["}, {"%5D", "]"}});
}

// "10.0.0.1:4711", "[::1]:4711" of who is at the socket's other end; "" when it has none of TCP.
std::string PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "";
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return absl::StrCat(text.data(), ":", ntohs(four.sin_port));
  }
  if (address.ss_family != AF_INET6) {
    return "";
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    constexpr std::size_t kMappedAt = 12;
    inet_ntop(AF_INET, six.sin6_addr.s6_addr + kMappedAt, text.data(), text.size());
    return absl::StrCat(text.data(), ":", ntohs(six.sin6_port));
  }
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  return absl::StrCat("[", text.data(), "]:", ntohs(six.sin6_port));
}

// The port of TCP at our end of the socket; 0: it has none.
std::uint16_t OwnPort(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return address.ss_family == AF_INET
             ? reinterpret_cast<const sockaddr_in&>(address).sin_port
             : (address.ss_family == AF_INET6
                    ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                    : 0);
}

bool Listens(int fd) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

// Of all who have called this process.
std::set<std::string> Peers() {
  std::vector<int> connected;
  std::set<std::uint16_t> doors;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    int fd = -1;
    if (absl::SimpleAtoi(entry->path().filename().string(), &fd) && OwnPort(fd) != 0) {
      if (Listens(fd)) {
        doors.insert(OwnPort(fd));
      } else {
        connected.push_back(fd);
      }
    }
    entry.increment(error);
  }
  std::set<std::string> peers;
  for (const int fd : connected) {
    if (doors.count(OwnPort(fd)) != 0) {
      peers.insert(PeerOf(fd));
    }
  }
  peers.erase("");
  return peers;
}

}  // namespace

HandshakeLog::HandshakeLog(const Logger& log, const Clock& clock) : log_(log), clock_(clock) {
  the_log = this;
  gpr_set_log_function(TakeFromGrpc);
}

HandshakeLog::~HandshakeLog() {
  gpr_set_log_function(nullptr);
  the_log = nullptr;
}

void HandshakeLog::Know(const std::string& peer) {
  const MutexLock lock(&mutex_);
  known_.insert(Bare(peer));
}

void HandshakeLog::Take(const std::string& text) {
  const MutexLock lock(&mutex_);
  int untold = 0;
  if (!MayTell(untold)) {
    return;
  }
  const bool handshake = text.find("Handshake failed") != std::string::npos;
  const std::string more = untold == 0 ? "" : absl::StrCat(" (and ", untold, " lines like this)");
  log_.Warning(kComponent, handshake ? absl::StrCat("refused ", Strangers(), ": ", text, more)
                                     : absl::StrCat("gRPC: ", text, more));
}

bool HandshakeLog::MayTell(int& untold) {
  const SteadyTime now = clock_.SteadyNow();
  if (second_ == SteadyTime::min() || now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    told_ = 0;
  }
  if (++told_ > kLinesASecond) {
    ++untold_;
    return false;
  }
  untold = std::exchange(untold_, 0);
  return true;
}

std::string HandshakeLog::Strangers() {
  const std::set<std::string> peers = Peers();
  std::erase_if(known_, [&peers](const std::string& known) { return peers.count(known) == 0; });
  std::vector<std::string> strangers;
  for (const std::string& peer : peers) {
    if (known_.count(peer) == 0) {
      strangers.push_back(peer);
    }
  }
  if (strangers.empty()) {
    return "a caller who is gone";
  }
  const std::size_t all = strangers.size();
  strangers.resize(std::min(all, kToldMost));
  return absl::StrCat(all == 1 ? "" : "one of ", absl::StrJoin(strangers, ", "),
                      all > kToldMost ? absl::StrCat(" and ", all - kToldMost, " more") : "");
}

}  // namespace muster
