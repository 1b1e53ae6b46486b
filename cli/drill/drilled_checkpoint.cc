#include "cli/drill/drilled_checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checkpoint/disk/disk.h"
#include "cli/checkpoint/kept_generations.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Manifest;
using checkpoint::Store;

// Several jobs may share a directory; a name that is no number is the program's own.
bool MayBeOf(const Manifest& manifest, const std::string& job) {
  const bool number = std::all_of(manifest.job.begin(), manifest.job.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return !number || manifest.job == job;
}

// All of a shard's file, read only.
class MappedShard {
 public:
  MappedShard(int directory, std::uint32_t rank, std::uint64_t size) : size_(size) {
    const UniqueFd file(
        openat(directory, checkpoint::ShardName(rank).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file.valid()) {
      bytes_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    }
  }
  MappedShard(const MappedShard&) = delete;
  MappedShard& operator=(const MappedShard&) = delete;
  ~MappedShard() {
    if (ok()) {
      munmap(bytes_, size_);
    }
  }

  [[nodiscard]] bool ok() const { return bytes_ != MAP_FAILED; }
  [[nodiscard]] const char* at(std::uint64_t offset) const {
    return static_cast<const char*>(bytes_) + offset;
  }

 private:
  void* bytes_ = MAP_FAILED;
  const std::uint64_t size_;
};

absl::StatusOr<checkpoint::ShardSeal> CopyShard(const Store& store, const Manifest& manifest,
                                                const checkpoint::ShardHead& head,
                                                const Store& copy) {
  const auto shard = store.OpenShard(manifest, head.rank);
  if (!shard.ok()) {
    return StatusOf(shard.error);
  }
  const auto directory = store.OpenGeneration({manifest.generation, GenerationState::kComplete});
  if (!directory.ok()) {
    return StatusOf(directory.error);
  }
  const MappedShard mapped(directory.value.get(), head.rank, manifest.shards[head.rank].bytes);
  if (!mapped.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(checkpoint::ShardName(head.rank), ": cannot be read: ", strerror(errno)));
  }
  std::vector<checkpoint::RegionBytes> regions;
  for (const checkpoint::RegionPlace& region : shard.value.regions()) {
    regions.push_back({region.name, mapped.at(region.offset), region.size});
  }
  auto seal = copy.Write(head, regions);
  if (!seal.ok()) {
    return StatusOf(seal.error);
  }
  return seal.value;
}

std::optional<std::uint64_t> NextWhole(const Store& store, const std::string& job,
                                       const std::vector<GenerationName>& names,
                                       std::uint64_t below) {
  for (const GenerationName& name : names) {
    if (name.state == GenerationState::kComplete && name.number < below) {
      const auto manifest = store.Verify(name);
      if (manifest.ok() && MayBeOf(manifest.value, job)) {
        return name.number;
      }
    }
  }
  return std::nullopt;
}

absl::Status NoGeneration(const Store& store, std::optional<std::uint64_t> wanted,
                          const std::vector<std::uint64_t>& there) {
  const std::string& path = store.directory().path();
  if (there.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path,
                     " holds no complete generation of it: wait for its first checkpoint "
                     "(muster checkpoint list ",
                     path, ")"));
  }
  return absl::FailedPreconditionError(absl::StrCat("--generation ", *wanted, ": ", path,
                                                    " does not hold it; it has ",
                                                    absl::StrJoin(there, ", ")));
}

}  // namespace

absl::StatusOr<DrilledGeneration> ChooseGeneration(const Store& store, const std::string& job,
                                                   std::optional<std::uint64_t> wanted) {
  const auto names = store.List();
  if (!names.ok()) {
    return StatusOf(names.error);
  }
  std::vector<std::uint64_t> there;
  for (const GenerationName& name : names.value) {
    if (name.state != GenerationState::kComplete) {
      continue;
    }
    auto manifest = store.ReadManifest(name);
    if (manifest.ok() && !MayBeOf(manifest.value, job)) {
      continue;
    }
    there.push_back(name.number);
    if (wanted.has_value() && name.number != *wanted) {
      continue;
    }
    DrilledGeneration chosen;
    chosen.number = name.number;
    chosen.fault = manifest.ok() ? store.Verify(name).error.text : manifest.error.text;
    chosen.manifest = std::move(manifest.value);
    if (!chosen.fault.empty()) {
      chosen.fallback = NextWhole(store, job, names.value, name.number);
    }
    return chosen;
  }
  return NoGeneration(store, wanted, there);
}

std::string NameOfCopy(const std::string& written, const std::string& before,
                       const std::string& job) {
  return written == before ? job : written;
}

absl::Status CopyGeneration(const Store& store, const Manifest& manifest, const std::string& job,
                            const std::string& to) {
  auto copy = Store::Open(checkpoint::Disk::Real(), to);
  if (!copy.ok()) {
    return StatusOf(copy.error);
  }
  auto error = copy.value.LockForWriting();
  error = error.failed() ? error : copy.value.BeginAs(manifest.generation);
  if (error.failed()) {
    return StatusOf(error);
  }
  Manifest written = manifest;
  written.job = job;
  written.flush_error.clear();
  for (checkpoint::ShardSeal& seal : written.shards) {
    ASSIGN_OR_RETURN(seal, CopyShard(store, manifest, HeadOf(written, seal.rank), copy.value));
  }
  error = copy.value.Commit(written);
  return error.failed() ? StatusOf(error) : absl::OkStatus();
}

}  // namespace muster::cli
