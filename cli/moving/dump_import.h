#pragma once

// What `sacctmgr dump` wrote, as accounts and users.
//
// Lines are KIND - 'NAME':KEY='VALUE':…, with a Parent line in front of what is below it.
// Invariants: root is not written; a line that is none is an error with its place.

#include <string>

#include "absl/status/status.h"
#include "cli/moving/moved_settings.h"

namespace muster::cli {

absl::Status ImportDump(const std::string& text, const std::string& name, MovedSettings* settings);

}  // namespace muster::cli
