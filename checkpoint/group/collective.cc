#include "checkpoint/group/collective.h"

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {
namespace {

constexpr const char* kGone = "the ranks lost one another: a rank is gone";
constexpr std::size_t kTextMax = 500;

// What went wrong on one rank, as the others are told.
struct Verdict {
  int fault = 0;
  std::array<char, kTextMax> text{};
};

// What all ranks must have alike of their local levels, as one number.
std::uint64_t LevelsOf(const SessionOptions& options) {
  const char* local = options.local_directory.empty() ? "shared " : "local ";
  return ChecksumOf(local + std::to_string(options.parities) + " " +
                    std::to_string(options.set_size));
}

}  // namespace

Error Collective::Gone() {
  return MakeError(Fault::kSystem, kGone);
}

Error Collective::Agree(Group* group, const Error& own) {
  std::uint64_t first = own.failed() ? group->rank() : group->ranks();
  if (!group->Least(&first)) {
    return Gone();
  }
  if (first >= group->ranks()) {
    return {};
  }
  Verdict verdict;
  if (first == group->rank()) {
    verdict.fault = static_cast<int>(own.fault);
    std::copy_n(own.text.begin(), std::min(own.text.size(), kTextMax - 1), verdict.text.begin());
  }
  if (!group->Broadcast(static_cast<std::uint32_t>(first), &verdict, sizeof verdict)) {
    return Gone();
  }
  return MakeError(static_cast<Fault>(verdict.fault),
                   "rank " + std::to_string(first) + ": " + verdict.text.data());
}

Error Collective::Agree(const Error& own) {
  Error error = broken_ ? Gone() : Agree(group_, own);
  broken_ = broken_ || error.text == kGone;
  return error;
}

Error Collective::ShareText(std::uint32_t root, std::string* text) {
  std::uint64_t size = text->size();
  broken_ = broken_ || !group_->Broadcast(root, &size, sizeof size);
  text->resize(broken_ ? 0 : size);
  broken_ = broken_ || !group_->Broadcast(root, text->data(), text->size());
  return broken_ ? Gone() : Error();
}

Error Collective::Share(std::uint64_t* number) {
  broken_ = broken_ || !group_->Broadcast(0, number, sizeof *number);
  return broken_ ? Gone() : Error();
}

Result<std::unique_ptr<Collective>> Collective::Open(SessionOptions options, Group* group,
                                                     Disk& disk) {
  options.rank = group->rank();
  options.ranks = group->ranks();
  options.together = true;
  const std::uint64_t job = ChecksumOf(options.job);
  const std::uint64_t levels = LevelsOf(options);
  Result<std::unique_ptr<Session>> session = Session::Open(std::move(options), disk);
  std::uint64_t least_job = job;
  std::uint64_t least_levels = levels;
  if (!group->Least(&least_job) || !group->Least(&least_levels)) {
    return {{}, Gone()};
  }
  if (session.ok() && least_job != job) {
    session.error = MakeError(Fault::kUsage, "job: is another one than on other ranks");
  } else if (session.ok() && least_levels != levels) {
    session.error = MakeError(Fault::kUsage,
                              "local directory (given or not), parities, set size: differ from "
                              "those of other ranks");
  }
  if (Error error = Agree(group, session.error); error.failed()) {
    return {{}, error};
  }
  auto opened = std::unique_ptr<Collective>(new Collective(std::move(session.value), group));
  Error error = opened->FormSets();
  return {error.failed() ? nullptr : std::move(opened), std::move(error)};
}

Error Collective::GatherSeals(const ShardSeal& seal, std::vector<ShardSeal>* seals) {
  seals->resize(group_->rank() == 0 ? group_->ranks() : 0);
  broken_ = broken_ || !group_->Gather(&seal, sizeof seal, seals->data());
  return broken_ ? Gone() : Error();
}

Error Collective::Complete(std::uint64_t generation, const ShardSeal& seal) {
  std::vector<ShardSeal> seals;
  if (Error error = GatherSeals(seal, &seals); error.failed()) {
    return error;
  }
  return Agree(group_->rank() == 0 ? session_->Complete(generation, seals) : Error());
}

Error Collective::Save() {
  if (session_->levels().local() != nullptr) {
    return SaveLocally();
  }
  const bool first = group_->rank() == 0;
  Result<std::uint64_t> generation;
  if (first && !broken_) {
    generation = session_->Begin();
  }
  Error error = Agree(generation.error);
  error = error.failed() ? error : Share(&generation.value);
  if (error.failed()) {
    return error;
  }
  const Result<ShardSeal> seal = session_->Write(generation.value);
  error = Agree(seal.error);
  error = error.failed() ? error : Complete(generation.value, seal.value);
  if (error.failed()) {
    if (first) {
      session_->levels().Abandon(generation.value);
    }
    return error;
  }
  session_->cadence().End();
  error = Agree(session_->levels().VerifyOwn(generation.value, seal.value));
  if (!error.failed()) {
    error = Agree(first ? session_->levels().RetireVerified(generation.value) : Error());
  }
  session_->cadence().Report(error);
  return error;
}

Error Collective::Confirm() {
  return Agree(group_->rank() == 0 ? session_->Confirm() : Error());
}

Result<Need> Collective::ShouldCheckpoint() {
  constexpr int kHalf = 32;  // the need below, the number of the notice above
  std::uint64_t answer = 0;
  if (group_->rank() == 0) {
    const auto need = static_cast<std::uint64_t>(session_->ShouldCheckpoint());
    answer = std::uint64_t{session_->cadence().asked_notice()} << kHalf | need;
  }
  const Error error = Share(&answer);
  need_ = static_cast<Need>(answer & 0xffffffff);
  if (group_->rank() != 0) {
    session_->cadence().AskedFor(static_cast<std::uint32_t>(answer >> kHalf));
  }
  return {need_, error};
}

}  // namespace muster::checkpoint
