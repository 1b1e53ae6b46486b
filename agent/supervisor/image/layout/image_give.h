#pragma once

// An image of the cache, given to another node's process that wants it.
//
// Works as the user. Thread promise: the one thread of the program, which waits. Invariants: (1)
// the image stays in the cache while it is given; (2) nothing is fetched for it: what is not there,
// and nobody is fetching, is soon refused.

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/image/layout/share_channel.h"

namespace muster::agent {

struct ImageGift {
  ShareKind kind = ShareKind::kData;  // kData: the image; kFetch, kAlone: the word that none comes
  bool kept = false;  // the image is said to be here: who wants it need not wait to hear otherwise
  std::string digest = {};  // "sha256:…"
  std::string cache = {};   // the user's
  std::vector<std::string> addresses = {};
  std::string token = {};
  // An image that is not there and that nobody fetches may be about to be fetched: its job begins
  // at the same time.
  std::chrono::milliseconds soon = std::chrono::seconds(15);
};

// From the words that follow `muster-container give`: image|kept|fetch|alone DIGEST CACHE
// ADDRESS...
absl::StatusOr<ImageGift> ReadGiveWords(const std::vector<std::string>& words,
                                        const std::vector<std::string>& environment);

// NotFound: an image that is said to be here is not, and nobody fetches it.
absl::Status CheckGift(const ImageGift& gift);

absl::Status GiveImage(const ImageGift& gift);

}  // namespace muster::agent
