#include "agent/supervisor/image/cache/image_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/cache/cache_entry.h"
#include "agent/supervisor/image/cache/tree_size.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr int kScratchesMax = 10'000;  // of one attempt
constexpr const char* kDraft = ".draft.";
constexpr const char* kAhead = "/ahead";
constexpr int kLockTries = 5;
constexpr Duration kLockPause{20};

absl::Status MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
}

// Whether it is kept for a job that waits.
bool IsAhead(const std::string& path) {
  struct stat mark = {};
  return lstat((path + kAhead).c_str(), &mark) == 0 &&
         std::chrono::system_clock::from_time_t(mark.st_mtime) + kAheadKept >
             std::chrono::system_clock::now();
}

void Remove(const std::string& path) {
  const std::string aside = MoveAside(path);
  RemoveTree(aside.empty() ? path : aside, kRemovalLimit).IgnoreError();
}

}  // namespace

absl::StatusOr<ImageCache> ImageCache::Open(const std::string& directory, std::uint64_t bytes,
                                            CacheUse use) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  for (const char* part : {"images", "named", "run", "fetch"}) {
    RETURN_IF_ERROR(MakeDirectory(absl::StrCat(directory, "/", part)));
  }
  return ImageCache(directory, bytes, use);
}

std::string ImageCache::PathOf(const std::string& key) const {
  return absl::StrCat(directory_, "/images/", key);
}

absl::StatusOr<std::optional<CachedImage>> ImageCache::Find(const std::string& key) const {
  const std::string path = PathOf(key);
  UniqueFd lock = LockDirectory(path, LOCK_SH);
  if (!lock.valid()) {
    return std::optional<CachedImage>();
  }
  ASSIGN_OR_RETURN(DescribedImage described, ReadDescription(path));
  CountAsUsed(lock.get());
  return std::optional<CachedImage>(
      CachedImage{path + "/rootfs", std::move(described.facts), std::move(lock)});
}

