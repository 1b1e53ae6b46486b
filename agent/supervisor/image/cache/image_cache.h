#pragma once

// A user's directory on a node: unpacked images, which the next job of theirs finds, and the
// changed files of containers under way.
//
//   images/KEY/rootfs     the image's files; image.json, what it says of itself; layout, what it
//   was
//                         unpacked from, where other nodes may want it
//   named/NAME/upper      what a named container has changed; image, the key of what lies below
//   run/ATTEMPT.N/        what a container of an attempt has changed
//   fetch/KEY             locked while that image is fetched, so that it is fetched once
//   images/KEY/ahead      as long as it was fetched for a job that waits, and none has had it
//
// Everything belongs to the user; whoever spoils it spoils their own. What is used is locked
// (flock(2) on its directory) by a descriptor that the supervisor keeps; what nobody has locked may
// go. Thread promise: the one thread of the program. Invariant: an image is there whole or not at
// all.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/image/cache/image_facts.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct CachedImage {
  std::string rootfs;
  ImageFacts facts;
  UniqueFd lock;  // keeps it
};

// A directory that is ours while `lock` is open.
struct LockedDirectory {
  std::string path;
  UniqueFd lock;
};

// For which jobs a cache is opened. What is kept for one that waits goes last, and for another one
// that waits it does not go at all, until it is kAheadKept old.
enum class CacheUse { kStarting, kWaiting };
inline constexpr std::chrono::hours kAheadKept{24};

class ImageCache {
 public:
  // One that is mounted takes no room, but a directory.
  static constexpr std::size_t kEntriesMax = 1000;

  // `bytes`: of images that are kept. The directory is made, for its user alone.
  static absl::StatusOr<ImageCache> Open(const std::string& directory, std::uint64_t bytes,
                                         CacheUse use = CacheUse::kStarting);

  // The image of that key, if it is there; it counts as used just now.
  [[nodiscard]] absl::StatusOr<std::optional<CachedImage>> Find(const std::string& key) const;

  // Finds it, or has `make` fill a directory with its `rootfs` and say what it is; others who want
  // the same wait. Afterwards the images that were not used for the longest time go, until all fit
  // and there are kEntriesMax.
  using Make = std::function<absl::StatusOr<ImageFacts>(const std::string& draft)>;
  [[nodiscard]] absl::StatusOr<CachedImage> FindOrMake(const std::string& key,
                                                       const Make& make) const;

  // Takes the images that were not used for the longest time away, until so much more would fit,
  // and what processes left that were ended while they made one. False: it does not fit beside
  // what is used.
  [[nodiscard]] bool MakeRoom(std::uint64_t bytes) const;

  // Whether FindOrMake of another process is at that key.
  [[nodiscard]] bool IsBeingMade(const std::string& key) const;

  // A directory of its own for a container of that attempt; what ended containers left goes.
  [[nodiscard]] absl::StatusOr<LockedDirectory> MakeScratch(const std::string& attempt) const;
  // Of the container of that name, over the image `key`. FailedPrecondition: another one uses it,
  // or it was made from another image.
  [[nodiscard]] absl::StatusOr<LockedDirectory> OpenNamed(const std::string& name,
                                                          const std::string& key) const;

  // The room that an image may take.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  ImageCache(std::string directory, std::uint64_t bytes, CacheUse use)
      : directory_(std::move(directory)), bytes_(bytes), use_(use) {}

  // Notes for whom it was found.
  [[nodiscard]] CachedImage Noted(CachedImage image, const std::string& key) const;
  [[nodiscard]] std::string PathOf(const std::string& key) const;
  void SweepScratch() const;

  std::string directory_;
  std::uint64_t bytes_;
  CacheUse use_;
};

// Where the layout is from which that `rootfs` was unpacked, if it was kept.
std::string LayoutBeside(const std::string& rootfs);

// A name for a digest, or for what the file at `path` is now, that can be a directory's.
std::string KeyOfDigest(const std::string& digest);
absl::StatusOr<std::string> KeyOfFile(const std::string& path);

}  // namespace muster::agent
