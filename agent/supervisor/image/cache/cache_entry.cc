#include "agent/supervisor/image/cache/cache_entry.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;
using EntryJson = nlohmann::json;

constexpr const char* kAside = ".gone.";

}  // namespace

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

std::string DescriptionOf(const DescribedImage& image) {
  const ImageFacts& facts = image.facts;
  const EntryJson document = {{"name", facts.name},
                              {"digest", facts.digest},
                              {"bytes", image.bytes},
                              {"architecture", facts.architecture},
                              {"work_dir", facts.work_dir},
                              {"environment", facts.environment},
                              {"entrypoint", facts.entrypoint}};
  return document.dump(2, ' ', false, EntryJson::error_handler_t::replace);
}

absl::StatusOr<DescribedImage> ReadDescription(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path + "/image.json"));
  const EntryJson document = EntryJson::parse(text, nullptr, /*allow_exceptions=*/false);
  DescribedImage described;
  try {
    described.facts.name = document.value("name", std::string());
    described.facts.digest = document.at("digest").get<std::string>();
    described.facts.architecture = document.at("architecture").get<std::string>();
    described.facts.environment = document.at("environment").get<std::vector<std::string>>();
    described.facts.work_dir = document.at("work_dir").get<std::string>();
    described.facts.entrypoint = document.at("entrypoint").get<std::vector<std::string>>();
    described.bytes = document.at("bytes").get<std::uint64_t>();
  } catch (const EntryJson::exception&) {
    return absl::DataLossError(absl::StrCat(path, "/image.json describes no image: remove ", path));
  }
  return described;
}

void CountAsUsed(int directory) {
  std::array<timespec, 2> now = {};
  clock_gettime(CLOCK_REALTIME, &now[0]);
  now[1] = now[0];
  futimens(directory, now.data());
}

std::string MoveAside(const std::string& path) {
  std::string aside = absl::StrCat(fs::path(path).parent_path().string(), "/", kAside, getpid(),
                                   ".", fs::path(path).filename().string());
  return rename(path.c_str(), aside.c_str()) == 0 ? aside : "";
}

bool IsAside(const std::string& name) {
  return absl::StartsWith(name, kAside);
}

}  // namespace muster::agent
