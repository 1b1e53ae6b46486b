#pragma once

// What `muster images` is asked to do.
//
// Pure but for the working directory. Invariant: words that pass make one request that means
// something; the others are InvalidArgument, one line.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/model/request/image_questions.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

enum class ImageAction { kList, kPull, kPrune };

struct ImageWords {
  ImageAction action = ImageAction::kList;
  std::vector<std::string> images = {};  // with absolute paths
  std::vector<std::string> nodes = {};   // list and prune: empty: all
  PruneImages prune = {};                // prune
  // pull: what `muster run` gets.
  std::map<std::string, std::string> run = {};
};

// `directory`: the current one, from which paths are named.
absl::StatusOr<ImageWords> ReadImageWords(const Invocation& invocation,
                                          const std::string& directory);

// --nodelist; none: all nodes.
absl::StatusOr<std::vector<std::string>> ReadKeepers(const Invocation& invocation);

// --older-than; zero without it.
absl::StatusOr<Duration> ReadAge(const Invocation& invocation);

}  // namespace muster::cli
