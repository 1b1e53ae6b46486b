#include "checkpoint/session/saved_generations.h"

#include <algorithm>
#include <utility>

#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {

Error SavedGenerations::SetAsideFailed() {
  if (set_aside_) {
    return {};
  }
  // Whoever writes there now is restarting from it, too: not a failure.
  if (Error error = levels_->shared().LockForWriting(); error.failed()) {
    return error;
  }
  const auto noted = levels_->shared().restarts().Noted();
  if (!noted.ok()) {
    return noted.error;
  }
  if (noted.value && levels_->local() != nullptr) {  // on all levels: they hold the same
    if (Error error = levels_->local()->SetAside(*noted.value); error.failed()) {
      return error;
    }
  }
  const auto failed = levels_->shared().restarts().SetAsideFailed();
  if (!failed.ok()) {
    return failed.error;
  }
  set_aside_ = true;
  if (failed.value || (noted.value && levels_->local() != nullptr)) {
    aside_ = *noted.value;
    passed_.push_back(ToText({*noted.value, GenerationState::kSetAside}) +
                      ": a restart from it failed before");
  }
  return {};
}

Result<std::uint64_t> SavedGenerations::Latest() {
  Error error = CheckRankZero(*options_, "latest");
  error = error.failed() ? error : SetAsideFailed();
  if (error.failed()) {
    return {0, error};
  }
  const Result<std::vector<Candidate>> candidates = Sorted();
  if (!candidates.ok()) {
    return {0, candidates.error};
  }
  Error first = MakeError(Fault::kNotFound, options_->directory + ": holds no generation");
  for (const Candidate& candidate : candidates.value) {
    Result<Manifest> manifest =
        levels_->At(candidate.level).VerifyFor(options_->job, candidate.name);
    if (manifest.ok()) {
      Know(std::move(manifest.value), candidate.level);
      return {manifest_.generation, {}};
    }
    passed_.push_back(manifest.error.text);
    first = first.fault == Fault::kNotFound ? manifest.error : first;
  }
  return {0, first};
}

void SavedGenerations::Know(Manifest manifest, StoreLevel level) {
  manifest_ = std::move(manifest);
  manifest_level_ = level;
  knows_manifest_ = true;
  examined_ = false;
}

