#include "checkpoint/collective.h"

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/manifest.h"

namespace muster::checkpoint {
namespace {

constexpr const char* kGone = "the ranks lost one another: a rank is gone";
constexpr std::size_t kTextMax = 500;

// What went wrong on one rank, as the others are told.
struct Verdict {
  int fault = 0;
  std::array<char, kTextMax> text{};
};

// A shard's seal on its way to rank 0.
struct SealRecord {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

Error Gone() {
  return MakeError(Fault::kSystem, kGone);
}

// Whether another generation may still be good after this.
bool PassesOver(const Error& error) {
  switch (error.fault) {
    case Fault::kSystem:
    case Fault::kNotFound:
    case Fault::kCorrupt:
    case Fault::kForeign:
      return true;
    case Fault::kNone:
    case Fault::kUsage:
    case Fault::kRanks:
    case Fault::kRegions:
    case Fault::kBusy:
    case Fault::kNotShared:
      return false;
  }
  return false;
}

}  // namespace

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

Error Collective::Share(std::uint64_t* number) {
  broken_ = broken_ || !group_->Broadcast(0, number, sizeof *number);
  return broken_ ? Gone() : Error();
}

Result<std::unique_ptr<Collective>> Collective::Open(SessionOptions options, Group* group,
                                                     Disk& disk) {
  options.rank = group->rank();
  options.ranks = group->ranks();
  const std::uint64_t job = ChecksumOf(options.job);
  Result<std::unique_ptr<Session>> session = Session::Open(std::move(options), disk);
  std::uint64_t least = job;
  if (!group->Least(&least)) {
    return {{}, Gone()};
  }
  if (session.ok() && least != job) {
    session.error = MakeError(Fault::kUsage, "job: is another one than on other ranks");
  }
  if (Error error = Agree(group, session.error); error.failed()) {
    return {{}, error};
  }
  return {std::unique_ptr<Collective>(new Collective(std::move(session.value), group)), {}};
}

Error Collective::Complete(std::uint64_t generation, const ShardSeal& seal) {
  const bool first = group_->rank() == 0;
  const SealRecord own{seal.bytes, seal.checksum};
  std::vector<SealRecord> records(first ? group_->ranks() : 0);
  broken_ = broken_ || !group_->Gather(&own, sizeof own, records.data());
  if (broken_) {
    return Gone();
  }
  Error error;
  if (first) {
    std::vector<ShardSeal> seals;
    for (std::uint32_t rank = 0; rank < records.size(); ++rank) {
      seals.push_back({rank, records[rank].bytes, records[rank].checksum});
    }
    error = session_->Complete(generation, seals);
  }
  return Agree(error);
}

Error Collective::Save() {
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
      session_->Abandon(generation.value);
    }
    return error;
  }
  session_->NoteDone();
  error = Agree(session_->VerifyOwn(seal.value, generation.value));
  if (!error.failed()) {
    error = Agree(first ? session_->RetireVerified(generation.value) : Error());
  }
  return error;
}

Error Collective::TryFrom(const GenerationName& name) {
  const Result<std::uint64_t> own = session_->Examine({name, Level::kShared});
  if (Error error = Agree(own.error); error.failed()) {
    return error;
  }
  std::uint64_t theirs = own.value;
  if (Error error = Share(&theirs); error.failed()) {
    return error;
  }
  Error error = Agree(theirs == own.value
                          ? Error()
                          : MakeError(Fault::kForeign, ToText(name) + ": is another one here than "
                                                                      "rank 0's"));
  if (error.failed()) {
    return error;
  }
  // The restart is noted before any rank's memory changes.
  error = Agree(group_->rank() == 0 ? session_->NoteRestart(name.number) : Error());
  if (error.failed() || session_->SavedRanks(name.number).value != group_->ranks()) {
    return error;
  }
  return Agree(session_->Restore(name.number));
}

Result<std::uint64_t> Collective::RestoreLatest() {
  Result<std::vector<Candidate>> candidates;
  if (group_->rank() == 0 && !broken_) {
    candidates = session_->Candidates();
    passed_ = session_->passed();
  }
  if (Error error = Agree(candidates.error); error.failed()) {
    return {0, error};
  }
  std::uint64_t count = candidates.value.size();
  if (Error error = Share(&count); error.failed()) {
    return {0, error};
  }
  candidates.value.resize(count);
  Error first =
      MakeError(Fault::kNotFound, session_->options().directory + ": holds no generation");
  for (auto& [name, level] : candidates.value) {
    auto state = static_cast<std::uint64_t>(name.state);
    Error error = Share(&name.number);
    error = error.failed() ? error : Share(&state);
    name.state = static_cast<GenerationState>(state);
    error = error.failed() ? error : TryFrom(name);
    if (!error.failed()) {
      const Result<std::uint32_t> written_by = session_->SavedRanks(name.number);
      return {name.number, written_by.value == group_->ranks()
                               ? Error()
                               : MakeError(Fault::kRanks, "it was written by " +
                                                              std::to_string(written_by.value) +
                                                              " ranks: read its regions")};
    }
    if (broken_ || !PassesOver(error)) {
      return {0, error};
    }
    passed_.push_back(error.text);
    first = first.fault == Fault::kNotFound ? error : first;
  }
  return {0, first};
}

Error Collective::Confirm() {
  return Agree(group_->rank() == 0 ? session_->Confirm() : Error());
}

Result<Need> Collective::ShouldCheckpoint() {
  std::uint64_t need =
      group_->rank() == 0 ? static_cast<std::uint64_t>(session_->ShouldCheckpoint()) : 0;
  const Error error = Share(&need);
  return {static_cast<Need>(need), error};
}

}  // namespace muster::checkpoint
