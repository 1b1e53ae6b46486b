#include "checkpoint/session/commit_levels.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>

#include "checkpoint/store/admission.h"

namespace muster::checkpoint {
namespace {

// As a manifest's remark.
std::string RemarkOf(const std::string& line) {
  constexpr std::size_t kRemarkMax = 255;
  std::string remark = line.substr(0, kRemarkMax);
  std::replace_if(
      remark.begin(), remark.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return remark;
}

std::uint64_t UnixMilliseconds() {
  constexpr double kMilliseconds = 1000;
  constexpr double kSecondsPerNanosecond = 1e-9;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(
      (static_cast<double>(now.tv_sec) + kSecondsPerNanosecond * static_cast<double>(now.tv_nsec)) *
      kMilliseconds);
}

}  // namespace

CommitLevels::CommitLevels(const SessionOptions& options, Store shared,
                           std::optional<LocalLevel> local)
    : options_(&options),
      shared_(std::move(shared)),
      local_(std::move(local)),
      retention_(RetentionOf(options)) {}

Store& CommitLevels::At(StoreLevel level) {
  return level == StoreLevel::kLocal ? local_->store() : shared_;
}

bool CommitLevels::HoldsAllShards(StoreLevel level) const {
  return level == StoreLevel::kShared || options_->ranks == 1;
}

Error CommitLevels::Lock() {
  Error error = options_->rank == 0 ? shared_.LockForWriting() : Error();
  if (local_ && !error.failed()) {
    error = local_->store().LockForWriting();
    copy_error_ = local_->TakeFlushError();
  }
  return error;
}

Result<std::uint64_t> CommitLevels::Next() {
  const Result<std::uint64_t> shared = shared_.Next();
  const Result<std::uint64_t> here = local_ ? local_->store().Next() : shared;
  if (!shared.ok() || !here.ok()) {
    return shared.ok() ? here : shared;
  }
  return {std::max(shared.value, here.value), {}};
}

Error CommitLevels::BeginAs(std::uint64_t generation) {
  return Target().BeginAs(generation);
}

Result<ShardSeal> CommitLevels::Write(std::uint64_t generation,
                                      const std::vector<RegionBytes>& regions) {
  return Target().Write({options_->job, generation, options_->rank, options_->ranks}, regions);
}

Manifest CommitLevels::ManifestOf(std::uint64_t generation,
                                  const std::vector<ShardSeal>& seals) const {
  Manifest manifest;
  manifest.job = options_->job;
  manifest.attempt = options_->attempt;
  manifest.generation = generation;
  manifest.written_ms = UnixMilliseconds();
  manifest.repartitionable = options_->repartitionable;
  manifest.topology = options_->topology;
  manifest.software = options_->software;
  manifest.hardware = options_->hardware;
  manifest.flush_error = RemarkOf(copy_error_.text);
  manifest.shards = seals;
  return manifest;
}

Error CommitLevels::Complete(const Manifest& manifest) {
  if (!local_) {
    const Result<Retention> admitted =
        Admit(shared_, manifest, RetentionOf(*options_), options_->admission);
    if (!admitted.ok()) {
      return admitted.error;
    }
    retention_ = admitted.value;
  }
  const Error error = Target().Commit(manifest);
  return error.failed() || options_->rank != 0 ? error : shared_.restarts().Confirm();
}

Error CommitLevels::VerifyOwn(std::uint64_t generation, const ShardSeal& seal) {
  const GenerationName name{generation, GenerationState::kComplete};
  if (local_) {  // each rank has the manifest there
    if (Error error = Target().ReadManifest(name).error; error.failed()) {
      return error;
    }
  }
  if (options_->rank == 0 && HoldsAllShards(local_ ? StoreLevel::kLocal : StoreLevel::kShared)) {
    const Result<Manifest> manifest = Target().ReadManifest(name);
    Error error = manifest.ok() ? Target().CheckEntries(name, manifest.value) : manifest.error;
    if (error.failed()) {
      return error;
    }
  }
  return Target().VerifyShard({options_->job, generation, options_->rank, options_->ranks}, seal);
}

Error CommitLevels::RetireVerified(std::uint64_t generation) {
  const Error error = CheckRankZero(*options_, "retire");
  return error.failed() ? error : shared_.RetireVerified(generation, retention_);
}

void CommitLevels::Abandon(std::uint64_t generation) {
  Target().Abandon(generation);
}

void CommitLevels::TakeBack(std::uint64_t generation) {
  Target().Abandon(generation);
  (void)Target().Remove({generation, GenerationState::kComplete});
}

// The commit stands, whatever this answers.
Error CommitLevels::Copy(std::uint64_t generation, bool wanted) {
  const Error error = wanted ? local_->FlushNewest(generation) : Error();
  NoteCopy(generation, wanted && !error.failed());  // otherwise the next one is
  return error.failed() ? error : std::exchange(copy_error_, {});
}

void CommitLevels::NoteCopy(std::uint64_t generation, bool copied) {
  newest_ = generation;
  uncopied_ = copied ? 0 : uncopied_ + 1;
}

void CommitLevels::CopyLast() {
  if (!local_ || uncopied_ == 0) {
    return;
  }
  // Nobody is there to be told. Ranks withdraw nothing that others may have begun.
  if (options_->together) {
    (void)local_->AskFor(newest_);
    (void)local_->StartHelper();
  } else {
    (void)local_->FlushNewest(newest_);
  }
}

}  // namespace muster::checkpoint