// The newest first, of one number the local one; those set aside behind all others.
Result<std::vector<Candidate>> SavedGenerations::Sorted() {
  std::vector<Candidate> candidates;
  for (const StoreLevel level : {StoreLevel::kLocal, StoreLevel::kShared}) {
    if (level == StoreLevel::kLocal && levels_->local() == nullptr) {
      continue;
    }
    const Result<std::vector<GenerationName>> names = levels_->At(level).Candidates();
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

Result<std::vector<Candidate>> SavedGenerations::Candidates() {
  Error error = CheckRankZero(*options_, "latest");
  error = error.failed() ? error : SetAsideFailed();
  return error.failed() ? Result<std::vector<Candidate>>{{}, error} : Sorted();
}

Error SavedGenerations::ExamineShards() {
  const auto written_by = static_cast<std::uint32_t>(manifest_.shards.size());
  if (written_by != options_->ranks && !manifest_.repartitionable) {
    return MakeError(Fault::kRanks, "it was written by " + std::to_string(written_by) +
                                        " ranks, and there are " + std::to_string(options_->ranks) +
                                        ": it was not declared repartitionable");
  }
  for (std::uint32_t rank = options_->rank; rank < written_by; rank += options_->ranks) {
    const Result<Shard> shard = OpenShard(rank);
    Error error = shard.ok() ? shard.value.VerifyChecksum() : shard.error;
    if (!error.failed() && written_by == options_->ranks) {
      error = regions_->Check(shard.value);
    }
    if (error.failed()) {
      return error;
    }
  }
  return {};
}

Result<std::uint64_t> SavedGenerations::Examine(const Candidate& candidate) {
  knows_manifest_ = false;
  examined_ = false;
  const GenerationName& name = candidate.name;
  Store& store = levels_->At(candidate.level);
  Result<Manifest> manifest = store.ReadManifest(name);
  if (!manifest.ok()) {
    return {0, manifest.error};
  }
  Error error;
  if (manifest.value.job != options_->job) {
    error = MakeError(Fault::kForeign, "is of job \"" + manifest.value.job + "\"");
  } else {
    Know(std::move(manifest.value), candidate.level);
    error = options_->rank == 0 && levels_->HoldsAllShards(candidate.level)
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

Result<const Manifest*> SavedGenerations::Known(std::uint64_t generation) {
  if (knows_manifest_ && manifest_.generation == generation) {
    return {&manifest_, {}};
  }
  Error first;
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kSetAside}) {
    for (const StoreLevel level : {StoreLevel::kLocal, StoreLevel::kShared}) {
      if (level == StoreLevel::kLocal && levels_->local() == nullptr) {
        continue;
      }
      Result<Manifest> manifest = levels_->At(level).ReadManifest({generation, state});
      if (manifest.ok() && manifest.value.job != options_->job) {
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
Result<Shard> SavedGenerations::OpenShard(std::uint32_t rank) {
  return (rank == options_->rank ? levels_->At(manifest_level_) : levels_->shared())
      .OpenShard(manifest_, rank);
}

Error SavedGenerations::Restore(std::uint64_t generation) {
  const Result<const Manifest*> manifest = Known(generation);
  if (!manifest.ok()) {
    return manifest.error;
  }
  if (manifest.value->shards.size() != options_->ranks) {
    return MakeError(Fault::kRanks, "it was written by " +
                                        std::to_string(manifest.value->shards.size()) +
                                        " ranks, and there are " + std::to_string(options_->ranks));
  }
  if (options_->rank == 0 && noted_ != generation) {
    if (Error error = NoteRestart(generation); error.failed()) {
      return error;
    }
  }
  const Result<Shard> shard = OpenShard(options_->rank);
  Error error = shard.ok() ? regions_->Check(shard.value) : shard.error;
  if (!error.failed() && !examined_) {
    error = shard.value.VerifyChecksum();
  }
  error = error.failed() ? error : regions_->Restore(shard.value);
  if (!error.failed() && manifest_level_ == StoreLevel::kLocal) {
    // The node may have died before it was shared. What is wrong with that, the next commit tells.
    (void)levels_->local()->FlushNewest(generation);
  }
  return error;
}

Error SavedGenerations::NoteRestart(std::uint64_t generation) {
  Error error = CheckRankZero(*options_, "restore");
  error = error.failed() ? error : levels_->shared().restarts().Note(generation);
  noted_ = error.failed() ? 0 : generation;
  return error;
}

Error SavedGenerations::Confirm() {
  const Error error = CheckRankZero(*options_, "confirm");
  noted_ = 0;
  return error.failed() ? error : levels_->shared().restarts().Confirm();
}

Result<std::uint32_t> SavedGenerations::Ranks(std::uint64_t generation) {
  const Result<const Manifest*> manifest = Known(generation);
  return manifest.ok()
             ? Result<std::uint32_t>{static_cast<std::uint32_t>(manifest.value->shards.size()), {}}
             : Result<std::uint32_t>{0, manifest.error};
}

Result<std::uint64_t> SavedGenerations::RegionSize(std::uint64_t generation, std::uint32_t rank,
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

Error SavedGenerations::ReadRegion(std::uint64_t generation, std::uint32_t rank,
                                   const std::string& name, void* bytes, std::uint64_t size) {
  const Result<const Manifest*> manifest = Known(generation);
  if (!manifest.ok()) {
    return manifest.error;
  }
  if (manifest.value->shards.size() != options_->ranks && !manifest.value->repartitionable) {
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
  return shard.value.Read(*place, bytes);
}

}  // namespace muster::checkpoint
