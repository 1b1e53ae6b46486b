#include "agent/supervisor/launch/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::uint32_t kSideMax = 10'000;

unsigned short Side(std::uint32_t characters) {
  return static_cast<unsigned short>(std::clamp(characters, 1U, kSideMax));
}

}  // namespace

absl::StatusOr<StepTerminal> StepTerminal::Open(const TerminalSize& size, const JobUser* user) {
  const auto failed = [] { return absl::ErrnoToStatus(errno, "cannot make a terminal"); };
  StepTerminal made;
  made.ours.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 128> name = {};
  if (!made.ours.valid() || grantpt(made.ours.get()) != 0 || unlockpt(made.ours.get()) != 0 ||
      ptsname_r(made.ours.get(), name.data(), name.size()) != 0) {
    return failed();
  }
  made.theirs.reset(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.theirs.valid() || fchmod(made.theirs.get(), S_IRUSR | S_IWUSR) != 0 ||
      (user != nullptr && fchown(made.theirs.get(), user->uid, user->gid) != 0)) {
    return failed();
  }
  made.Resize(size);
  return made;
}

void StepTerminal::Resize(const TerminalSize& size) const {
  winsize wanted = {};
  wanted.ws_row = Side(size.rows);
  wanted.ws_col = Side(size.columns);
  ioctl(ours.get(), TIOCSWINSZ, &wanted);
}

}  // namespace muster::agent
