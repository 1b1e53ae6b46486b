#include "checkpoint/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "checkpoint/durable_file.h"
#include "checkpoint/own_file.h"

namespace muster::checkpoint {
namespace {

double SecondsOf(clockid_t clock) {
  constexpr double kNanosecond = 1e-9;
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + kNanosecond * static_cast<double>(now.tv_nsec);
}

Error CheckOptions(const SessionOptions& options) {
  if (!IsName(options.job)) {
    return MakeError(Fault::kUsage,
                     "job: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (options.ranks == 0 || options.ranks > kRanksMax || options.rank >= options.ranks) {
    return MakeError(Fault::kUsage, "rank: use one from 0 to ranks - 1");
  }
  if (options.keep == 0) {
    return MakeError(Fault::kUsage, "keep: use at least 1");
  }
  if (!(options.age_s >= 0)) {
    return MakeError(Fault::kUsage, "age: use seconds, 0 for none");
  }
  if (!(options.interval_s >= 0)) {
    return MakeError(Fault::kUsage, "interval: use seconds, 0 for none");
  }
  if (!IsRemark(options.topology) || !IsRemark(options.software) || !IsRemark(options.hardware)) {
    return MakeError(Fault::kUsage,
                     "topology, software, hardware: use up to 255 printable ASCII characters");
  }
  return {};
}

Retention RetentionOf(const SessionOptions& options) {
  return {options.keep, options.milestone, options.age_s, options.bytes_max};
}

// All of a file of the program's own.
Result<std::string> ReadWhole(Disk& disk, const std::string& path) {
  const OpenFile file(disk, disk.OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0));
  struct stat about {};
  if (!file.ok() || disk.Stat(file.get(), &about) != 0) {
    return {{}, SystemError(path, errno)};
  }
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  if (Error error = ReadFully(disk, file.get(), bytes.data(), bytes.size(), 0); error.failed()) {
    return {{}, MakeError(error.fault, path + ": " + error.text)};
  }
  return {std::move(bytes), {}};
}

}  // namespace

Session::Session(SessionOptions options, Store store, Disk& disk)
    : options_(std::move(options)),
      disk_(&disk),
      store_(std::move(store)),
      last_end_s_(SecondsOf(CLOCK_MONOTONIC)) {
  pace_.interval_s = options_.interval_s;
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
  auto session =
      std::unique_ptr<Session>(new Session(std::move(options), std::move(store.value), disk));
  session->hints_ = std::move(hints);
  return {std::move(session), {}};
}

Error Session::AddRegion(Region region) {
  if (!IsName(region.name)) {
    return MakeError(Fault::kUsage,
                     "region: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (std::any_of(regions_.begin(), regions_.end(),
                  [&region](const Region& other) { return other.name == region.name; })) {
    return MakeError(Fault::kUsage, region.name + ": is protected already");
  }
  if (regions_.size() >= kRegionsMax) {
    return MakeError(Fault::kUsage, region.name + ": there are too many regions");
  }
  regions_.push_back(std::move(region));
  return {};
}

Error Session::Protect(const std::string& name, void* bytes, std::uint64_t size) {
  if (bytes == nullptr && size > 0) {
    return MakeError(Fault::kUsage, "region: has no memory");
  }
  return AddRegion({name, bytes, size, ""});
}

Error Session::ProtectFile(const std::string& name, const std::string& path) {
  if (path.empty()) {
    return MakeError(Fault::kUsage, "region: has no path");
  }
  return AddRegion({name, nullptr, 0, path});
}

Error Session::CheckRankZero(const char* call) const {
  return options_.rank == 0 ? Error()
                            : MakeError(Fault::kUsage, std::string(call) + ": is rank 0's");
}

Result<std::uint64_t> Session::Begin() {
  if (Error error = CheckRankZero("begin"); error.failed()) {
    return {0, error};
  }
  if (Error error = store_.LockForWriting(); error.failed()) {
    return {0, error};
  }
  began_s_ = SecondsOf(CLOCK_MONOTONIC);
  return store_.Begin();
}

Result<ShardSeal> Session::Write(std::uint64_t generation) {
  began_s_ = options_.rank == 0 ? began_s_ : SecondsOf(CLOCK_MONOTONIC);
  std::vector<std::string> files;
  files.reserve(regions_.size());
  std::vector<RegionBytes> bytes;
  for (const Region& region : regions_) {
    if (region.path.empty()) {
      bytes.push_back({region.name, region.bytes, region.size});
      continue;
    }
    Result<std::string> file = ReadWhole(*disk_, region.path);
    if (!file.ok()) {
      return {{}, file.error};
    }
    files.push_back(std::move(file.value));
    bytes.push_back({region.name, files.back().data(), files.back().size()});
  }
  return store_.Write({options_.job, generation, options_.rank, options_.ranks}, bytes);
}

Error Session::Complete(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = CheckRankZero("commit"); error.failed()) {
    return error;
  }
  bool in_order = seals.size() == options_.ranks;
  for (std::size_t i = 0; i < seals.size() && in_order; ++i) {
    in_order = seals[i].rank == i;
  }
  if (!in_order) {
    return MakeError(Fault::kUsage, "commit: needs the seals of all ranks, rank 0 first");
  }
  constexpr double kMillisecondsPerSecond = 1000;
  Manifest manifest;
  manifest.job = options_.job;
  manifest.attempt = options_.attempt;
  manifest.generation = generation;
  manifest.written_ms =
      static_cast<std::uint64_t>(SecondsOf(CLOCK_REALTIME) * kMillisecondsPerSecond);
  manifest.repartitionable = options_.repartitionable;
  manifest.topology = options_.topology;
  manifest.software = options_.software;
  manifest.hardware = options_.hardware;
  manifest.shards = seals;
  noted_ = 0;
  const Error error = store_.Commit(manifest);
  return error.failed() ? error : store_.ConfirmRestart();
}

