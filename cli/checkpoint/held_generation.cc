#include "cli/checkpoint/held_generation.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/checkpoint/kept_generations.h"
#include "scheduler/base/status.h"

namespace muster::cli {

using checkpoint::GenerationName;
using checkpoint::GenerationState;

absl::StatusOr<HeldGeneration> HeldGeneration::Hold(const checkpoint::Store& store,
                                                    std::uint64_t generation) {
  const GenerationName name{generation, GenerationState::kComplete};
  auto manifest = store.ReadManifest(name);
  if (!manifest.ok()) {
    return StatusOf(manifest.error);
  }
  HeldGeneration held;
  held.manifest_ = std::move(manifest.value);
  std::vector<std::string> names = {checkpoint::kManifestName};
  for (const checkpoint::ShardSeal& seal : held.manifest_.shards) {
    names.push_back(checkpoint::ShardName(seal.rank));
  }
  const std::string own = absl::StrCat(store.directory().path(), "/", ToText(name));
  if (!held.LinkAll(own, names)) {
    held.path_ = own;
  }
  return held;
}

bool HeldGeneration::LinkAll(const std::string& own, const std::vector<std::string>& names) {
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
  std::error_code failed;
  std::string pattern =
      (std::filesystem::temp_directory_path(failed) / "muster-checkpoint-XXXXXX").string();
  if (failed || mkdtemp(pattern.data()) == nullptr) {
    return false;
  }
  path_ = pattern;
  linked_ = true;
  for (const std::string& name : names) {
    UniqueFd file(open(absl::StrCat(own, "/", name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const std::string opened = absl::StrCat("/proc/", getpid(), "/fd/", file.get());
    if (!file.valid() || symlink(opened.c_str(), absl::StrCat(path_, "/", name).c_str()) != 0) {
      std::filesystem::remove_all(path_, failed);
      linked_ = false;
      files_.clear();
      return false;
    }
    files_.push_back(std::move(file));
  }
  return true;
}

HeldGeneration::HeldGeneration(HeldGeneration&& other) noexcept
    : path_(std::move(other.path_)),
      linked_(std::exchange(other.linked_, false)),
      files_(std::move(other.files_)),
      manifest_(std::move(other.manifest_)) {}

HeldGeneration::~HeldGeneration() {
  if (linked_) {
    std::error_code left;
    std::filesystem::remove_all(path_, left);
  }
}

}  // namespace muster::cli
