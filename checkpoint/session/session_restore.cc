// The side of Session that comes back: choosing, examining and reading generations of both levels.

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include "checkpoint/disk/durable_file.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {
namespace {

Error ReadElsewhere(const Shard& shard, const RegionPlace& place, const Elsewhere& memory) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(place.size);
  const Error error = shard.Read(place, bytes.get());
  return error.failed() ? error : memory.put(bytes.get());
}

}  // namespace

Error Session::SetAsideFailed() {
  if (set_aside_) {
    return {};
  }
  // Whoever writes there now is restarting from it, too: not a failure.
  if (Error error = store_.LockForWriting(); error.failed()) {
    return error;
  }
  const auto noted = store_.NotedRestart();
  if (!noted.ok()) {
    return noted.error;
  }
  if (noted.value && local_) {  // on all levels: they hold the same
    if (Error error = local_->SetAside(*noted.value); error.failed()) {
      return error;
    }
  }
  const auto failed = store_.SetAsideFailed();
  if (!failed.ok()) {
    return failed.error;
  }
  set_aside_ = true;
  if (failed.value || (noted.value && local_)) {
    aside_ = *noted.value;
    passed_.push_back(ToText({*noted.value, GenerationState::kSetAside}) +
                      ": a restart from it failed before");
  }
  return {};
}

Result<std::uint64_t> Session::Latest() {
  Error error = CheckRankZero("latest");
  error = error.failed() ? error : SetAsideFailed();
  if (error.failed()) {
    return {0, error};
  }
  const Result<std::vector<Candidate>> candidates = CandidatesOf();
  if (!candidates.ok()) {
    return {0, candidates.error};
  }
  Error first = MakeError(Fault::kNotFound, options_.directory + ": holds no generation");
  for (const Candidate& candidate : candidates.value) {
    Result<Manifest> manifest = StoreOf(candidate.level).VerifyFor(options_.job, candidate.name);
    if (manifest.ok()) {
      Know(std::move(manifest.value), candidate.level);
      return {manifest_.generation, {}};
    }
    passed_.push_back(manifest.error.text);
    first = first.fault == Fault::kNotFound ? manifest.error : first;
  }
  return {0, first};
}

void Session::Know(Manifest manifest, StoreLevel level) {
  manifest_ = std::move(manifest);
  manifest_level_ = level;
  knows_manifest_ = true;
  examined_ = false;
}

// The newest first, of one number the local one; those set aside behind all others.
Result<std::vector<Candidate>> Session::CandidatesOf() {
  std::vector<Candidate> candidates;
  for (const StoreLevel level : {StoreLevel::kLocal, StoreLevel::kShared}) {
    if (level == StoreLevel::kLocal && !local_) {
      continue;
    }
    const Result<std::vector<GenerationName>> names = StoreOf(level).Candidates();
    if (!names.ok()) {
      return {{}, names.error};
    }
    for (const GenerationName& name : names.value) {
      candidates.push_back({name, level});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     const bool aside = a.name.state == GenerationState::kSetAside;
                     const bool other = b.name.state == GenerationState::kSetAside;
                     return aside != other ? other : a.name.number > b.name.number;
                   });
  return {std::move(candidates), {}};
}

Result<std::vector<Candidate>> Session::Candidates() {
  Error error = CheckRankZero("latest");
  error = error.failed() ? error : SetAsideFailed();
  return error.failed() ? Result<std::vector<Candidate>>{{}, error} : CandidatesOf();
}

Error Session::ExamineShards() {
  const auto written_by = static_cast<std::uint32_t>(manifest_.shards.size());
  if (written_by != options_.ranks && !manifest_.repartitionable) {
    return MakeError(Fault::kRanks, "it was written by " + std::to_string(written_by) +
                                        " ranks, and there are " + std::to_string(options_.ranks) +
                                        ": it was not declared repartitionable");
  }
  for (std::uint32_t rank = options_.rank; rank < written_by; rank += options_.ranks) {
    const Result<Shard> shard = OpenShard(rank);
    Error error = shard.ok() ? shard.value.VerifyChecksum() : shard.error;
    if (!error.failed() && written_by == options_.ranks) {
      error = CheckRegions(shard.value);
    }
    if (error.failed()) {
      return error;
    }
  }
  return {};
}

