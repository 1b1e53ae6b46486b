#include "scheduler/model/job/step_io.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace muster {
namespace {

constexpr const char* kUnixScheme = "unix:/";
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kHostBytesMax = 255;
constexpr std::size_t kTokenDigits = 32;

bool IsUnix(const std::string& address) {
  return address.rfind(kUnixScheme, 0) == 0 && address.size() < kPathBytesMax &&
         std::none_of(address.begin(), address.end(),
                      [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

bool IsTcp(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon > kHostBytesMax) {
    return false;
  }
  const std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  const auto may_be = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string(".-_:%[]").find(c) != std::string::npos;
  };
  unsigned number = 0;
  return std::all_of(host.begin(), host.end(), may_be) &&
         std::all_of(port.begin(), port.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(port, &number) && number > 0 && number < 65536;
}

}  // namespace

absl::Status CheckStepIo(const StepIo& io) {
  if (!IsUnix(io.address) && !IsTcp(io.address)) {
    return absl::InvalidArgumentError(
        "the address for the step's output is neither unix:/PATH nor HOST:PORT");
  }
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (io.token.size() != kTokenDigits || !std::all_of(io.token.begin(), io.token.end(), hex)) {
    return absl::InvalidArgumentError(
        "the token for the step's output is not 32 lower-case hex digits");
  }
  return absl::OkStatus();
}

}  // namespace muster
