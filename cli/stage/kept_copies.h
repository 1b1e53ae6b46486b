#pragma once

// `muster stage --list`, `--remove` and `--prune`: the copies of data that nodes keep for jobs
// (--stage-in-node).
//
// Invariant: what is shown and taken away is the caller's own, or, for an operator, of the user who
// is named; the controller sees to it.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/request/image_questions.h"

namespace muster::cli {

// Whether the invocation is about them.
bool IsAboutKeptCopies(const Invocation& invocation);

// What goes by --remove SRC… or --prune. `directory`: the current one, from which paths are named.
absl::StatusOr<PruneImages> ReadCopiesToRemove(const Invocation& invocation,
                                               const std::string& directory);

// With their places on their nodes left out: what they are of, as one document.
std::string PrintCopiesJson(const ImageTable& copies);

absl::StatusOr<int> ListOrRemoveCopies(const Invocation& invocation);

}  // namespace muster::cli
