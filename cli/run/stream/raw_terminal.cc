#include "cli/run/stream/raw_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::cli {

absl::StatusOr<TerminalSize> SizeOfTerminal() {
  if (isatty(STDIN_FILENO) == 0) {
    return absl::FailedPreconditionError(
        "--pty: standard input is not a terminal: run it from one, or leave --pty out");
  }
  winsize size = {};
  constexpr TerminalSize kUnknown{24, 80};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return kUnknown;
  }
  return TerminalSize{size.ws_row, size.ws_col};
}

void RawTerminal::Enter() {
  termios now = {};
  if (raw() || tcgetattr(STDIN_FILENO, &now) != 0) {
    return;
  }
  termios wanted = now;
  cfmakeraw(&wanted);
  if (tcsetattr(STDIN_FILENO, TCSADRAIN, &wanted) == 0) {
    before_ = now;
  }
}

void RawTerminal::Leave() {
  if (before_.has_value()) {
    tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
    before_.reset();
  }
}

}  // namespace muster::cli