Error Session::Commit(std::uint64_t generation, const std::vector<ShardSeal>& seals) {
  if (Error error = Complete(generation, seals); error.failed()) {
    return error;
  }
  NoteDone();
  return store_.Retire(generation, RetentionOf(options_));
}

Error Session::VerifyOwn(const ShardSeal& seal, std::uint64_t generation) {
  const GenerationName name{generation, GenerationState::kComplete};
  if (options_.rank == 0) {
    const Result<Manifest> manifest = store_.ReadManifest(name);
    const Error error = manifest.ok() ? store_.CheckEntries(name, manifest.value) : manifest.error;
    if (error.failed()) {
      return error;
    }
  }
  return store_.VerifyShard({options_.job, generation, options_.rank, options_.ranks}, seal);
}

Error Session::RetireVerified(std::uint64_t generation) {
  const Error error = CheckRankZero("retire");
  return error.failed() ? error : store_.RetireVerified(generation, RetentionOf(options_));
}

void Session::Abandon(std::uint64_t generation) {
  store_.Abandon(generation);
}

void Session::NoteDone() {
  last_end_s_ = SecondsOf(CLOCK_MONOTONIC);
  cost_sum_s_ += last_end_s_ - began_s_;
  ++checkpoints_;
  pace_.cost_s = cost_sum_s_ / static_cast<double>(checkpoints_);
  pace_.answered_notice = asked_notice_;
  pace_.deadline_answered = asked_ == Need::kTimeLimit;
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
    Abandon(generation.value);
  }
  return error;
}

Error Session::SetAsideFailed() {
  if (set_aside_) {
    return {};
  }
  // Whoever writes there now is restarting from it, too: not a failure.
  if (Error error = store_.LockForWriting(); error.failed()) {
    return error;
  }
  const auto failed = store_.SetAsideFailed();
  if (!failed.ok()) {
    return failed.error;
  }
  set_aside_ = true;
  if (failed.value) {
    passed_.push_back(ToText({*failed.value, GenerationState::kSetAside}) +
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
  Result<Manifest> manifest = store_.ChooseForRestart(options_.job, &passed_);
  if (!manifest.ok()) {
    return {0, manifest.error};
  }
  manifest_ = std::move(manifest.value);
  knows_manifest_ = true;
  examined_ = false;
  return {manifest_.generation, {}};
}

Result<std::vector<GenerationName>> Session::Candidates() {
  Error error = CheckRankZero("latest");
  error = error.failed() ? error : SetAsideFailed();
  return error.failed() ? Result<std::vector<GenerationName>>{{}, error} : store_.Candidates();
}

Error Session::ExamineShards() {
  const auto written_by = static_cast<std::uint32_t>(manifest_.shards.size());
  if (written_by != options_.ranks && !manifest_.repartitionable) {
    return MakeError(Fault::kRanks, "it was written by " + std::to_string(written_by) +
                                        " ranks, and there are " + std::to_string(options_.ranks) +
                                        ": it was not declared repartitionable");
  }
  for (std::uint32_t rank = options_.rank; rank < written_by; rank += options_.ranks) {
    const Result<Shard> shard = store_.OpenShard(manifest_, rank);
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

Result<std::uint64_t> Session::Examine(const GenerationName& name) {
  knows_manifest_ = false;
  examined_ = false;
  Result<Manifest> manifest = store_.ReadManifest(name);
  if (!manifest.ok()) {
    return {0, manifest.error};
  }
  Error error;
  if (manifest.value.job != options_.job) {
    error = MakeError(Fault::kForeign, "is of job \"" + manifest.value.job + "\"");
  } else {
    manifest_ = std::move(manifest.value);
    knows_manifest_ = true;
    error = options_.rank == 0 ? store_.CheckEntries(name, manifest_) : Error();
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
  Result<Manifest> manifest = store_.ReadManifest({generation, GenerationState::kComplete});
  if (!manifest.ok()) {
    Result<Manifest> aside = store_.ReadManifest({generation, GenerationState::kSetAside});
    if (!aside.ok()) {
      return {nullptr, manifest.error};
    }
    manifest = std::move(aside);
  }
  if (manifest.value.job != options_.job) {
    return {nullptr, MakeError(Fault::kForeign, "it is of job \"" + manifest.value.job + "\"")};
  }
  manifest_ = std::move(manifest.value);
  knows_manifest_ = true;
  examined_ = false;
  return {&manifest_, {}};
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
  const Result<Shard> shard = store_.OpenShard(*manifest.value, options_.rank);
  Error error = shard.ok() ? CheckRegions(shard.value) : shard.error;
  if (!error.failed() && !examined_) {
    error = shard.value.VerifyChecksum();
  }
  return error.failed() ? error : ReadRegions(shard.value);
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
  const Result<Shard> shard = store_.OpenShard(*manifest.value, rank);
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
  const Result<Shard> shard = store_.OpenShard(*manifest.value, rank);
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

Need Session::ShouldCheckpoint() {
  const Hints& hints = hints_.Read();
  pace_.since_last_s = SecondsOf(CLOCK_MONOTONIC) - last_end_s_;
  const Need need = Decide(hints, pace_, hints.deadline_ms != 0 ? SecondsOf(CLOCK_REALTIME) : 0);
  asked_ = need;
  asked_notice_ = hints.notice_number;
  return need;
}

}  // namespace muster::checkpoint
