#pragma once

// Standard output: what kind of page it takes, and writing one to it.
//
// Thread promise: the main thread's. Invariants: colour and cutting happen on terminals only;
// NO_COLOR and TERM=dumb are honoured; a page that could not be written is an error.

#include <string>

#include "absl/status/status.h"
#include "cli/frame/environment.h"
#include "cli/page/style.h"

namespace muster::cli {

// The style for file descriptor `fd`: its width if it is a terminal; box characters if LC_ALL,
// LC_CTYPE or LANG (the first that is set) names UTF-8; times in the local zone.
Style StyleFor(const Environment& environment, int fd);

// Writes `page` to standard output, all of it.
absl::Status WriteOut(const std::string& page);

}  // namespace muster::cli
