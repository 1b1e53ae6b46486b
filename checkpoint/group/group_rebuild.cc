#include "checkpoint/group/group_rebuild.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "checkpoint/disk/disk.h"
#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {
namespace {

// Of the set that `rank` was in, by what the survivors stored; empty when none of them knows it.
ProtectionSet SetThatHas(const std::vector<Holding>& holdings, std::uint32_t rank,
                         std::uint32_t* parities) {
  for (const Holding& each : holdings) {
    const auto end = each.set.begin() + each.members;
    if (each.parities > 0 && std::find(each.set.begin(), end, rank) != end) {
      *parities = each.parities;
      return {each.set.begin(), end};
    }
  }
  return {};
}

}  // namespace

GenerationName NameOf(const Pick& pick) {
  return {pick.number, static_cast<GenerationState>(pick.state)};
}

Error GroupRebuild::Rebuild(const Pick& pick, const std::vector<Holding>& holdings) {
  const std::string name = ToText(NameOf(pick));
  const auto lacks = [&holdings](std::uint32_t rank) {
    return rank >= holdings.size() || holdings[rank].whole == 0 || holdings[rank].parities == 0;
  };
  std::uint32_t source = 0;
  for (std::uint32_t rank = 0; rank < holdings.size(); ++rank) {
    if (holdings[rank].whole != 0) {
      source = rank;
      continue;
    }
    // The same answer on all ranks: they see the same holdings.
    std::uint32_t parities = 0;
    const ProtectionSet set = SetThatHas(holdings, rank, &parities);
    if (set.empty() || NameOf(pick).state != GenerationState::kComplete ||
        std::count_if(set.begin(), set.end(), lacks) > static_cast<std::ptrdiff_t>(parities)) {
      return MakeError(Fault::kCorrupt, name + ": rank " + std::to_string(rank) +
                                            " has no good one on its local level, and it cannot "
                                            "be rebuilt from the others");
    }
  }
  std::string text =
      ranks_->rank() == source
          ? PrintManifest(session_->levels().local()->store().ReadManifest(NameOf(pick)).value)
          : "";
  if (Error error = ranks_->ShareText(source, &text); error.failed()) {
    return error;
  }
  const Result<Manifest> manifest = ParseManifest(text);
  if (Error error = ranks_->Agree(ChecksumOf(text) == pick.seal ? manifest.error
                                                                : MakeError(Fault::kCorrupt, name));
      error.failed()) {
    return error;
  }
  std::uint32_t parities = 0;
  const ProtectionSet set = SetThatHas(holdings, ranks_->rank(), &parities);
  std::vector<bool> lost;
  std::transform(set.begin(), set.end(), std::back_inserter(lost), lacks);
  const bool some = std::any_of(set.begin(), set.end(), [&](std::uint32_t rank) {
    return rank < holdings.size() && holdings[rank].whole == 0;
  });
  return ranks_->Agree(some ? RebuildMine(manifest.value, set, parities, lost) : Error());
}

// A disk that fails here stops no other member.
Error GroupRebuild::RebuildMine(const Manifest& manifest, const ProtectionSet& set,
                                std::uint32_t parities, const std::vector<bool>& lost) {
  std::uint64_t largest = 0;
  for (const std::uint32_t rank : set) {
    largest = std::max(largest, manifest.shards[rank].bytes);
  }
  Result<ParityRound> round = MakeRound(ranks_->group(), set, parities, largest);
  if (!round.ok()) {
    return round.error;
  }
  Error error = lost[round.value.place] ? TakeRebuilt(manifest, lost, &round.value)
                                        : SendMine(manifest, lost, &round.value);
  if (round.value.broken) {
    ranks_->Break();
  }
  return error;
}

Error GroupRebuild::SendMine(const Manifest& manifest, const std::vector<bool>& lost,
                             ParityRound* round) {
  const Store& store = session_->levels().local()->store();
  const std::uint32_t rank = ranks_->rank();
  const Result<OpenFile> directory =
      store.OpenGeneration({manifest.generation, GenerationState::kComplete});
  const Result<Shard> shard = Shard::Open(
      store.disk(), directory.value.get(),
      {manifest.job, manifest.generation, rank, ranks_->ranks()}, manifest.shards[rank]);
  const Result<ParityFile> parity = ParityFile::Open(store.disk(), directory.value.get(), rank);
  const Survivor own{&shard.value, &parity.value};
  Error error = RebuildLost(round, lost, &own, nullptr);
  error = shard.ok() ? error : shard.error;
  return parity.ok() ? error : parity.error;
}

Error GroupRebuild::TakeRebuilt(const Manifest& manifest, const std::vector<bool>& lost,
                                ParityRound* round) {
  Store& store = session_->levels().local()->store();
  Disk& disk = store.disk();
  const std::uint32_t rank = ranks_->rank();
  const std::string name = ShardName(rank);
  const ShardSeal& seal = manifest.shards[rank];
  const GenerationName complete{manifest.generation, GenerationState::kComplete};
  (void)store.Remove(complete);  // what was there was no good
  Error first = store.LockForWriting();
  first = first.failed() ? first : store.BeginAs(manifest.generation);
  const Result<OpenFile> directory =
      store.OpenGeneration({manifest.generation, GenerationState::kPartial});
  OpenFile file(disk,
                disk.OpenAt(directory.value.get(), name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  Result<ParityWriter> parity =
      ParityWriter::Open(disk, directory.value.get(),
                         {rank, round->erasure.parities(), round->segment, manifest.generation,
                          ChecksumOf(PrintManifest(manifest)), round->set});
  HashedFile hashed(disk, file.get());
  const Rebuilt rebuilt{&hashed, &parity.value, seal.bytes};
  const Error error = RebuildLost(round, lost, nullptr, &rebuilt);
  first = first.failed() ? first : error;
  if (!first.failed() && hashed.checksum() != seal.checksum) {
    first = MakeError(Fault::kCorrupt, name + ": was rebuilt to another content");
  }
  if (!first.failed() && (disk.Flush(file.get()) != 0 || file.Close() != 0)) {
    first = SystemError(name + ": fsync", errno);
  }
  first = first.failed() ? first : parity.value.Finish();
  first = first.failed() ? first : store.Commit(manifest);
  return first.failed() ? first : session_->saved().Examine({complete, StoreLevel::kLocal}).error;
}

}  // namespace muster::checkpoint
