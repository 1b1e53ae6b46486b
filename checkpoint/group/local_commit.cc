#include "checkpoint/group/local_commit.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "checkpoint/group/parity_round.h"
#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {
namespace {

std::uint64_t DomainOf(const SessionOptions& options) {
  if (!options.failure_domain.empty()) {
    return ChecksumOf(options.failure_domain);
  }
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return ChecksumOf(host.data());
}

std::uint64_t LargestOf(const ProtectionSet& set, const Manifest& manifest) {
  std::uint64_t largest = 0;
  for (const std::uint32_t rank : set) {
    largest = std::max(largest, manifest.shards[rank].bytes);
  }
  return largest;
}

}  // namespace

Error LocalCommit::Form() {
  const SessionOptions& options = session_->options();
  if (options.parities == 0) {
    return {};
  }
  if (options.local_directory.empty() || !ranks_->group()->CanExchange()) {
    return MakeError(Fault::kUsage, options.local_directory.empty()
                                        ? "parities: need a local directory"
                                        : "parities: need a group that can exchange");
  }
  if (options.parities >= options.set_size || options.set_size > kSetMembersMax) {
    return MakeError(Fault::kUsage, "set size: use more than parities, and at most " +
                                        std::to_string(kSetMembersMax));
  }
  std::vector<std::uint64_t> domains;
  if (Error error = ranks_->GatherAll(DomainOf(options), &domains); error.failed()) {
    return error;
  }
  sets_ = MakeSets(domains, options.set_size, options.parities);
  return sets_.empty()
             ? MakeError(Fault::kUsage, "parities: need more nodes (failure domains) than parities")
             : Error();
}

Error LocalCommit::Save(Need need) {
  const Result<std::uint64_t> own = session_->NextNumber();
  Error error = ranks_->Agree(own.error);
  if (error.failed()) {
    return error;
  }
  // The largest of all: a rank that lost its local level knows no later one.
  std::uint64_t inverse = ~own.value;
  error = ranks_->Least(&inverse);
  const std::uint64_t generation = ~inverse;
  error = error.failed() ? error : ranks_->Agree(session_->levels().BeginAs(generation));
  error = error.failed() ? error : Write(generation);
  if (error.failed()) {
    session_->levels().TakeBack(generation);
    return error;
  }
  session_->cadence().End();
  error = ranks_->Agree(session_->levels().local()->Retire(generation));
  error = error.failed() ? error : AskForFlush(generation, need);
  session_->cadence().Report(error);
  return error;
}

Error LocalCommit::Write(std::uint64_t generation) {
  const Result<ShardSeal> seal = session_->Write(generation);
  Error error = ranks_->Agree(seal.error);
  std::vector<ShardSeal> seals;
  error = error.failed() ? error : ranks_->Gather(seal.value, &seals);
  std::string text;
  if (!error.failed() && ranks_->rank() == 0) {
    text = PrintManifest(session_->levels().ManifestOf(generation, seals));
  }
  error = error.failed() ? error : ranks_->ShareText(0, &text);
  const Result<Manifest> manifest = error.failed() ? Result<Manifest>() : ParseManifest(text);
  error = error.failed() ? error : ranks_->Agree(manifest.error);
  if (!error.failed() && !sets_.empty()) {
    const Error own = WriteParity(manifest.value);
    error = ranks_->Agree(own);
  }
  error = error.failed() ? error : ranks_->Agree(session_->CompleteAs(manifest.value));
  error =
      error.failed() ? error : ranks_->Agree(session_->levels().VerifyOwn(generation, seal.value));
  return error.failed() ? error : ranks_->Agree(VerifyParity(generation));
}

Error LocalCommit::VerifyParity(std::uint64_t generation) const {
  if (SetOf(sets_, ranks_->rank()).empty()) {
    return {};
  }
  const Store& store = session_->levels().local()->store();
  const Result<OpenFile> directory = store.OpenGeneration({generation, GenerationState::kComplete});
  return ParityFile::Open(store.disk(), directory.value.get(), ranks_->rank()).error;
}

Error LocalCommit::WriteParity(const Manifest& manifest) {
  const ProtectionSet set = SetOf(sets_, ranks_->rank());
  if (set.empty()) {
    return {};
  }
  Result<ParityRound> round =
      MakeRound(ranks_->group(), set, session_->options().parities, LargestOf(set, manifest));
  if (!round.ok()) {
    return round.error;  // on all members
  }
  // A disk that fails here stops no other member: all exchange all pieces.
  const Store& store = session_->levels().local()->store();
  const Result<OpenFile> directory =
      store.OpenGeneration({manifest.generation, GenerationState::kPartial});
  ParityHead head;
  head.rank = ranks_->rank();
  head.parities = session_->options().parities;
  head.segment = round.value.segment;
  head.generation = manifest.generation;
  head.seal = ChecksumOf(PrintManifest(manifest));
  head.set = set;
  Result<ParityWriter> parity = ParityWriter::Open(store.disk(), directory.value.get(), head);
  const Result<Shard> own =
      Shard::Open(store.disk(), directory.value.get(),
                  {manifest.job, manifest.generation, ranks_->rank(), ranks_->ranks()},
                  manifest.shards[ranks_->rank()]);
  Error error = EncodeParity(&round.value, own.value, &parity.value);
  if (round.value.broken) {
    ranks_->Break();
  }
  error = own.ok() ? error : own.error;
  error = parity.ok() ? error : parity.error;
  return error.failed() ? error : parity.value.Finish();
}

// All ranks flush the same generations, so that none waits for a shard in vain: rank 0 says whether
// this is one of them. What waits still is withdrawn where all can; a rank that is far behind makes
// all leave this generation out, unless the program is about to go.
Error LocalCommit::AskForFlush(std::uint64_t generation, Need need) {
  LocalLevel& local = *session_->levels().local();
  std::uint64_t wanted =
      ranks_->rank() == 0 && session_->cadence().WantsCopy(session_->levels().since_copy()) ? 1 : 0;
  if (Error error = ranks_->Share(&wanted); error.failed()) {
    return error;
  }
  if (wanted == 0) {
    session_->levels().NoteCopy(generation, false);
    return ranks_->Agree(session_->levels().copy_error());
  }
  const bool withdrew = asked_ != 0 && local.Withdraw(asked_);
  std::uint64_t all = withdrew ? 1 : 0;
  std::uint64_t room = local.HasRoom() ? 1 : 0;
  (void)ranks_->Least(&all);
  if (Error gone = ranks_->Least(&room); gone.failed()) {
    return gone;
  }
  const bool goes = room != 0 || (need != Need::kNone && need != Need::kInterval);
  Error error;
  if (withdrew && (all == 0 || !goes)) {
    error = local.AskFor(asked_);
  }
  if (goes) {
    error = error.failed() ? error : local.AskFor(generation);
    asked_ = generation;
  }
  session_->levels().NoteCopy(generation, goes);
  error = error.failed() ? error : local.StartHelper();
  return ranks_->Agree(error.failed() ? error : session_->levels().copy_error());
}

}  // namespace muster::checkpoint
