#pragma once

// Completion scripts, written from the table of verbs.
//
// Invariant: every verb and every shown option of it is offered, and nothing else.

#include <string>
#include <vector>

#include "cli/frame/verb.h"

namespace muster::cli {

// A script for bash: `source <(muster completion bash)`.
std::string BashCompletion(const std::vector<Verb>& verbs);

}  // namespace muster::cli