absl::StatusOr<CachedImage> ImageCache::FindOrMake(const std::string& key, const Make& make) const {
  const auto find = [&]() -> absl::StatusOr<std::optional<CachedImage>> { return Find(key); };
  ASSIGN_OR_RETURN(std::optional<CachedImage> found, find());
  if (found.has_value()) {
    return Noted(*std::move(found), key);
  }
  const std::string fetch = absl::StrCat(directory_, "/fetch/", key);
  const UniqueFd mine(open(fetch.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!mine.valid() || flock(mine.get(), LOCK_EX) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", fetch));
  }
  ASSIGN_OR_RETURN(found, find());  // whom we waited for has made it
  if (found.has_value()) {
    return Noted(*std::move(found), key);
  }
  const std::string draft = absl::StrCat(directory_, "/images/", kDraft, key);
  RETURN_IF_ERROR(RemoveTree(draft, kRemovalLimit));
  RETURN_IF_ERROR(MakeDirectory(draft));
  absl::StatusOr<ImageFacts> facts = make(draft);
  if (!facts.ok()) {
    RemoveTree(draft, kRemovalLimit).IgnoreError();
    return facts.status();
  }
  const TreeSize size = SizeOf(draft, {UINT64_MAX, UINT64_MAX});
  RETURN_IF_ERROR(ReplaceFile(draft + "/image.json", DescriptionOf({*facts, size.bytes})));
  // A loss of power leaves a draft, and no image with holes.
  syncfs(mine.get());
  if (rename(draft.c_str(), PathOf(key).c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot keep ", PathOf(key)));
  }
  ASSIGN_OR_RETURN(found, find());
  if (!found.has_value()) {
    return absl::AbortedError(absl::StrCat("the image went again while it was kept as ", key));
  }
  CachedImage made = Noted(*std::move(found), key);
  if (!MakeRoom(0) && use_ == CacheUse::kWaiting) {
    Remove(PathOf(key));
    return absl::ResourceExhaustedError("there is no room for it beside what jobs use");
  }
  return made;
}

CachedImage ImageCache::Noted(CachedImage image, const std::string& key) const {
  const std::string mark = PathOf(key) + kAhead;
  const bool changed =
      use_ == CacheUse::kWaiting ? ReplaceFile(mark, "").ok() : unlink(mark.c_str()) == 0;
  if (changed) {
    CountAsUsed(image.lock.get());  // the change has counted it by a coarser clock
  }
  return image;
}

bool ImageCache::IsBeingMade(const std::string& key) const {
  const UniqueFd fetch(
      open(absl::StrCat(directory_, "/fetch/", key).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  return fetch.valid() && flock(fetch.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool ImageCache::MakeRoom(std::uint64_t bytes) const {
  struct Candidate {
    timespec used;
    std::string path;
    std::uint64_t bytes;
    bool ahead;
  };
  std::vector<Candidate> candidates;
  std::uint64_t all = 0;
  for (const std::string& name : NamesIn(directory_ + "/images")) {
    const std::string path = PathOf(name);
    struct stat there = {};
    const bool left =
        absl::StartsWith(name, kDraft) && !IsBeingMade(name.substr(std::strlen(kDraft)));
    if (left || IsAside(name)) {
      RemoveTree(path, kRemovalLimit).IgnoreError();  // who began that has not ended it
      continue;
    }
    const absl::StatusOr<DescribedImage> described = ReadDescription(path);
    if (!absl::StartsWith(name, ".") && described.ok() && lstat(path.c_str(), &there) == 0) {
      all += described->bytes;
      candidates.push_back({there.st_mtim, path, described->bytes, IsAhead(path)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.ahead, a.used.tv_sec, a.used.tv_nsec) <
           std::tuple(b.ahead, b.used.tv_sec, b.used.tv_nsec);
  });
  std::size_t count = candidates.size();
  for (const Candidate& oldest : candidates) {
    if ((all + bytes <= bytes_ && count <= kEntriesMax) ||
        (oldest.ahead && use_ == CacheUse::kWaiting)) {
      break;
    }
    const UniqueFd lock = LockDirectory(oldest.path, LOCK_EX | LOCK_NB);
    if (lock.valid()) {
      Remove(oldest.path);
      all -= oldest.bytes;
      --count;
    }
  }
  return all + bytes <= bytes_ && count <= kEntriesMax;
}

void ImageCache::SweepScratch() const {
  for (const std::string& name : NamesIn(directory_ + "/run")) {
    const std::string path = absl::StrCat(directory_, "/run/", name);
    const UniqueFd lock = LockDirectory(path, LOCK_EX | LOCK_NB);
    if (lock.valid()) {
      RemoveTree(path, kRemovalLimit).IgnoreError();
    }
  }
}

absl::StatusOr<LockedDirectory> ImageCache::MakeScratch(const std::string& attempt) const {
  SweepScratch();
  for (int i = 0; i < kScratchesMax; ++i) {
    LockedDirectory made{absl::StrCat(directory_, "/run/", attempt, ".", i), UniqueFd()};
    if (mkdir(made.path.c_str(), 0700) == 0) {
      // Another one's sweep may have been quicker.
      made.lock = LockDirectory(made.path, LOCK_SH | LOCK_NB);
      if (made.lock.valid()) {
        return made;
      }
    } else if (errno != EEXIST) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", made.path));
    }
  }
  return absl::ResourceExhaustedError(absl::StrCat(directory_, "/run: too many containers"));
}

absl::StatusOr<LockedDirectory> ImageCache::OpenNamed(const std::string& name,
                                                      const std::string& key) const {
  LockedDirectory named{absl::StrCat(directory_, "/named/", name), UniqueFd()};
  RETURN_IF_ERROR(MakeDirectory(named.path));
  // Who lists the cache holds it for a moment.
  for (int i = 0; i < kLockTries && !named.lock.valid(); ++i) {
    std::this_thread::sleep_for(i == 0 ? Duration(0) : kLockPause);
    named.lock = LockDirectory(named.path, LOCK_EX | LOCK_NB);
  }
  if (!named.lock.valid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--container-name: the container ", name, " is in use on this node"));
  }
  const std::string record = named.path + "/image";
  const absl::StatusOr<std::string> made_from = ReadFile(record);
  if (absl::IsNotFound(made_from.status())) {
    RETURN_IF_ERROR(ReplaceFile(record, key));
  } else if (!made_from.ok() || *made_from != key) {
    return absl::FailedPreconditionError(
        absl::StrCat("--container-name: the container ", name, " was made from another image (",
                     made_from.ok() ? *made_from : "unknown", "): use another name"));
  }
  CountAsUsed(named.lock.get());
  return named;
}

std::string LayoutBeside(const std::string& rootfs) {
  return rootfs.substr(0, rootfs.rfind('/')) + "/layout";
}

std::string KeyOfDigest(const std::string& digest) {
  std::string key = digest;
  std::replace(key.begin(), key.end(), ':', '-');
  return key;
}

absl::StatusOr<std::string> KeyOfFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found = {};
  if (!file.valid() || fstat(file.get(), &found) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read the image ", path));
  }
  if (!S_ISREG(found.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("the image ", path, " is not a file"));
  }
  return absl::StrCat("file-", found.st_dev, "-", found.st_ino, "-", found.st_size, "-",
                      found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec);
}

}  // namespace muster::agent
