#include "agent/supervisor/attempt/rendezvous.h"

#include <array>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

// Above the ports of steps (environment.h) and below those that the kernel gives to clients.
constexpr std::uint16_t kPortFirst = 30000;
constexpr std::uint32_t kPortCount = 2768;
constexpr std::size_t kCodeBytes = 12;  // 96 bits: nobody guesses them

}  // namespace

Rendezvous RendezvousOf(const LaunchOrder& launch) {
  const std::string name = absl::StrCat(launch.job.value(), ".", launch.attempt.value());
  const std::string code = MacOf(launch.secret, {"rendezvous ", launch.cluster, " ", name});
  std::uint32_t number = 0;
  for (std::size_t i = kCodeBytes; i < kCodeBytes + 4; ++i) {
    number = number * 256 + static_cast<unsigned char>(code[i]);
  }
  return {absl::StrCat(name, ".", std::string(absl::BytesToHexString(code.substr(0, kCodeBytes)))),
          static_cast<std::uint16_t>(kPortFirst + number % kPortCount)};
}

}  // namespace muster::agent
