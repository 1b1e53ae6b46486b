#include "checkpoint/session/session.h"

#include <unistd.h>

#include <utility>

namespace muster::checkpoint {
namespace {

Result<LocalLevel> OpenLocal(const SessionOptions& options, Disk& disk) {
  return LocalLevel::Open({.parent = options.local_directory,
                           .shared = options.directory,
                           .job = options.job,
                           .program = options.flush_program,
                           .progress = options.progress,
                           .rank = options.rank,
                           .retention = RetentionOf(options)},
                          disk);
}

}  // namespace

Session::Session(SessionOptions options, Store store, std::optional<LocalLevel> local,
                 HintFile hints, ProgressSlot progress, Disk& disk)
    : options_(std::move(options)),
      regions_(disk),
      levels_(options_, std::move(store), std::move(local)),
      cadence_(options_.interval_s, options_.together, std::move(hints), std::move(progress)),
      saved_(options_, levels_, regions_),
      pid_(getpid()) {}

Session::~Session() {
  if (pid_ == getpid()) {
    levels_.CopyLast();
  }
}

Result<std::unique_ptr<Session>> Session::Open(SessionOptions options, Disk& disk) {
  if (Error error = CheckOptions(options); error.failed()) {
    return {{}, error};
  }
  Result<Store> store = Store::Open(disk, options.directory);
  if (!store.ok()) {
    return {{}, store.error};
  }
  HintFile hints;
  if (!options.hints.empty()) {
    Result<HintFile> file = HintFile::Open(options.hints);
    if (!file.ok()) {
      return {{}, file.error};
    }
    hints = std::move(file.value);
  }
  // A page that cannot be had changes nothing for the program.
  ProgressSlot progress;
  if (!options.progress.empty()) {
    progress = std::move(ProgressSlot::Take(options.progress).value);
  }
  std::optional<LocalLevel> local;
  if (!options.local_directory.empty()) {
    Result<LocalLevel> level = OpenLocal(options, disk);
    if (!level.ok()) {
      return {{}, level.error};
    }
    local = std::move(level.value);
  }
  return {std::unique_ptr<Session>(new Session(std::move(options), std::move(store.value),
                                               std::move(local), std::move(hints),
                                               std::move(progress), disk)),
          {}};
}

Error Session::Protect(const std::string& name, void* bytes, std::uint64_t size) {
  return regions_.Add(name, bytes, size);
}

Error Session::ProtectFile(const std::string& name, const std::string& path) {
  return regions_.AddFile(name, path);
}

Error Session::ProtectElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size) {
  return regions_.AddElsewhere(name, std::move(memory), size);
}

Result<std::uint64_t> Session::Begin() {
  if (Error error = CheckRankZero(options_, "begin"); error.failed()) {
    return {0, error};
  }
  const Result<std::uint64_t> number = NextNumber();
  return number.ok() ? Result<std::uint64_t>{number.value, levels_.BeginAs(number.value)} : number;
}

Result<std::uint64_t> Session::NextNumber() {
  if (Error error = levels_.Lock(); error.failed()) {
    return {0, error};
  }
  cadence_.Begin();
  return levels_.Next();
}

Result<ShardSeal> Session::Write(std::uint64_t generation) {
  if (options_.rank != 0) {
    cadence_.Begin();
  }
  const Result<GatheredRegions> regions = regions_.Gather();
  Result<ShardSeal> seal = regions.ok() ? levels_.Write(generation, regions.value.bytes)
                                        : Result<ShardSeal>{{}, regions.error};
  if (!seal.ok()) {
    cadence_.Fail();
  }
  cadence_.Wrote(seal.value.bytes);
  return seal;
}

Error Session::Complete(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = CheckRankZero(options_, "commit"); error.failed()) {
    return error;
  }
  bool in_order = seals.size() == options_.ranks;
  for (std::size_t i = 0; i < seals.size() && in_order; ++i) {
    in_order = seals[i].rank == i;
  }
  if (!in_order) {
    return MakeError(Fault::kUsage, "commit: needs the seals of all ranks, rank 0 first");
  }
  return CompleteAs(levels_.ManifestOf(generation, seals));
}

Error Session::CompleteAs(const Manifest& manifest) {
  saved_.ForgetRestart();
  Error error = levels_.Complete(manifest);
  if (error.failed()) {
    cadence_.Fail();
  }
  if (levels_.local() == nullptr) {
    cadence_.Refused(error.fault == Fault::kOverQuota ? error.text : "");
  }
  return error;
}

Error Session::Commit(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = Complete(generation, seals); error.failed()) {
    return error;
  }
  cadence_.End();
  Error error;  // the commit stands, whatever this becomes
  if (LocalLevel* local = levels_.local(); local != nullptr) {
    error = levels_.VerifyOwn(generation, seals[options_.rank]);
    error = error.failed() ? error : local->Retire(generation);
    error =
        error.failed() ? error : levels_.Copy(generation, cadence_.WantsCopy(levels_.since_copy()));
  } else {
    error = levels_.shared().Retire(generation, levels_.retention());
  }
  cadence_.Report(error);
  return error;
}

Error Session::Save() {
  if (options_.ranks != 1) {
    return MakeError(Fault::kUsage, "save: is for one rank: use begin, write and commit");
  }
  const Result<std::uint64_t> generation = Begin();
  if (!generation.ok()) {
    return generation.error;
  }
  const Result<ShardSeal> seal = Write(generation.value);
  Error error = seal.ok() ? Commit(generation.value, {seal.value}) : seal.error;
  if (error.failed()) {
    levels_.Abandon(generation.value);
  }
  return error;
}

Result<std::uint64_t> Session::Latest() {
  return saved_.Latest();
}

Error Session::Restore(std::uint64_t generation) {
  Error error = saved_.Restore(generation);
  if (!error.failed()) {
    cadence_.Restored();
  }
  return error;
}

Error Session::RestoreLatest() {
  const Result<std::uint64_t> generation = Latest();
  return generation.ok() ? Restore(generation.value) : generation.error;
}

Error Session::Confirm() {
  return saved_.Confirm();
}

Error Session::ReadRegion(std::uint64_t generation, std::uint32_t rank, const std::string& name,
                          void* bytes, std::uint64_t size) {
  Error error = saved_.ReadRegion(generation, rank, name, bytes, size);
  if (!error.failed()) {
    cadence_.Restored();
  }
  return error;
}

Need Session::ShouldCheckpoint() {
  return cadence_.Ask();
}

}  // namespace muster::checkpoint
