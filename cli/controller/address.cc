#include "cli/controller/address.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kPortMax = 65535;
// Where the packages' controller listens, for those who may open it.
constexpr const char* kSystemSocket = "/run/muster/controller.sock";
constexpr const char* kClusterAuthority = "/etc/muster/ca.pem";

absl::StatusOr<std::string> Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": the current directory is gone: cd to one that exists"));
  }
  return absolute.lexically_normal().string();
}

}  // namespace

absl::StatusOr<Address> ParseAddress(const std::string& text) {
  if (const std::size_t comma = text.find(','); comma != std::string::npos) {
    ASSIGN_OR_RETURN(Address first, ParseAddress(text.substr(0, comma)));
    ASSIGN_OR_RETURN(const Address rest, ParseAddress(text.substr(comma + 1)));
    if (first.kind != rest.kind) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(text), ": controllers are all at sockets, or all at HOST:PORT"));
    }
    first.text = text;
    return first;
  }
  Address address;
  address.text = text;
  if (text.rfind("unix:", 0) == 0 && text.size() > 5) {
    address.path = text.substr(5);
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0 && text.rfind("unix:", 0) != 0 &&
      CheckText(text, 300).ok()) {
    address.kind = Address::Kind::kTcp;
    address.host = text.substr(0, colon);
    address.port = text.substr(colon + 1);
    const bool bracketed = address.host.front() == '[' && address.host.back() == ']';
    if (bracketed) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
    const absl::StatusOr<std::uint64_t> port = ParseDigits(address.port, kPortMax);
    const bool host_fits = bracketed || address.host.find_first_of(":/ ") == std::string::npos;
    if (port.ok() && *port > 0 && host_fits && !address.host.empty()) {
      return address;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(text), " is not an address: use unix:PATH or HOST:PORT"));
}

bool IsLocal(const Address& address) {
  in_addr four = {};
  in6_addr six = {};
  if (inet_pton(AF_INET, address.host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  if (inet_pton(AF_INET6, address.host.c_str(), &six) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  }
  return address.kind == Address::Kind::kUnix || address.host == "localhost";
}

absl::StatusOr<std::string> StateDirectory(const std::string& option,
                                           const Environment& environment) {
  if (!option.empty()) {
    return Absolute(option);
  }
  if (const std::string state = environment.Get("MUSTER_STATE"); !state.empty()) {
    return Absolute(state);
  }
  if (const std::string xdg = environment.Get("XDG_STATE_HOME"); !xdg.empty()) {
    return Absolute(xdg + "/muster");
  }
  if (const std::string home = environment.Get("HOME"); !home.empty()) {
    return Absolute(home + "/.local/state/muster");
  }
  return absl::InvalidArgumentError("no state directory: HOME is not set; use --state DIR");
}

absl::StatusOr<ClientKeys> FindKeys(const Address& address, const Environment& environment) {
  ClientKeys keys;
  if (address.kind == Address::Kind::kUnix) {
    return keys;
  }
  std::error_code error;
  keys.munge_socket = environment.Get("MUSTER_MUNGE_SOCKET");
  if (const std::string place = environment.Get("MUSTER_KEYS"); !place.empty()) {
    keys.authority = place + "/ca.pem";
    if (!std::filesystem::exists(keys.authority, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("MUSTER_KEYS: ", place, " has no ca.pem that you can read: bring it there"));
    }
    if (std::filesystem::exists(place + "/client.pem", error)) {
      keys.certificate = place + "/client.pem";
      keys.key = place + "/client.key";
    }
  } else {
    keys.authority = kClusterAuthority;
    if (!std::filesystem::exists(keys.authority, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat(address.text,
                       ": over TCP, and nothing says whom to trust: bring the cluster's ca.pem to ",
                       kClusterAuthority, ", or set MUSTER_KEYS to where it is"));
    }
  }
  return keys;
}

namespace {

absl::StatusOr<Address> PlainAddress(const std::string& option, const std::string& state_option,
                                     const Environment& environment) {
  if (!option.empty()) {
    return ParseAddress(option);
  }
  if (const std::string text = environment.Get("MUSTER_CONTROLLER");
      state_option.empty() && !text.empty()) {
    absl::StatusOr<Address> address = ParseAddress(text);
    if (!address.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("MUSTER_CONTROLLER: ", std::string(address.status().message())));
    }
    return address;
  }
  ASSIGN_OR_RETURN(const std::string state, StateDirectory(state_option, environment));
  const std::string own = state + "/controller.sock";
  const bool said = !state_option.empty() || !environment.Get("MUSTER_STATE").empty();
  if (!said && access(own.c_str(), F_OK) != 0 && access(kSystemSocket, R_OK | W_OK) == 0) {
    return ParseAddress(absl::StrCat("unix:", kSystemSocket));
  }
  return ParseAddress(absl::StrCat("unix:", own));
}

}  // namespace

absl::StatusOr<Address> ControllerAddress(const std::string& option,
                                          const std::string& state_option,
                                          const Environment& environment) {
  ASSIGN_OR_RETURN(Address address, PlainAddress(option, state_option, environment));
  ASSIGN_OR_RETURN(address.keys, FindKeys(address, environment));
  return address;
}

}  // namespace muster::cli
