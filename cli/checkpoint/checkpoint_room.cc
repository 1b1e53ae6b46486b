#include "cli/checkpoint/checkpoint_room.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

using checkpoint::Aged;
using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Store;

class Room {
 public:
  Room(const WantedRoom& wanted, const CheckpointQuota& quota, const AskFates& ask,
       LedgerPage& page)
      : wanted_(wanted), quota_(quota), ask_(ask), page_(page) {}

  // With those beside it, or alone.
  [[nodiscard]] bool Fits(bool alone) const {
    const KeptSum others = Others();
    const std::uint64_t bytes = others.bytes + wanted_.bytes + (alone ? 0 : wanted_.beside.bytes);
    const std::uint64_t count = others.count + 1 + (alone ? 0 : wanted_.beside.count);
    return (quota_.bytes.zero() || bytes <= quota_.bytes.value()) &&
           (quota_.count == 0 || count <= quota_.count);
  }

  // Removes what no restart needs until it fits.
  void Make() {
    const absl::StatusOr<std::map<std::uint64_t, JobFate>> fates = ask_(JobsHere());
    if (!fates.ok()) {
      asked_ = false;
      return;
    }
    RetireOlder(*fates);
    RemoveDone(*fates);
  }

  // Short, for a line of a page (checkpoint/advice/progress.h).
  [[nodiscard]] std::string Refusal() const {
    const KeptSum others = Others();
    const bool of_bytes =
        !quota_.bytes.zero() && others.bytes + wanted_.bytes > quota_.bytes.value();
    return absl::StrCat(
        "over quota: ",
        of_bytes ? absl::StrCat(BytesText(wanted_.bytes), " more, ", BytesText(others.bytes),
                                " kept, ", BytesText(quota_.bytes.value()), " allowed")
                 : absl::StrCat("1 more, ", others.count, " kept, ", quota_.count, " allowed"),
        asked_ ? "" : "; no word of jobs");
  }

 private:
  [[nodiscard]] KeptSum Others() const {
    KeptSum sum;
    for (const LedgerEntry& each : page_.entries) {
      if (each.directory != wanted_.directory) {
        sum.bytes += each.bytes;
        sum.count += each.count;
      }
    }
    return sum;
  }

  [[nodiscard]] bool IsHere(const LedgerEntry& each) const {
    return each.directory != wanted_.directory && each.cluster == wanted_.cluster && each.job != 0;
  }

  [[nodiscard]] std::set<std::uint64_t> JobsHere() const {
    std::set<std::uint64_t> jobs;
    for (const LedgerEntry& each : page_.entries) {
      if (IsHere(each)) {
        jobs.insert(each.job);
      }
    }
    return jobs;
  }

  static JobFate FateOf(const std::map<std::uint64_t, JobFate>& fates, std::uint64_t job) {
    const auto found = fates.find(job);
    return found == fates.end() ? JobFate::kEnded : found->second;
  }

  void RetireOlder(const std::map<std::uint64_t, JobFate>& fates) {
    std::vector<KeptGenerations> all;
    for (const LedgerEntry& each : page_.entries) {
      if (!IsHere(each) || IsOfCriu(each.directory) ||
          FateOf(fates, each.job) == JobFate::kMayGoOn) {
        continue;
      }
      absl::StatusOr<KeptGenerations> kept = HoldGenerations(each.directory);
      if (kept.ok()) {
        all.push_back(*std::move(kept));
      }
    }
    (void)RetireUntil(
        [&](const KeptSum&) {
          for (const KeptGenerations& kept : all) {
            Note(kept.store.directory().path(), kept.complete);
          }
          return Fits(false);
        },
        all);
    for (const KeptGenerations& kept : all) {
      Note(kept.store.directory().path(), kept.complete);
    }
  }