Result<std::uint64_t> Session::Examine(const Candidate& candidate) {
  knows_manifest_ = false;
  examined_ = false;
  const GenerationName& name = candidate.name;
  Store& store = StoreOf(candidate.level);
  Result<Manifest> manifest = store.ReadManifest(name);
  if (!manifest.ok()) {
    return {0, manifest.error};
  }
  Error error;
  if (manifest.value.job != options_.job) {
    error = MakeError(Fault::kForeign, "is of job \"" + manifest.value.job + "\"");
  } else {
    Know(std::move(manifest.value), candidate.level);
    error = options_.rank == 0 && HoldsAllShards(candidate.level)
                ? store.CheckEntries(name, manifest_)
                : Error();
    error = error.failed() ? error : ExamineShards();
  }
  if (error.failed()) {
    return {0, MakeError(error.fault, ToText(name) + ": " + error.text)};
  }
  examined_ = true;
  return {ChecksumOf(PrintManifest(manifest_)), {}};
}

Result<const Manifest*> Session::Known(std::uint64_t generation) {
  if (knows_manifest_ && manifest_.generation == generation) {
    return {&manifest_, {}};
  }
  Error first;
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kSetAside}) {
    for (const StoreLevel level : {StoreLevel::kLocal, StoreLevel::kShared}) {
      if (level == StoreLevel::kLocal && !local_) {
        continue;
      }
      Result<Manifest> manifest = StoreOf(level).ReadManifest({generation, state});
      if (manifest.ok() && manifest.value.job != options_.job) {
        manifest.error = MakeError(Fault::kForeign, "it is of job \"" + manifest.value.job + "\"");
      }
      if (manifest.ok()) {
        Know(std::move(manifest.value), level);
        return {&manifest_, {}};
      }
      first = first.failed() ? first : manifest.error;
    }
  }
  return {nullptr, first};
}

// Its own shard from where the generation was found; on the local level there is no other.
Result<Shard> Session::OpenShard(std::uint32_t rank) {
  return (rank == options_.rank ? StoreOf(manifest_level_) : store_).OpenShard(manifest_, rank);
}

Error Session::CheckRegions(const Shard& shard) const {
  for (const Region& region : regions_) {
    const RegionPlace* place = shard.Find(region.name);
    if (place == nullptr) {
      return MakeError(Fault::kRegions, region.name + ": is not in the checkpoint");
    }
    if (region.path.empty() && place->size != region.size) {
      return MakeError(Fault::kRegions, region.name + ": has " + std::to_string(place->size) +
                                            " bytes in the checkpoint and " +
                                            std::to_string(region.size) + " here");
    }
  }
  return {};
}

Error Session::ReadRegions(const Shard& shard) {
  for (const Region& region : regions_) {
    const RegionPlace* place = shard.Find(region.name);
    if (region.elsewhere.put) {
      if (Error error = ReadElsewhere(shard, *place, region.elsewhere); error.failed()) {
        error.text = region.name + ": " + error.text;
        return error;
      }
      continue;
    }
    if (region.path.empty()) {
      if (Error error = shard.Read(*place, region.bytes); error.failed()) {
        return error;
      }
      continue;
    }
    std::string bytes(place->size, '\0');
    if (Error error = shard.Read(*place, bytes.data()); error.failed()) {
      return error;
    }
    const FileError error = WriteDurably(region.path, bytes.data(), bytes.size(), *disk_);
    if (error.failed()) {
      return MakeError(Fault::kSystem, region.path + ": " + error.Text());
    }
  }
  return {};
}

