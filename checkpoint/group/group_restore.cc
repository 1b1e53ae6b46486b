#include "checkpoint/group/group_restore.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {
namespace {

// Local generations that a rank offers.
constexpr std::size_t kOffersMax = 8;

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
    case Fault::kOverQuota:
      return false;
  }
  return false;
}

}  // namespace

// What rank 0 set aside on the shared level.
Error GroupRestore::SetAsideEverywhere(std::uint64_t generation) {
  if (Error error = ranks_->Share(&generation); error.failed()) {
    return error;
  }
  LocalLevel* local = session_->levels().local();
  return ranks_->Agree(generation != 0 && local != nullptr ? local->SetAside(generation) : Error());
}

// This rank's local generations, those of all ranks in `picks` on rank 0.
Error GroupRestore::Offer(std::vector<Pick>* picks) {
  std::array<Pick, kOffersMax> own{};
  const Store& store = session_->levels().local()->store();
  const Result<std::vector<GenerationName>> names = store.Candidates();
  std::size_t count = 0;
  for (const GenerationName& name : names.value) {
    const Result<Manifest> manifest = store.ReadManifest(name);
    if (count < own.size() && manifest.ok() && manifest.value.job == session_->options().job &&
        manifest.value.shards.size() == ranks_->ranks()) {
      own.at(count++) = {name.number, static_cast<std::uint64_t>(name.state), 1,
                         ChecksumOf(PrintManifest(manifest.value))};
    }
  }
  std::vector<std::array<Pick, kOffersMax>> all;
  if (Error error = ranks_->GatherAll(own, &all); error.failed()) {
    return error;
  }
  for (const auto& offers : all) {
    std::copy_if(offers.begin(), offers.end(), std::back_inserter(*picks),
                 [](const Pick& pick) { return pick.number != 0; });
  }
  return {};
}

// The newest first, of one number the local one; those set aside behind all others.
Error GroupRestore::Picks(std::vector<Pick>* picks) {
  Result<std::vector<Candidate>> candidates;
  if (ranks_->rank() == 0 && !ranks_->broken()) {
    candidates = session_->saved().Candidates();
    passed_ = session_->saved().passed();
  }
  Error error = ranks_->Agree(candidates.error);
  error = error.failed() ? error : SetAsideEverywhere(session_->saved().set_aside());
  if (!error.failed() && session_->levels().local() != nullptr) {
    error = Offer(picks);
  }
  if (error.failed()) {
    return error;
  }
  for (const auto& [name, level] : candidates.value) {
    if (level == StoreLevel::kShared) {
      picks->push_back({name.number, static_cast<std::uint64_t>(name.state), 0, 0});
    }
  }
  const auto before = [](const Pick& a, const Pick& b) {
    return std::tuple(a.state != 0, ~a.number, a.local == 0, a.seal) <
           std::tuple(b.state != 0, ~b.number, b.local == 0, b.seal);
  };
  std::sort(picks->begin(), picks->end(), before);
  const auto same = [&before](const Pick& a, const Pick& b) {
    return !before(a, b) && !before(b, a);
  };
  picks->erase(std::unique(picks->begin(), picks->end(), same), picks->end());
  return ranks_->ShareAll(picks);
}

Result<std::uint64_t> GroupRestore::RestoreLatest() {
  read_from_ = 0;
  std::vector<Pick> picks;
  if (Error error = Picks(&picks); error.failed()) {
    return {0, error};
  }
  Error first =
      MakeError(Fault::kNotFound, session_->options().directory + ": holds no generation");
  for (const Pick& pick : picks) {
    const Error error = Try(pick);
    if (!error.failed()) {
      const Result<std::uint32_t> written_by = session_->saved().Ranks(pick.number);
      return {pick.number, written_by.value == ranks_->ranks()
                               ? Error()
                               : MakeError(Fault::kRanks, "it was written by " +
                                                              std::to_string(written_by.value) +
                                                              " ranks: read its regions")};
    }
    if (ranks_->broken() || !PassesOver(error)) {
      return {0, error};
    }
    passed_.push_back(error.text);
    first = first.fault == Fault::kNotFound ? error : first;
  }
  return {0, first};
}

Error GroupRestore::Try(const Pick& pick) {
  return pick.local != 0 ? TryLocal(pick) : TryShared(NameOf(pick));
}

Error GroupRestore::TryShared(const GenerationName& name) {
  const Result<std::uint64_t> own = session_->saved().Examine({name, StoreLevel::kShared});
  if (Error error = ranks_->Agree(own.error); error.failed()) {
    return error;
  }
  std::uint64_t theirs = own.value;
  if (Error error = ranks_->Share(&theirs); error.failed()) {
    return error;
  }
  Error error = ranks_->Agree(
      theirs == own.value ? Error()
                          : MakeError(Fault::kForeign, ToText(name) + ": is another one here than "
                                                                      "rank 0's"));
  return error.failed() ? error : ComeBack(name.number);
}

Error GroupRestore::ComeBack(std::uint64_t generation) {
  // The restart is noted before any rank's memory changes.
  Error error =
      ranks_->Agree(ranks_->rank() == 0 ? session_->saved().NoteRestart(generation) : Error());
  if (error.failed() || session_->saved().Ranks(generation).value != ranks_->ranks()) {
    return error;
  }
  read_from_ = generation;
  return ranks_->Agree(session_->Restore(generation));
}

Holding GroupRestore::Examine(const Pick& pick, Error* fatal) {
  Holding holding;
  const GenerationName name = NameOf(pick);
  const Result<std::uint64_t> own = session_->saved().Examine({name, StoreLevel::kLocal});
  if (!own.ok() && !PassesOver(own.error)) {
    *fatal = own.error;
  }
  holding.whole = own.ok() && own.value == pick.seal ? 1 : 0;
  const Store& store = session_->levels().local()->store();
  const Result<OpenFile> directory = store.OpenGeneration(name);
  const Result<ParityFile> parity =
      ParityFile::Open(store.disk(), directory.value.get(), ranks_->rank());
  if (holding.whole != 0 && parity.ok() && parity.value.head().seal == pick.seal &&
      parity.value.head().generation == pick.number) {
    const ParityHead& head = parity.value.head();
    holding.parities = head.parities;
    holding.members = static_cast<std::uint32_t>(head.set.size());
    std::copy(head.set.begin(), head.set.end(), holding.set.begin());
  }
  return holding;
}

Error GroupRestore::TryLocal(const Pick& pick) {
  Error fatal;
  const Holding own = Examine(pick, &fatal);
  if (Error error = ranks_->Agree(fatal); error.failed()) {
    return error;
  }
  std::vector<Holding> holdings;
  if (Error error = ranks_->GatherAll(own, &holdings); error.failed()) {
    return error;
  }
  const bool all = std::all_of(holdings.begin(), holdings.end(),
                               [](const Holding& each) { return each.whole != 0; });
  Error error = all ? Error() : rebuild_.Rebuild(pick, holdings);
  return error.failed() ? error : ComeBack(pick.number);
}

}  // namespace muster::checkpoint
