#include "cli/checkpoint/kept_generations.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {

using checkpoint::Aged;
using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Store;

absl::Status StatusOf(const checkpoint::Error& error) {
  return absl::FailedPreconditionError(error.text);
}

absl::StatusOr<Store> OpenStore(const std::string& directory) {
  auto store = Store::Open(checkpoint::Disk::Real(), directory);
  if (!store.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(store.error.text, ": name a directory of checkpoints that is yours"));
  }
  return std::move(store.value);
}

absl::StatusOr<std::vector<Aged>> CompleteIn(const Store& store) {
  const auto names = store.List();
  if (!names.ok()) {
    return StatusOf(names.error);
  }
  std::vector<Aged> complete;
  for (const GenerationName& name : names.value) {
    if (name.state != GenerationState::kComplete) {
      continue;
    }
    Aged aged;
    aged.number = name.number;
    if (const auto manifest = store.ReadManifest(name); manifest.ok()) {
      aged.written_ms = manifest.value.written_ms;
      for (const checkpoint::ShardSeal& seal : manifest.value.shards) {
        aged.bytes += seal.bytes;
      }
    }
    complete.push_back(aged);
  }
  return complete;
}

absl::StatusOr<KeptGenerations> HoldGenerations(const std::string& directory) {
  ASSIGN_OR_RETURN(Store store, OpenStore(directory));
  KeptGenerations kept{std::move(store), {}};
  if (const checkpoint::Error error = kept.store.LockForWriting(); error.failed()) {
    return StatusOf(error);
  }
  ASSIGN_OR_RETURN(kept.complete, CompleteIn(kept.store));
  return kept;
}

bool IsOfCriu(const std::string& directory) {
  return absl::StartsWith(std::filesystem::path(directory).filename().string(), "criu-");
}

KeptSum CountImages(const std::string& directory) {
  KeptSum sum;
  std::error_code unknown;
  for (const auto& each : std::filesystem::directory_iterator(directory, unknown)) {
    const std::string name = each.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), absl::ascii_isdigit)) {
      continue;  // set aside, or not whole yet
    }
    ++sum.count;
    for (const auto& file : std::filesystem::directory_iterator(each.path(), unknown)) {
      const std::uintmax_t bytes = file.file_size(unknown);
      sum.bytes += unknown ? 0 : bytes;
    }
  }
  return sum;
}

KeptSum SumOf(const std::vector<Aged>& complete) {
  KeptSum sum;
  for (const Aged& aged : complete) {
    sum.bytes += aged.bytes;
    ++sum.count;
  }
  return sum;
}

KeptSum SumOf(const std::vector<KeptGenerations>& all) {
  KeptSum sum;
  for (const KeptGenerations& kept : all) {
    const KeptSum here = SumOf(kept.complete);
    sum.bytes += here.bytes;
    sum.count += here.count;
  }
  return sum;
}

absl::Status RetireBy(const checkpoint::Retention& retention, KeptGenerations& kept) {
  if (kept.complete.empty()) {
    return absl::OkStatus();
  }
  const checkpoint::Error error = kept.store.Retire(kept.complete.front().number, retention);
  if (error.failed()) {
    return StatusOf(error);
  }
  ASSIGN_OR_RETURN(kept.complete, CompleteIn(kept.store));
  return absl::OkStatus();
}

KeptGenerations* WithOldest(std::vector<KeptGenerations>& all) {
  KeptGenerations* oldest = nullptr;
  for (KeptGenerations& kept : all) {
    if (kept.complete.size() > 1 && (oldest == nullptr || kept.complete.back().written_ms <
                                                              oldest->complete.back().written_ms)) {
      oldest = &kept;
    }
  }
  return oldest;
}

absl::StatusOr<bool> RetireOldest(KeptGenerations& kept) {
  const std::size_t count = kept.complete.size();
  checkpoint::Retention retention;
  retention.keep = static_cast<std::uint32_t>(count - 1);
  RETURN_IF_ERROR(RetireBy(retention, kept));
  return kept.complete.size() < count;
}

}  // namespace muster::cli