  void RemoveDone(const std::map<std::uint64_t, JobFate>& fates) {
    std::vector<std::pair<std::uint64_t, std::string>> done;  // the oldest first
    for (const LedgerEntry& each : page_.entries) {
      const bool own =
          absl::EndsWith(each.directory, absl::StrCat("/muster-", each.job, ".checkpoint"));
      const auto store = Store::Open(checkpoint::Disk::Real(), each.directory);
      if (!IsHere(each) || !own || FateOf(fates, each.job) != JobFate::kCompleted || !store.ok()) {
        continue;
      }
      const absl::StatusOr<std::vector<Aged>> complete = CompleteIn(store.value);
      if (complete.ok() && !complete->empty()) {
        done.emplace_back(complete->front().written_ms, each.directory);
      }
    }
    std::sort(done.begin(), done.end());
    for (const auto& [written_ms, directory] : done) {
      if (Fits(false)) {
        return;
      }
      absl::StatusOr<KeptGenerations> kept = HoldGenerations(directory);
      if (!kept.ok()) {
        continue;
      }
      for (const Aged& each : kept->complete) {
        (void)kept->store.Remove({each.number, GenerationState::kComplete});
      }
      if (const absl::StatusOr<std::vector<Aged>> left = CompleteIn(kept->store); left.ok()) {
        Note(directory, *left);
      }
    }
  }

  void Note(const std::string& directory, const std::vector<Aged>& complete) {
    for (LedgerEntry& each : page_.entries) {
      if (each.directory == directory) {
        const KeptSum sum = SumOf(complete);
        each.bytes = sum.bytes;
        each.count = sum.count;
      }
    }
  }

  const WantedRoom& wanted_;
  const CheckpointQuota& quota_;
  const AskFates& ask_;
  LedgerPage& page_;
  bool asked_ = true;
};

}  // namespace

void CountAgain(const std::string& but, LedgerPage& page) {
  std::erase_if(page.entries, [&](LedgerEntry& each) {
    if (each.directory == but) {
      return false;
    }
    if (IsOfCriu(each.directory)) {
      const KeptSum images = CountImages(each.directory);
      each.bytes = images.bytes;
      each.count = images.count;
      return images.count == 0 && each.refused.empty();
    }
    const auto store = Store::Open(checkpoint::Disk::Real(), each.directory);
    const absl::StatusOr<std::vector<Aged>> complete =
        store.ok() ? CompleteIn(store.value)
                   : absl::StatusOr<std::vector<Aged>>(StatusOf(store.error));
    if (!complete.ok()) {
      std::error_code unknown;
      return std::filesystem::status(each.directory, unknown).type() ==
             std::filesystem::file_type::not_found;
    }
    const KeptSum sum = SumOf(*complete);
    each.bytes = sum.bytes;
    each.count = sum.count;
    return sum.count == 0 && each.refused.empty();
  });
}

std::string MakeRoom(const WantedRoom& wanted, const CheckpointQuota& quota, const AskFates& ask,
                     std::int64_t now_ms, Ledger& ledger) {
  LedgerPage& page = ledger.page();
  page.quota = quota;
  Room room(wanted, quota, ask, page);
  if (!room.Fits(false)) {
    CountAgain(wanted.directory, page);
  }
  if (!room.Fits(false)) {
    room.Make();
  }
  LedgerEntry& own = ledger.Of(wanted.directory);
  own.cluster = wanted.cluster;
  own.job = wanted.job;
  const bool all = room.Fits(false);
  if (!all && !room.Fits(true)) {
    own.bytes = wanted.beside.bytes;
    own.count = wanted.beside.count;
    own.refused = room.Refusal();
    own.refused_ms = now_ms;
    return absl::StrCat("no ", own.refused);
  }
  own.bytes = wanted.bytes + (all ? wanted.beside.bytes : 0);
  own.count = 1 + (all ? wanted.beside.count : 0);
  own.refused.clear();
  own.refused_ms = 0;
  return all ? "yes" : "alone";
}

}  // namespace muster::cli
