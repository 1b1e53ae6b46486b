#include "cli/up/web_place.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/mac.h"

namespace muster::cli {

WebPlace::WebPlace(const std::string& state)
    : directory(state + "/gateway"),
      links(state + "/gateway/links"),
      address(state + "/gateway/address"),
      socket(absl::StrCat("unix:", state, "/gateway.sock")) {}

std::string WebPlace::LinkOf(const std::string& code) const {
  // As daemon/gateway/link/web_sessions.cc names it: the file does not say the code.
  return absl::StrCat(links, "/", absl::BytesToHexString(MacOf("muster web link", {code})));
}

absl::StatusOr<UniqueFd> ListenForWeb(const std::string& address) {
  const auto bad = absl::InvalidArgumentError(absl::StrCat(
      "--web-address: ", Quote(address),
      " is not ADDRESS:PORT of this machine alone: use one like 127.0.0.1:7118; for others there "
      "is muster-gateway with --tls-cert"));
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return bad;
  }
  std::uint32_t port = 0;
  if (!absl::SimpleAtoi(address.substr(colon + 1), &port) || port > 0xFFFF) {
    return bad;
  }
  Address host;
  host.kind = Address::Kind::kTcp;
  host.host = address.substr(0, colon);
  if (host.host.size() > 2 && host.host.front() == '[' && host.host.back() == ']') {
    host.host = host.host.substr(1, host.host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (host.host.empty() || !IsLocal(host) ||
      getaddrinfo(host.host.c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
    return bad;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(found, freeaddrinfo);
  UniqueFd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  const int one = 1;
  if (!socket.valid() ||
      setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
      bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("--web-address ", address));
  }
  return socket;
}

std::string WebUrl(const UniqueFd& socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> port = {};
  if (getsockname(socket.get(), raw, &length) != 0 ||
      getnameinfo(raw, length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  const bool six = address.ss_family == AF_INET6;
  return absl::StrCat("http://", six ? "[" : "", host.data(), six ? "]" : "", ":", port.data(),
                      "/");
}

}  // namespace muster::cli
