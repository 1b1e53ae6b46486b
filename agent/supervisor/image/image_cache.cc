#include "agent/supervisor/image/image_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/tree_size.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;
using CacheJson = nlohmann::json;

constexpr Duration kRemovalLimit{60000};
constexpr int kScratchesMax = 10'000;  // of one attempt

absl::Status MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
}

// A lock on the directory that is at `path` now; an invalid descriptor: it is gone, or in use.
UniqueFd LockDirectory(const std::string& path, int operation) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat locked = {};
  struct stat there = {};
  const bool same = fd.valid() && flock(fd.get(), operation) == 0 &&
                    fstat(fd.get(), &locked) == 0 && lstat(path.c_str(), &there) == 0 &&
                    locked.st_ino == there.st_ino && locked.st_dev == there.st_dev;
  return same ? std::move(fd) : UniqueFd();
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    names.push_back(each->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string DescriptionOf(const ImageFacts& facts, std::uint64_t bytes) {
  const CacheJson document = {
      {"digest", facts.digest},           {"architecture", facts.architecture},
      {"environment", facts.environment}, {"work_dir", facts.work_dir},
      {"entrypoint", facts.entrypoint},   {"bytes", bytes}};
  return document.dump(2, ' ', false, CacheJson::error_handler_t::replace);
}

struct Described {
  ImageFacts facts;
  std::uint64_t bytes = 0;
};

absl::StatusOr<Described> ReadDescription(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path + "/image.json"));
  const CacheJson document = CacheJson::parse(text, nullptr, /*allow_exceptions=*/false);
  Described described;
  try {
    described.facts.digest = document.at("digest").get<std::string>();
    described.facts.architecture = document.at("architecture").get<std::string>();
    described.facts.environment = document.at("environment").get<std::vector<std::string>>();
    described.facts.work_dir = document.at("work_dir").get<std::string>();
    described.facts.entrypoint = document.at("entrypoint").get<std::vector<std::string>>();
    described.bytes = document.at("bytes").get<std::uint64_t>();
  } catch (const CacheJson::exception&) {
    return absl::DataLossError(absl::StrCat(path, "/image.json describes no image: remove ", path));
  }
  return described;
}

// Takes it out of sight first, so that nobody finds half of it.
void RemoveAside(const std::string& path) {
  const std::string aside = absl::StrCat(fs::path(path).parent_path().string(), "/.gone.", getpid(),
                                         ".", fs::path(path).filename().string());
  if (rename(path.c_str(), aside.c_str()) == 0) {
    RemoveTree(aside, kRemovalLimit).IgnoreError();
  }
}

}  // namespace

absl::StatusOr<ImageCache> ImageCache::Open(const std::string& directory, std::uint64_t bytes) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  for (const char* part : {"images", "named", "run", "fetch"}) {
    RETURN_IF_ERROR(MakeDirectory(absl::StrCat(directory, "/", part)));
  }
  return ImageCache(directory, bytes);
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
  ASSIGN_OR_RETURN(Described described, ReadDescription(path));
  // To the nanosecond, which the file system's own clock does not tell apart.
  std::array<timespec, 2> now = {};
  clock_gettime(CLOCK_REALTIME, &now[0]);
  now[1] = now[0];
  futimens(lock.get(), now.data());
  return std::optional<CachedImage>(
      CachedImage{path + "/rootfs", std::move(described.facts), std::move(lock)});
}

absl::StatusOr<CachedImage> ImageCache::FindOrMake(const std::string& key, const Make& make) const {
  const auto find = [&]() -> absl::StatusOr<std::optional<CachedImage>> { return Find(key); };
  ASSIGN_OR_RETURN(std::optional<CachedImage> found, find());
  if (found.has_value()) {
    return *std::move(found);
  }
  const std::string fetch = absl::StrCat(directory_, "/fetch/", key);
  const UniqueFd mine(open(fetch.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!mine.valid() || flock(mine.get(), LOCK_EX) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", fetch));
  }
  ASSIGN_OR_RETURN(found, find());  // whom we waited for has made it
  if (found.has_value()) {
    return *std::move(found);
  }
  const std::string draft = absl::StrCat(directory_, "/images/.draft.", key);
  RETURN_IF_ERROR(RemoveTree(draft, kRemovalLimit));
  RETURN_IF_ERROR(MakeDirectory(draft));
  absl::StatusOr<ImageFacts> facts = make(draft);
  if (!facts.ok()) {
    RemoveTree(draft, kRemovalLimit).IgnoreError();
    return facts.status();
  }
  const TreeSize size = SizeOf(draft + "/rootfs", {UINT64_MAX, UINT64_MAX});
  RETURN_IF_ERROR(ReplaceFile(draft + "/image.json", DescriptionOf(*facts, size.bytes)));
  // A loss of power leaves a draft, and no image with holes.
  syncfs(mine.get());
  if (rename(draft.c_str(), PathOf(key).c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot keep ", PathOf(key)));
  }
  ASSIGN_OR_RETURN(found, find());
  if (!found.has_value()) {
    return absl::AbortedError(absl::StrCat("the image went again while it was kept as ", key));
  }
  Evict();
  return *std::move(found);
}

void ImageCache::Evict() const {
  struct Candidate {
    timespec used;
    std::string path;
    std::uint64_t bytes;
  };
  std::vector<Candidate> candidates;
  std::uint64_t all = 0;
  for (const std::string& name : NamesIn(directory_ + "/images")) {
    const std::string path = PathOf(name);
    struct stat there = {};
    if (absl::StartsWith(name, ".gone.")) {
      RemoveTree(path, kRemovalLimit).IgnoreError();  // who began that has not ended it
      continue;
    }
    const absl::StatusOr<Described> described = ReadDescription(path);
    if (!absl::StartsWith(name, ".") && described.ok() && lstat(path.c_str(), &there) == 0) {
      all += described->bytes;
      candidates.push_back({there.st_mtim, path, described->bytes});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Candidate& oldest : candidates) {
    if (all <= bytes_) {
      return;
    }
    const UniqueFd lock = LockDirectory(oldest.path, LOCK_EX | LOCK_NB);
    if (lock.valid()) {
      RemoveAside(oldest.path);
      all -= oldest.bytes;
    }
  }
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
  named.lock = LockDirectory(named.path, LOCK_EX | LOCK_NB);
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
  return named;
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
