#include "agent/supervisor/image/image_fetch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kWords = 4;

}  // namespace

absl::StatusOr<FetchAhead> ReadFetchWords(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment) {
  FetchAhead wanted;
  std::uint32_t patience = 0;
  const std::string sharing = words.size() == kWords + 1 ? words[kWords] : "";
  const bool one_machine = sharing == "shared-here";
  const bool asks = sharing == "shared" || one_machine;
  if (words.size() != kWords + (asks ? 1 : 0) || !absl::SimpleAtoi(words[2], &wanted.cache_size) ||
      !absl::SimpleAtoi(words[3], &patience)) {
    return absl::InvalidArgumentError("fetch: give IMAGE CACHE BYTES SECONDS [shared|shared-here]");
  }
  wanted.image = words[0];
  wanted.cache = words[1];
  wanted.tools = FetchTools{environment, std::chrono::seconds(patience)};
  wanted.asks = asks;
  wanted.tools.sharing.one_machine = one_machine;
  return wanted;
}

absl::StatusOr<UniqueFd> TakeTurn(const std::string& cache, std::uint64_t cache_size) {
  RETURN_IF_ERROR(ImageCache::Open(cache, cache_size).status());
  const std::string path = cache + "/ahead";
  UniqueFd turn(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (turn.valid() && flock(turn.get(), LOCK_EX | LOCK_NB) == 0) {
    return turn;
  }
  return errno == EWOULDBLOCK ? absl::UnavailableError(kFetchBusy)
                              : absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
}

absl::Status Fetch(const FetchAhead& wanted) {
  ASSIGN_OR_RETURN(const ImageCache cache,
                   ImageCache::Open(wanted.cache, wanted.cache_size, CacheUse::kWaiting));
  setpriority(PRIO_PROCESS, 0, kLeastPriority);  // jobs that run have the node
  return FindImage(wanted.image, cache, wanted.tools).status();
}

}  // namespace muster::agent
