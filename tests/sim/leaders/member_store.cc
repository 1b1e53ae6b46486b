// How a member follows, begins to lead, and what it does when the database refused.
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/state_hash.h"
#include "tests/sim/leaders/member.h"

namespace muster::sim {
namespace {

constexpr Duration kGather{5};
constexpr Duration kReloadAgain{1'000};

}  // namespace

absl::Status Member::Follow(const std::vector<JournalEntry>& entries) {
  if (!leads_ && state_.version() != followed_) {
    return absl::UnavailableError("what this controller wrote last is not settled yet");
  }
  std::size_t left = entries.size();
  for (const JournalEntry& entry : entries) {
    --left;
    CompareLast(entry);
    if (leads_ || stale_ || entry.version <= state_.version()) {
      continue;
    }
    if (entry.version != state_.version().Next()) {
      MarkStale();
      continue;
    }
    if (Has(LeadDefect::kEntryMissed) && left == 0 && world_.faults.Chance(20)) {
      state_.Apply(HalfLifeSet{});
      continue;
    }
    state_.Apply(entry.event);
    if (Has(LeadDefect::kEntryTwice) && left == 0 &&
        (std::holds_alternative<NodeDrained>(entry.event) ||
         std::holds_alternative<JobHeld>(entry.event))) {
      state_.Apply(entry.event);
    }
  }
  if (!leads_ && !entries.empty() && entries.back().version == state_.version()) {
    last_ = entries.back();
  }
  followed_ = leads_ ? followed_ : state_.version();
  CompareState();
  return stale_ ? absl::UnavailableError("the journal went on elsewhere") : absl::OkStatus();
}

void Member::CompareLast(const JournalEntry& entry) {
  const bool comparable = !leads_ && !stale_ && last_.has_value() &&
                          entry.version == state_.version() && last_->version == entry.version;
  if (!comparable || entry == *last_) {
    return;
  }
  if (Has(LeadDefect::kLostEntryKept)) {
    judge_.Broken(absl::StrCat("promise 6: ", name_, " goes on from its own entry ",
                               ToString(entry.version), ", which the database lost"));
  }
  MarkStale();
}

// A standby's state is the leader's at the same entry.
void Member::CompareState() {
  if (leads_ || stale_ || writing_.has_value() || !group_.entries.empty()) {
    return;
  }
  if (state_.version() > database_.version()) {
    return;  // of a database that forgot; it is seen when the journal goes on
  }
  const std::uint64_t written = database_.FingerprintAt(state_.version());
  if (written != 0 && core::HashOf(state_) != written) {
    judge_.Broken(absl::StrCat("promise 6: ", name_,
                               ", a standby, has another state than the leader had at version ",
                               ToString(state_.version())));
  }
}

// What the loop is given while it begins an epoch waits; whoever gave it does so for a while.
void Member::FollowWhenFree(Moment asked, Time until, const std::vector<JournalEntry>& entries) {
  if (!busy_) {
    Made(asked, Follow(entries));
  } else if (world_.clock.now() >= until) {
    Made(asked, absl::UnavailableError("the loop does not answer"));
  } else {
    Later(kLook, [this, asked, until, entries] { FollowWhenFree(asked, until, entries); });
  }
}

void Member::Begin(Moment asked) {
  auto awaited = std::make_shared<bool>(true);
  const Told begun = [this, asked, awaited](const absl::Status& status) {
    if (std::exchange(*awaited, false)) {
      Made(asked, status);
    }
  };
  Later(kAwaitMax, [begun] { begun(absl::UnavailableError("the loop does not answer")); });
  if (busy_ || stale_) {
    begun(absl::UnavailableError("not what the database holds"));
    return;
  }
  busy_ = true;
  BeginWhenWritten([this, begun](const absl::Status& status) {
    busy_ = false;
    begun(status);
  });
}

// As the loop does: what is on its way to the database comes first.
void Member::BeginWhenWritten(const Told& begun) {
  if (writing_.has_value()) {
    Later(kLook, [this, begun] { BeginWhenWritten(begun); });
    return;
  }
  if (state_.version() != followed_) {
    begun(absl::UnavailableError("what this controller wrote last is not settled yet"));
    return;
  }
  Settle([this, begun](const absl::Status& settled) {
    if (settled.ok()) {
      ContinueFrom(begun);
    } else {
      begun(settled);
    }
  });
}

void Member::ContinueFrom(const Told& begun) {
  auto last = std::make_shared<Version>();
  Ask(
      kStoreSilence,
      [this, last] {
        *last = database_.version();
        return absl::OkStatus();
      },
      [this, last, begun](const absl::Status& status) {
        const bool known = *last == state_.version() || Has(LeadDefect::kTailUnread);
        if (!status.ok() || !known) {
          if (status.ok()) {
            MarkStale();
          }
          begun(status.ok() ? absl::InternalError("has another entry") : status);
          return;
        }
        doubtful_ = false;
        BeginTermNow(begun);
      });
}

void Member::BeginTermNow(const Told& begun) {
  group_ = Group();
  BeginTerm();
  Commit(std::exchange(group_, Group()), [this, begun](const absl::Status& status) {
    const Group group = *std::exchange(writing_, std::nullopt);
    if (!status.ok()) {
      MarkStale();
      begun(status);
      return;
    }
    leads_ = true;
    leads_since_ = world_.clock.now();
    world_.network.Listen(index_);
    for (const auto& leave : group.after) {
      leave();
    }
    if (Has(LeadDefect::kJobsEnded)) {
      EndJobs();
    }
    MaybePlan();
    WatchElastic();
    begun(absl::OkStatus());
  });
}

// The planted one that takes what it did not start for a stranger's.
void Member::EndJobs() {
  for (const auto& [id, job] : state_.jobs()) {
    if (job.attempt.has_value()) {
      std::vector<Effect> ends;
      for (const NodeAllocation& part : job.attempt->allocation.nodes) {
        ends.emplace_back(Terminate{id, job.attempt->number, part.node, EndCause::kCancelled});
      }
      Later(Duration(10'000), [this, ends] {
        Dispatch(ends);
        WriteSoon();
      });
    }
  }
}

void Member::Depose() {
  leads_ = false;
  if (group_.entries.empty()) {
    group_.cycles.clear();
  }
  Forget();
  world_.network.StopListening(index_);
}

void Member::WriteSoon() {
  if (write_asked_ || writing_.has_value() || (group_.entries.empty() && group_.after.empty())) {
    return;
  }
  write_asked_ = true;
  Later(world_.faults.Between(Duration(0), kGather), [this] { CloseGroup(); });
}

void Member::CloseGroup() {
  write_asked_ = false;
  if (writing_.has_value()) {
    return;
  }
  Group group = std::exchange(group_, Group());
  if (group.entries.empty()) {
    group_.cycles.swap(group.cycles);  // they wait for the next event
  }
  if (Has(LeadDefect::kAnsweredBeforeCommit)) {
    for (const auto& leave : std::exchange(group.after, {})) {
      leave();
    }
  }
  Commit(std::move(group), [this](const absl::Status& status) { Written(status); });
}

// With nothing to write the database is asked whether the lead is still ours, as by the store.
void Member::Commit(Group group, Told told) {
  writing_ = std::move(group);
  if (writing_->entries.empty() && !doubtful_) {
    Ask(
        kStoreSilence,
        [this, epoch = epoch_] {
          return database_.Row().epoch == epoch ? absl::OkStatus()
                                                : absl::FailedPreconditionError("deposed");
        },
        [this, told = std::move(told)](const absl::Status& status) {
          doubtful_ = !status.ok();
          told(status);
        });
    return;
  }
  if (doubtful_) {
    Later(Duration(0), [told] { told(absl::UnavailableError("not known yet")); });
    return;
  }
  database_.Commit(
      SharedDatabase::Transaction{index_, epoch_, session_, writing_->entries, writing_->cycles,
                                  core::HashOf(state_)},
      kStoreSilence,
      Mine([this, told, last = writing_->entries.back().version](const absl::Status& status) {
        doubtful_ = !status.ok();
        if (absl::IsInternal(status)) {
          judge_.Broken(
              absl::StrCat("promise 12: ", name_, " wrote what does not follow the journal"));
        }
        followed_ = status.ok() ? last : followed_;
        told(status);
      }));
}

void Member::Written(const absl::Status& status) {
  Group group = *std::exchange(writing_, std::nullopt);
  if (!status.ok() && Has(LeadDefect::kOldOrders)) {
    doubtful_ = false;  // and goes on as if nothing had been
  } else if (!status.ok()) {
    RollBackWhenFree(status);
    return;
  }
  for (const auto& leave : group.after) {
    leave();
  }
  WriteSoon();
  if (leads_) {
    MaybePlan();
  }
}

void Member::RollBackWhenFree(const absl::Status& status) {
  if (busy_ || writing_.has_value()) {
    Later(kLook, [this, status] { RollBackWhenFree(status); });
  } else {
    RollBack(status);
  }
}

void Member::RollBack(const absl::Status& status) {
  group_ = Group();
  if (absl::IsFailedPrecondition(status)) {
    Depose();
  }
  Forget();
  world_.network.StopListening(index_);
  MarkStale();
}

void Member::MarkStale() {
  stale_ = true;
  Reload();
}

void Member::Settle(Told settled) {
  if (!doubtful_ || Has(LeadDefect::kCommitUnsettled)) {
    settled(absl::OkStatus());
    return;
  }
  database_.Disconnect(index_);
  auto session = std::make_shared<std::uint64_t>(session_);
  AskRow(
      kStoreSilence,
      [this, session, epoch = epoch_] {
        *session = database_.CountSession(epoch).value_or(*session);
        return absl::OkStatus();
      },
      [this, session, settled = std::move(settled)](const absl::Status& status) {
        session_ = *session;
        settled(status);
      });
}

// Back to what the database holds, or later once it can be reached.
void Member::Reload() {
  ++loads_;
  Settle([this, load = loads_](const absl::Status& settled) {
    if (load != loads_) {
      return;
    }
    if (settled.ok()) {
      LoadState();
    } else {
      Later(kReloadAgain, [this, load] {
        if (load == loads_) {
          Reload();
        }
      });
    }
  });
}

void Member::LoadState() {
  auto image = std::make_shared<std::vector<JournalEntry>>();
  Ask(
      kStoreSilence,
      [this, image] {
        *image = database_.kept().entries;
        return absl::OkStatus();
      },
      [this, image, load = loads_](const absl::Status& status) {
        if (load != loads_) {
          return;
        }
        if (!status.ok()) {
          Later(kReloadAgain, [this] { Reload(); });
          return;
        }
        state_ = core::ClusterState();
        for (const JournalEntry& entry : *image) {
          state_.Apply(entry.event);
        }
        followed_ = state_.version();
        last_ = image->empty() ? std::nullopt : std::optional(image->back());
        group_ = Group();
        stale_ = false;
        doubtful_ = false;
        Forget();
        if (leads_) {
          world_.network.Listen(index_);
          Dispatch({Replan{}});
          MaybePlan();
        }
      });
}

}  // namespace muster::sim
