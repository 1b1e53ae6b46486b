#include "agent/controller_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr std::size_t kUnixPrefixBytes = 5;  // "unix:"
constexpr std::size_t kUnixPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

bool IsLoopback(std::string host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  in_addr four = {};
  in6_addr six = {};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == 127;
  }
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  }
  return host == "localhost";
}

absl::Status CheckUnix(const std::string& address) {
  const std::size_t length = address.size() - kUnixPrefixBytes;
  if (length == 0 || length > kUnixPathBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": the path has ", length, " bytes, at most ",
                     kUnixPathBytesMax, " are possible; use a shorter one (a shorter --state)"));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsUnixAddress(const std::string& address) {
  return absl::StartsWith(address, "unix:");
}

absl::Status CheckControllerAddress(const std::string& address, const TlsFiles& tls) {
  if (!tls.empty() && !tls.complete()) {
    return absl::InvalidArgumentError("give all of --tls-cert, --tls-key and --tls-ca, or none");
  }
  if (IsUnixAddress(address)) {
    return CheckUnix(address);
  }
  const std::size_t colon = address.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port == 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": expected unix:PATH or HOST:PORT"));
  }
  if (tls.empty() && !IsLoopback(address.substr(0, colon))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": not on this machine, and jobs do not travel in ",
                     "the clear; give --tls-cert, --tls-key and --tls-ca"));
  }
  return absl::OkStatus();
}

}  // namespace muster
