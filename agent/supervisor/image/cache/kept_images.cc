#include "agent/supervisor/image/cache/kept_images.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/cache/cache_entry.h"
#include "agent/supervisor/image/cache/tree_size.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/contains.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

// Enough for what a person changes in a container; one that has more is said to have that much.
constexpr std::uint64_t kChangedFilesMax = 200'000;
constexpr std::size_t kShortDigits = 12;
constexpr const char* kDataDigest = "data-";  // of copies of data (data_copies)
constexpr std::string_view kDigestScheme = "sha256:";

struct Found {
  KeptImage image;
  std::string path;
};

Time UsedAt(const std::string& path) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) {
    return kNoTime;
  }
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::seconds(there.st_mtim.tv_sec) +
                                           std::chrono::nanoseconds(there.st_mtim.tv_nsec)));
}

bool IsUsed(const std::string& path) {
  return !LockDirectory(path, LOCK_EX | LOCK_NB).valid();
}

std::string DigestOfKey(const std::string& key) {
  constexpr std::string_view kKeyScheme = "sha256-";
  return absl::StartsWith(key, std::string(kKeyScheme))
             ? absl::StrCat(std::string(kDigestScheme), key.substr(kKeyScheme.size()))
             : key;
}

std::vector<Found> FindImages(const std::string& directory) {
  std::vector<Found> all;
  for (const std::string& key : NamesIn(directory + "/images")) {
    const std::string path = absl::StrCat(directory, "/images/", key);
    if (absl::StartsWith(key, ".") || all.size() >= kKeptMax) {
      continue;  // not whole yet, or no more
    }
    KeptImage image;
    image.used = UsedAt(path);
    const absl::StatusOr<DescribedImage> described = ReadDescription(path);
    image.name = described.ok() ? described->facts.name : "";
    image.digest = described.ok() ? described->facts.digest : DigestOfKey(key);
    image.architecture = described.ok() ? described->facts.architecture : "";
    image.bytes = described.ok() ? described->bytes : 0;
    image.in_use = IsUsed(path);
    all.push_back({std::move(image), path});
  }
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return std::tie(a.image.name, a.image.digest) < std::tie(b.image.name, b.image.digest);
  });
  return all;
}

std::vector<Found> FindContainers(const std::string& directory) {
  std::vector<Found> all;
  for (const std::string& name : NamesIn(directory + "/named")) {
    const std::string path = absl::StrCat(directory, "/named/", name);
    if (absl::StartsWith(name, ".") || all.size() >= kKeptMax) {
      continue;
    }
    KeptImage container;
    container.container = name;
    container.digest = DigestOfKey(ReadFile(path + "/image").value_or(""));
    container.used = UsedAt(path);
    container.bytes = SizeOf(path + "/upper", {UINT64_MAX, kChangedFilesMax}).bytes;
    container.in_use = IsUsed(path);
    all.push_back({std::move(container), path});
  }
  return all;
}

bool IsChosen(const KeptImage& image, const KeptChoice& choice, Time now) {
  if (!image.container.empty()) {
    return Contains(choice.containers, image.container);
  }
  const bool old = now - image.used >= choice.unused_for;
  const bool named =
      std::any_of(choice.images.begin(), choice.images.end(),
                  [&image](const std::string& word) { return IsCalled(image, word); });
  return old && (choice.all || named || (choice.images.empty() && choice.unused_for > Duration(0)));
}

// What others have begun to remove, too.
void RemoveAsides(const std::string& directory, std::chrono::steady_clock::time_point until) {
  for (const char* part : {"/images", "/named"}) {
    for (const std::string& name : NamesIn(directory + part)) {
      const Duration left =
          std::chrono::duration_cast<Duration>(until - std::chrono::steady_clock::now());
      if (IsAside(name) && left > Duration(0)) {
        RemoveTree(absl::StrCat(directory, part, "/", name), left).IgnoreError();
      }
    }
  }
}

std::vector<Found> FindAll(const std::string& directory) {
  std::vector<Found> all = FindImages(directory);
  std::vector<Found> containers = FindContainers(directory);
  std::move(containers.begin(), containers.end(), std::back_inserter(all));
  return all;
}

}  // namespace

std::vector<KeptImage> ListKept(const std::string& directory) {
  std::vector<KeptImage> kept;
  for (Found& found : FindAll(directory)) {
    kept.push_back(std::move(found.image));
  }
  return kept;
}

std::vector<KeptImage> RemoveKept(const std::string& directory, const KeptChoice& choice, Time now,
                                  Duration limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::vector<KeptImage> chosen;
  for (Found& found : FindAll(directory)) {
    if (!IsChosen(found.image, choice, now)) {
      continue;
    }
    const UniqueFd lock = LockDirectory(found.path, LOCK_EX | LOCK_NB);
    found.image.in_use = !lock.valid() || MoveAside(found.path).empty();
    chosen.push_back(std::move(found.image));
  }
  RemoveAsides(directory, until);
  return chosen;
}

bool IsCalled(const KeptImage& image, const std::string& word) {
  if (word.empty()) {
    return false;
  }
  if (absl::StartsWith(image.digest, kDataDigest)) {
    return word == image.name || word == image.digest;  // no @ parts a source
  }
  if (word == image.name || word == image.digest ||
      word == image.name.substr(0, image.name.find('@'))) {
    return true;
  }
  const std::string scheme(kDigestScheme);
  const std::string digits = absl::StartsWith(word, scheme) ? word.substr(scheme.size()) : word;
  return digits.size() >= kShortDigits && absl::StartsWith(image.digest, scheme + digits);
}

}  // namespace muster::agent
