#include "cli/frame/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::uint64_t kWidthMax = 10'000;

std::size_t TerminalWidth(const Environment& environment, int fd) {
  const absl::StatusOr<std::uint64_t> columns = ParseDigits(environment.Get("COLUMNS"), kWidthMax);
  if (columns.ok() && *columns != 0) {
    return static_cast<std::size_t>(*columns);
  }
  winsize size = {};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? size.ws_col : kUsualWidth;
}

bool IsUtf8Locale(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string value = absl::AsciiStrToLower(environment.Get(name)); !value.empty()) {
      return absl::StrContains(value, "utf-8") || absl::StrContains(value, "utf8");
    }
  }
  return false;
}

}  // namespace

Style StyleFor(const Environment& environment, int fd) {
  Style style;
  const bool terminal = isatty(fd) == 1;
  style.width = terminal ? TerminalWidth(environment, fd) : 0;
  style.colour =
      terminal && environment.Get("NO_COLOR").empty() && environment.Get("TERM") != "dumb";
  style.utf8 = IsUtf8Locale(environment);
  style.zone = absl::LocalTimeZone();
  return style;
}

absl::Status WriteOut(const std::string& page) {
  errno = 0;
  std::cout << page << std::flush;
  if (!std::cout) {
    const int error = errno;
    char text[128] = {};
    return absl::DataLossError(
        absl::StrCat("cannot write to standard output: ", strerror_r(error, text, sizeof(text)),
                     ": make room or write elsewhere"));
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
