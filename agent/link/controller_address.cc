#include "agent/link/controller_address.h"

#include <sys/un.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::agent {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kUnixPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

absl::Status CheckUnix(const std::string& address) {
  const std::size_t length = address.size() - kUnix.size();
  if (length == 0 || length > kUnixPathBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": the path has ", length, " bytes, at most ",
                     kUnixPathBytesMax, " are possible; use a shorter one (a shorter --state)"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string UnixPath(const std::string& address) {
  return address.compare(0, kUnix.size(), kUnix) == 0 ? address.substr(kUnix.size()) : "";
}

std::string HowToMakeKeys(const std::string& node) {
  return absl::StrCat("make keys on the controller's machine (muster keys agent ", node,
                      "), bring them here as this user's alone and give --keys DIR");
}

absl::Status CheckControllerAddress(const std::string& address, const AgentTlsFiles& tls,
                                    const std::string& node) {
  if (address.find(',') != std::string::npos) {
    for (const std::string& one : std::vector<std::string>(absl::StrSplit(address, ','))) {
      absl::Status status = CheckControllerAddress(one, tls, node);
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  if (!tls.empty() && !tls.complete()) {
    return absl::InvalidArgumentError("give all of --tls-cert, --tls-key and --tls-ca, or none");
  }
  if (address.compare(0, kUnix.size(), kUnix) == 0) {
    return tls.empty() ? CheckUnix(address)
                       : absl::InvalidArgumentError(absl::StrCat(
                             "--controller ", address,
                             ": keys are for TCP: give HOST:PORT, where the controller listens ",
                             "with its keys"));
  }
  const std::size_t colon = address.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port == 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": expected unix:PATH or HOST:PORT"));
  }
  if (tls.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controller ", address, ": TCP needs keys: ", HowToMakeKeys(node)));
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
