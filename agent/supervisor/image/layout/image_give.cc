#include "agent/supervisor/image/layout/image_give.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/layout/oci_layout.h"
#include "agent/supervisor/image/layout/shared_layout.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/digest.h"

namespace muster::agent {
namespace {

using GiveClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kConnectWithin{5};
constexpr std::chrono::seconds kTakeWithin{60};  // for which the other end may take nothing
constexpr std::chrono::hours kWaitLimit{2};
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::chrono::seconds kSayEvery{5};
constexpr int kLeastPriority = 19;
constexpr std::size_t kWordsLeast = 4;

// The image with its layout, as soon as it is there; meanwhile the other end is asked to wait.
absl::StatusOr<CachedImage> AwaitImage(const ImageCache& cache, const ImageGift& gift,
                                       ShareChannel& channel) {
  const std::string key = KeyOfDigest(gift.digest);
  const auto begun = GiveClock::now();
  auto wanted_since = begun;  // nobody has fetched it since
  auto said = begun;
  for (;;) {
    ASSIGN_OR_RETURN(std::optional<CachedImage> found, cache.Find(key));
    if (found.has_value()) {
      return *std::move(found);
    }
    const auto now = GiveClock::now();
    if (cache.IsBeingMade(key)) {
      wanted_since = now;
    }
    if (now - wanted_since > gift.soon || now - begun > kWaitLimit) {
      return absl::NotFoundError("it is not here");
    }
    if (now - said > kSayEvery) {
      RETURN_IF_ERROR(channel.Send(ShareKind::kWait, "", kTakeWithin));
      said = now;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

absl::Status SendFile(const std::string& path, ShareChannel& channel) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  std::string piece;
  for (;;) {
    piece.resize(ShareChannel::kTextBytesMax);
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got == 0) {
      return absl::OkStatus();
    }
    if (got < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    }
    piece.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    RETURN_IF_ERROR(channel.Send(ShareKind::kData, piece, kTakeWithin));
  }
}

absl::Status SendLayout(const std::string& layout, const std::vector<std::string>& names,
                        ShareChannel& channel) {
  for (const std::string& name : names) {
    RETURN_IF_ERROR(channel.Send(ShareKind::kFile, name, kTakeWithin));
    RETURN_IF_ERROR(SendFile(absl::StrCat(layout, "/", name), channel));
  }
  return channel.Send(ShareKind::kEnd, "", kTakeWithin);
}

absl::Status Refuse(const absl::Status& why, ShareChannel& channel) {
  channel.Send(ShareKind::kFetch, "", kTakeWithin).IgnoreError();
  return why;
}

}  // namespace

absl::StatusOr<ImageGift> ReadGiveWords(const std::vector<std::string>& words,
                                        const std::vector<std::string>& environment) {
  ImageGift gift;
  const std::string variable = absl::StrCat(kImageTokenVariable, "=");
  for (const std::string& entry : environment) {
    if (absl::StartsWith(entry, variable)) {
      gift.token = entry.substr(variable.size());
    }
  }
  const bool whole = words.size() >= kWordsLeast;
  const std::string word = whole ? words[0] : "";
  gift.kept = word == "kept";
  const bool gives = word == "image" || gift.kept;
  if (!gives) {
    gift.kind = word == "alone" ? ShareKind::kAlone : ShareKind::kFetch;
  }
  if (!whole || (!gives && word != "fetch" && word != "alone") || !IsDigest(words[1]) ||
      gift.token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "give: give image|kept|fetch|alone DIGEST CACHE ADDRESS..., and ", kImageTokenVariable));
  }
  gift.digest = words[1];
  gift.cache = words[2];
  gift.addresses.assign(words.begin() + 3, words.end());
  return gift;
}

absl::Status CheckGift(const ImageGift& gift) {
  if (!gift.kept) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const ImageCache cache, ImageCache::Open(gift.cache, 0));
  const std::string key = KeyOfDigest(gift.digest);
  ASSIGN_OR_RETURN(const std::optional<CachedImage> found, cache.Find(key));
  if (found.has_value()) {
    return FilesOfLayout(LayoutBeside(found->rootfs)).status();
  }
  return cache.IsBeingMade(key) ? absl::OkStatus() : absl::NotFoundError("it is not here any more");
}

absl::Status GiveImage(const ImageGift& gift) {
  setpriority(PRIO_PROCESS, 0, kLeastPriority);  // jobs that run have the node
  ASSIGN_OR_RETURN(ShareChannel channel,
                   ShareChannel::Call(gift.addresses, gift.token, kConnectWithin));
  if (gift.kind != ShareKind::kData) {
    return channel.Send(gift.kind, "", kTakeWithin);
  }
  RETURN_IF_ERROR(channel.Send(ShareKind::kWait, "", kTakeWithin));
  const absl::StatusOr<ImageCache> cache = ImageCache::Open(gift.cache, 0);
  if (!cache.ok()) {
    return Refuse(cache.status(), channel);
  }
  const absl::StatusOr<CachedImage> image = AwaitImage(*cache, gift, channel);
  if (!image.ok()) {
    return Refuse(image.status(), channel);
  }
  const std::string layout = LayoutBeside(image->rootfs);
  const absl::StatusOr<std::vector<std::string>> names = FilesOfLayout(layout);
  return names.ok() ? SendLayout(layout, *names, channel) : Refuse(names.status(), channel);
}

}  // namespace muster::agent