Error Session::Restore(std::uint64_t generation) {
  const Result<const Manifest*> manifest = Known(generation);
  if (!manifest.ok()) {
    return manifest.error;
  }
  if (manifest.value->shards.size() != options_.ranks) {
    return MakeError(Fault::kRanks, "it was written by " +
                                        std::to_string(manifest.value->shards.size()) +
                                        " ranks, and there are " + std::to_string(options_.ranks));
  }
  if (options_.rank == 0 && noted_ != generation) {
    if (Error error = NoteRestart(generation); error.failed()) {
      return error;
    }
  }
  const Result<Shard> shard = OpenShard(options_.rank);
  Error error = shard.ok() ? CheckRegions(shard.value) : shard.error;
  if (!error.failed() && !examined_) {
    error = shard.value.VerifyChecksum();
  }
  error = error.failed() ? error : ReadRegions(shard.value);
  if (!error.failed() && manifest_level_ == StoreLevel::kLocal) {
    // The node may have died before it was shared. What is wrong with that, the next commit tells.
    (void)local_->FlushNewest(generation);
  }
  if (!error.failed()) {
    NoteRestored();
  }
  return error;
}

void Session::NoteRestored() {
  constexpr std::uint64_t kMillisecondsPerSecond = 1000;
  constexpr std::uint64_t kNanosecondsPerMillisecond = 1000000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  progress_.Restored(static_cast<std::uint64_t>(now.tv_sec) * kMillisecondsPerSecond +
                     static_cast<std::uint64_t>(now.tv_nsec) / kNanosecondsPerMillisecond);
}

Error Session::NoteRestart(std::uint64_t generation) {
  Error error = CheckRankZero("restore");
  error = error.failed() ? error : store_.NoteRestart(generation);
  noted_ = error.failed() ? 0 : generation;
  return error;
}

Error Session::RestoreLatest() {
  const Result<std::uint64_t> generation = Latest();
  return generation.ok() ? Restore(generation.value) : generation.error;
}

Error Session::Confirm() {
  const Error error = CheckRankZero("confirm");
  noted_ = 0;
  return error.failed() ? error : store_.ConfirmRestart();
}

Result<std::uint32_t> Session::SavedRanks(std::uint64_t generation) {
  const Result<const Manifest*> manifest = Known(generation);
  return manifest.ok()
             ? Result<std::uint32_t>{static_cast<std::uint32_t>(manifest.value->shards.size()), {}}
             : Result<std::uint32_t>{0, manifest.error};
}

Result<std::uint64_t> Session::RegionSize(std::uint64_t generation, std::uint32_t rank,
                                          const std::string& name) {
  const Result<const Manifest*> manifest = Known(generation);
  if (!manifest.ok()) {
    return {0, manifest.error};
  }
  const Result<Shard> shard = OpenShard(rank);
  if (!shard.ok()) {
    return {0, shard.error};
  }
  const RegionPlace* place = shard.value.Find(name);
  return place != nullptr ? Result<std::uint64_t>{place->size, {}}
                          : Result<std::uint64_t>{
                                0, MakeError(Fault::kRegions, name + ": is not in the checkpoint")};
}

Error Session::ReadRegion(std::uint64_t generation, std::uint32_t rank, const std::string& name,
                          void* bytes, std::uint64_t size) {
  const Result<const Manifest*> manifest = Known(generation);
  if (!manifest.ok()) {
    return manifest.error;
  }
  if (manifest.value->shards.size() != options_.ranks && !manifest.value->repartitionable) {
    return MakeError(Fault::kRanks, "it was not declared repartitionable");
  }
  const Result<Shard> shard = OpenShard(rank);
  if (!shard.ok()) {
    return shard.error;
  }
  const RegionPlace* place = shard.value.Find(name);
  if (place == nullptr || place->size != size) {
    return MakeError(Fault::kRegions, name + ": is not in the checkpoint with that size");
  }
  if (!examined_) {
    if (Error error = shard.value.VerifyChecksum(); error.failed()) {
      return error;
    }
  }
  Error error = shard.value.Read(*place, bytes);
  if (!error.failed()) {
    NoteRestored();
  }
  return error;
}

}  // namespace muster::checkpoint
