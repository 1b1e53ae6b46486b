#include "agent/supervisor/image/image_fetch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr std::size_t kWords = 4;
constexpr int kLeastPriority = 19;

}  // namespace

absl::StatusOr<FetchAhead> ReadFetchWords(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment) {
  FetchAhead wanted;
  std::uint32_t patience = 0;
  if (words.size() != kWords || !absl::SimpleAtoi(words[2], &wanted.cache_size) ||
      !absl::SimpleAtoi(words[3], &patience)) {
    return absl::InvalidArgumentError("fetch: give IMAGE CACHE BYTES SECONDS");
  }
  wanted.image = words[0];
  wanted.cache = words[1];
  wanted.tools = FetchTools{environment, std::chrono::seconds(patience)};
  return wanted;
}

absl::Status Fetch(const FetchAhead& wanted) {
  ASSIGN_OR_RETURN(const ImageCache cache, ImageCache::Open(wanted.cache, wanted.cache_size));
  const std::string path = wanted.cache + "/ahead";
  const UniqueFd turn(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!turn.valid() || flock(turn.get(), LOCK_EX) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
  }
  setpriority(PRIO_PROCESS, 0, kLeastPriority);  // jobs that run have the node
  return FindImage(wanted.image, cache, wanted.tools).status();
}

}  // namespace muster::agent
