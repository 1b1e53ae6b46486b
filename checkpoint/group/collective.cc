#include "checkpoint/group/collective.h"

#include <utility>

#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {
namespace {

// What all ranks must have alike of their local levels, as one number.
std::uint64_t LevelsOf(const SessionOptions& options) {
  const char* local = options.local_directory.empty() ? "shared " : "local ";
  return ChecksumOf(local + std::to_string(options.parities) + " " +
                    std::to_string(options.set_size));
}

}  // namespace

Result<std::unique_ptr<Collective>> Collective::Open(SessionOptions options, Group* group,
                                                     Disk& disk) {
  options.rank = group->rank();
  options.ranks = group->ranks();
  options.together = true;
  const std::uint64_t job = ChecksumOf(options.job);
  const std::uint64_t levels = LevelsOf(options);
  Result<std::unique_ptr<Session>> session = Session::Open(std::move(options), disk);
  Agreement ranks(group);
  std::uint64_t least_job = job;
  std::uint64_t least_levels = levels;
  (void)ranks.Least(&least_job);
  if (Error error = ranks.Least(&least_levels); error.failed()) {
    return {{}, error};
  }
  if (session.ok() && least_job != job) {
    session.error = MakeError(Fault::kUsage, "job: is another one than on other ranks");
  } else if (session.ok() && least_levels != levels) {
    session.error = MakeError(Fault::kUsage,
                              "local directory (given or not), parities, set size: differ from "
                              "those of other ranks");
  }
  if (Error error = ranks.Agree(session.error); error.failed()) {
    return {{}, error};
  }
  auto opened = std::unique_ptr<Collective>(new Collective(std::move(session.value), ranks));
  Error error = opened->local_.Form();
  return {error.failed() ? nullptr : std::move(opened), std::move(error)};
}

Error Collective::Complete(std::uint64_t generation, const ShardSeal& seal) {
  std::vector<ShardSeal> seals;
  if (Error error = ranks_.Gather(seal, &seals); error.failed()) {
    return error;
  }
  return ranks_.Agree(ranks_.rank() == 0 ? session_->Complete(generation, seals) : Error());
}

Error Collective::Save() {
  if (session_->levels().local() != nullptr) {
    return local_.Save(need_);
  }
  const bool first = ranks_.rank() == 0;
  Result<std::uint64_t> generation;
  if (first && !ranks_.broken()) {
    generation = session_->Begin();
  }
  Error error = ranks_.Agree(generation.error);
  error = error.failed() ? error : ranks_.Share(&generation.value);
  if (error.failed()) {
    return error;
  }
  const Result<ShardSeal> seal = session_->Write(generation.value);
  error = ranks_.Agree(seal.error);
  error = error.failed() ? error : Complete(generation.value, seal.value);
  if (error.failed()) {
    if (first) {
      session_->levels().Abandon(generation.value);
    }
    return error;
  }
  session_->cadence().End();
  error = ranks_.Agree(session_->levels().VerifyOwn(generation.value, seal.value));
  if (!error.failed()) {
    error = ranks_.Agree(first ? session_->levels().RetireVerified(generation.value) : Error());
  }
  session_->cadence().Report(error);
  return error;
}

Result<std::uint64_t> Collective::RestoreLatest() {
  Result<std::uint64_t> from = restore_.RestoreLatest();
  if (restore_.read_from() != 0) {
    local_.NoteFlush(restore_.read_from());
  }
  return from;
}

Error Collective::Confirm() {
  return ranks_.Agree(ranks_.rank() == 0 ? session_->Confirm() : Error());
}

Result<Need> Collective::ShouldCheckpoint() {
  constexpr int kHalf = 32;  // the need below, the number of the notice above
  std::uint64_t answer = 0;
  if (ranks_.rank() == 0) {
    const auto need = static_cast<std::uint64_t>(session_->ShouldCheckpoint());
    answer = std::uint64_t{session_->cadence().asked_notice()} << kHalf | need;
  }
  const Error error = ranks_.Share(&answer);
  need_ = static_cast<Need>(answer & 0xffffffff);
  if (ranks_.rank() != 0) {
    session_->cadence().AskedFor(static_cast<std::uint32_t>(answer >> kHalf));
  }
  return {need_, error};
}

}  // namespace muster::checkpoint
