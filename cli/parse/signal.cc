#include "cli/parse/signal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kSignalMax = 64;
constexpr auto kNames = std::to_array<std::pair<const char*, int>>({
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},   {"KILL", SIGKILL},
    {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"URG", SIGURG},
    {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},   {"TTOU", SIGTTOU},
    {"PIPE", SIGPIPE}, {"CHLD", SIGCHLD}, {"XCPU", SIGXCPU}, {"WINCH", SIGWINCH},
});

}  // namespace

absl::StatusOr<std::uint32_t> ParseSignal(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.rfind("SIG", 0) == 0) {
    name.erase(0, 3);
  }
  for (const auto& [known, number] : kNames) {
    if (name == known) {
      return static_cast<std::uint32_t>(number);
    }
  }
  const absl::StatusOr<std::uint64_t> number = ParseDigits(text, kSignalMax);
  if (!number.ok() || *number == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a signal: use a name like USR1, or 1 to ", kSignalMax));
  }
  return static_cast<std::uint32_t>(*number);
}

}  // namespace muster::cli
