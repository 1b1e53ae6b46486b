#include "cli/connect/port_words.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kPortMax = 65535;

absl::Status NotPorts(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(text),
                   " is not [LOCAL:]PORT or LOCAL:HOST:PORT, like 8888, 9000:8888 or "
                   "9000:db:5432"));
}

}  // namespace

absl::StatusOr<ForwardedPort> ParseForwardedPort(const std::string& text) {
  ForwardedPort made;
  std::string local;
  std::string port = text;
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  if (first != std::string::npos) {
    local = text.substr(0, first);
    port = text.substr(last + 1);
  }
  if (first != last) {
    made.host = text.substr(first + 1, last - first - 1);
    const bool bracketed =
        made.host.size() > 2 && made.host.front() == '[' && made.host.back() == ']';
    if (bracketed) {
      made.host = made.host.substr(1, made.host.size() - 2);
    }
    if (made.host.empty() || (!bracketed && made.host.find_first_of(":[]") != std::string::npos)) {
      return NotPorts(text);
    }
  }
  const absl::StatusOr<std::uint64_t> there = ParseDigits(port, kPortMax);
  const absl::StatusOr<std::uint64_t> here =
      first == std::string::npos ? there : ParseDigits(local, kPortMax);
  if (!there.ok() || !here.ok() || *there == 0) {
    return NotPorts(text);
  }
  made.local = static_cast<std::uint16_t>(*here);
  made.port = static_cast<std::uint16_t>(*there);
  return made;
}

std::string EndOf(const ForwardedPort& port) {
  const bool six = port.host.find(':') != std::string::npos;
  return absl::StrCat(six ? "[" : "", port.host, six ? "]:" : ":", port.port);
}

}  // namespace muster::cli
