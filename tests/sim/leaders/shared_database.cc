#include "tests/sim/leaders/shared_database.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::sim {
namespace {

constexpr Duration kUnderWay{4};  // a message between a controller and the database, at most
constexpr Duration kWriting{8};   // from the fence to the commit, at most
constexpr Duration kSyncing{25};  // until the standby has it, at most
constexpr Duration kHasCome{25};  // whether what is waited for has
constexpr std::chrono::milliseconds kByHand{20'000};

absl::Status Gone() {
  return absl::UnavailableError("the database cannot be reached");
}

}  // namespace

SharedDatabase::SharedDatabase(VirtualClock& clock, Faults& faults, LeadJudge& judge,
                               std::size_t controllers, LeadDefect defect)
    : clock_(clock), faults_(faults), judge_(judge), defect_(defect), links_(controllers) {
  row_.lease_end = clock.now();
  synced_row_ = row_;
}

SharedDatabase::Reply SharedDatabase::Answering(std::size_t controller, Duration silence,
                                                Reply reply) {
  auto answered = std::make_shared<bool>(false);
  auto once = [answered, reply = std::move(reply)](const absl::Status& status) {
    if (!std::exchange(*answered, true)) {
      reply(status);
    }
  };
  clock_.After(silence, [once] { once(Gone()); });
  return [this, controller, once](const absl::Status& status) {
    if (!links_[controller].cut_off) {
      clock_.After(faults_.Between(Duration(0), kUnderWay), [once, status] { once(status); });
    }
  };
}

void SharedDatabase::Ask(std::size_t controller, Duration silence, const Statement& statement,
                         Reply reply) {
  Send(controller, false, statement, Answering(controller, silence, std::move(reply)));
}

void SharedDatabase::AskRow(std::size_t controller, Duration silence, const Statement& statement,
                            Reply reply) {
  Send(controller, true, statement, Answering(controller, silence, std::move(reply)));
}

void SharedDatabase::AskTake(std::size_t controller, Duration silence, const Bid& bid,
                             const std::shared_ptr<std::uint64_t>& taken, Reply reply) {
  const Reply answer = Answering(controller, silence, std::move(reply));
  const auto before = std::make_shared<daemon::LeaderRow>();
  const Statement take = [this, bid, taken, before] {
    *before = Row();
    *taken = Take(bid);
    return absl::OkStatus();
  };
  // What was taken is judged once it cannot be lost.
  const Reply took = [this, controller, bid, taken, before, answer](const absl::Status& status) {
    if (status.ok() && *taken > 0) {
      judge_.Taken(bid.name, *before, *taken);
      links_[controller].confirmed = clock_.now();
    }
    answer(status);
  };
  const Statement end_writers = [this, bid, take, took] {
    if (IsDue(bid)) {
      EndWriters();
    }
    Run(true, life_, take, took);
    return absl::OkStatus();
  };
  Send(controller, false, end_writers, [answer](const absl::Status& status) {
    if (!status.ok()) {
      answer(status);
    }
  });
}

void SharedDatabase::Send(std::size_t controller, bool on_row, const Statement& statement,
                          const Reply& answer) {
  if (!links_[controller].cut_off) {
    clock_.After(
        faults_.Between(Duration(0), kUnderWay),
        [this, on_row, life = life_, statement, answer] { Run(on_row, life, statement, answer); });
  }
}

void SharedDatabase::Run(bool on_row, std::uint64_t life, const Statement& statement,
                         const Reply& answer) {
  if (Away() || life != life_) {
    answer(Gone());
    return;
  }
  if (Stalls() || (on_row && IsHeld())) {
    clock_.After(kHasCome,
                 [this, on_row, life, statement, answer] { Run(on_row, life, statement, answer); });
    return;
  }
  const std::uint64_t changes = row_.changes;
  const absl::Status status = statement();
  if (!on_row || row_.changes == changes) {
    answer(status);
    return;
  }
  row_changed_ = [answer, status](const absl::Status& synced) {
    answer(synced.ok() ? status : synced);
  };
  clock_.After(faults_.Between(Duration(0), kSyncing), [this, life] { SyncRow(life); });
}

// What was visible before a change of the row is before it in the log.
void SharedDatabase::SyncRow(std::uint64_t life) {
  if (life != life_) {
    return;
  }
  if (SyncStalls()) {
    clock_.After(kHasCome, [this, life] { SyncRow(life); });
    return;
  }
  synced_row_ = row_;
  MarkSynced();
  std::exchange(row_changed_, nullptr)(absl::OkStatus());
}

void SharedDatabase::Commit(Transaction transaction, Duration silence, Reply reply) {
  const std::size_t controller = transaction.controller;
  auto writing = std::make_shared<Writing>();
  writing->transaction = std::move(transaction);
  writing->life = life_;
  writing->answer = Answering(controller, silence, std::move(reply));
  if (!links_[controller].cut_off) {
    clock_.After(faults_.Between(Duration(0), kUnderWay), [this, writing] { Begin(writing); });
  }
}

// The fence.
void SharedDatabase::Begin(const WritingPtr& writing) {
  if (Away() || writing->life != life_) {
    writing->answer(Gone());
    return;
  }
  if (Stalls() || row_changed_ != nullptr) {
    clock_.After(kHasCome, [this, writing] { Begin(writing); });
    return;
  }
  const Transaction& named = writing->transaction;
  const bool fenced = named.epoch != row_.row.epoch || named.session != row_.session;
  if (fenced && defect_ != LeadDefect::kEpochUnchecked) {
    writing->answer(absl::FailedPreconditionError("another controller leads"));
    return;
  }
  writing_.push_back(writing);
  clock_.After(faults_.Between(Duration(0), kWriting), [this, writing] { End(writing); });
}

// The commit, which a controller that is stopped or cut off has not sent yet.
void SharedDatabase::End(const WritingPtr& writing) {
  if (writing->phase == Phase::kOver) {
    return;
  }
  const Link& link = links_[writing->transaction.controller];
  if (Stalls() || link.stopped || link.cut_off) {
    clock_.After(kHasCome, [this, writing] { End(writing); });
    return;
  }
  if (writing->transaction.entries.front().version != version().Next()) {
    Abort(writing, absl::InternalError("the journal has that entry already"));
    return;
  }
  if (defect_ == LeadDefect::kAnsweredUnsynced) {
    Show(writing);
    writing->answer(absl::OkStatus());
  } else {
    writing->phase = Phase::kSyncing;
    if (std::exchange(links_[writing->transaction.controller].loses_answer, false)) {
      writing->answer(Gone());
    }
  }
  clock_.After(faults_.Between(Duration(0), kSyncing), [this, writing] { Sync(writing); });
}

void SharedDatabase::Sync(const WritingPtr& writing) {
  if (SyncStalls() && writing->life == life_) {
    clock_.After(kHasCome, [this, writing] { Sync(writing); });
    return;
  }
  if (writing->life == life_ && writing->phase == Phase::kOver) {
    MarkSynced();  // it was shown before it was synced
  } else if (writing->phase == Phase::kSyncing) {
    Show(writing);
    MarkSynced();
    writing->answer(absl::OkStatus());
  }
}

void SharedDatabase::Show(const WritingPtr& writing) {
  Transaction& done = writing->transaction;
  judge_.Committed(done.controller, row_.row.epoch, done.entries);
  kept_.Add(std::move(done.entries), done.cycles, done.fingerprint);
  writing->phase = Phase::kOver;
  std::erase(writing_, writing);
}

// The log is synced in its order.
void SharedDatabase::MarkSynced(std::size_t entries) {
  for (; synced_ < entries; ++synced_) {
    judge_.Synced(kept_.entries[synced_]);
  }
}

void SharedDatabase::Abort(const WritingPtr& writing, const absl::Status& status) {
  writing->phase = Phase::kOver;
  std::erase(writing_, writing);
  writing->answer(status);
}

// One that waits to be synced is shown when its session is ended: it was committed here.
void SharedDatabase::EndWriters() {
  for (const WritingPtr& writing : std::vector<WritingPtr>(writing_)) {
    if (writing->phase == Phase::kSyncing) {
      Show(writing);
      writing->answer(Gone());
    } else {
      Abort(writing, Gone());
    }
  }
}

void SharedDatabase::Disconnect(std::size_t controller) {
  for (const WritingPtr& writing : std::vector<WritingPtr>(writing_)) {
    if (writing->transaction.controller == controller && writing->phase == Phase::kOpen &&
        !links_[controller].cut_off) {
      Abort(writing, Gone());
    }
  }
}

daemon::LeaderRow SharedDatabase::Row() const {
  daemon::LeaderRow row = row_.row;
  row.lease = row_.lease_end - Now();
  return row;
}

bool SharedDatabase::IsDue(const Bid& bid) const {
  const daemon::LeaderRow row = Row();
  const bool turn = row.successor.empty() || row.successor == bid.name || -row.lease >= kTurn ||
                    defect_ == LeadDefect::kSuccessorIgnored;
  return (row.lease.count() <= 0 && turn) || bid.force;
}

std::uint64_t SharedDatabase::Take(const Bid& bid) {
  if (!IsDue(bid)) {
    return 0;
  }
  ++row_.changes;
  ++row_.row.epoch;
  row_.session = 0;
  row_.row.holder = bid.name;
  row_.row.successor.clear();
  row_.lease_end = Now() + bid.lease;
  return row_.row.epoch;
}

bool SharedDatabase::Renew(std::size_t controller, std::uint64_t epoch,
                           std::chrono::milliseconds lease) {
  if (epoch != row_.row.epoch || !row_.row.successor.empty()) {
    return false;
  }
  ++row_.changes;
  row_.lease_end = Now() + lease;
  links_[controller].confirmed = clock_.now();
  return true;
}

void SharedDatabase::Release(std::uint64_t epoch, const std::string& successor) {
  if (epoch == row_.row.epoch) {
    ++row_.changes;
    row_.lease_end = Now();
    row_.row.successor = successor;
  }
}

absl::StatusOr<std::uint64_t> SharedDatabase::CountSession(std::uint64_t epoch) {
  if (epoch != row_.row.epoch) {
    return absl::NotFoundError("the row is another's");
  }
  ++row_.changes;
  return ++row_.session;
}

std::uint64_t SharedDatabase::FingerprintAt(Version version) const {
  const auto& commits = kept_.commits;
  const auto found = std::lower_bound(
      commits.begin(), commits.end(), version,
      [](const KeptJournal::Commit& commit, Version wanted) { return commit.version < wanted; });
  return found != commits.end() && found->version == version ? found->fingerprint.value_or(0) : 0;
}

void SharedDatabase::Stall(Duration time) {
  stalled_until_ = std::max(stalled_until_, clock_.now() + time);
}

void SharedDatabase::StallSync(Duration time) {
  sync_stalled_until_ = std::max(sync_stalled_until_, clock_.now() + time);
}

void SharedDatabase::Restart(Duration away) {
  ++life_;
  away_until_ = clock_.now() + away;
  EndWriters();
  if (row_changed_ != nullptr) {
    std::exchange(row_changed_, nullptr)(Gone());
  }
  SyncRest(life_, kept_.entries.size(), row_);
}

// What a restart made visible is synced when the standby takes things in again.
void SharedDatabase::SyncRest(std::uint64_t life, std::size_t entries, const LeadRow& row) {
  clock_.After(SyncStalls() || Away() ? kHasCome : faults_.Between(Duration(0), kSyncing),
               [this, life, entries, row] {
                 if (life == life_ && (SyncStalls() || Away())) {
                   SyncRest(life, entries, row);
                 } else if (life == life_) {
                   MarkSynced(entries);
                   synced_row_ = row.changes > synced_row_.changes ? row : synced_row_;
                 }
               });
}

void SharedDatabase::FailOver(Duration away, Duration clock_step) {
  ++life_;
  away_until_ = clock_.now() + away;
  clock_step_ = clock_step;
  sync_stalled_until_ = kNoTime;  // there is another standby
  for (const WritingPtr& writing : std::vector<WritingPtr>(writing_)) {
    if (writing->phase == Phase::kSyncing && faults_.Chance(500)) {
      Show(writing);  // the standby had it
      MarkSynced();
      writing->answer(Gone());
    } else {
      Abort(writing, Gone());
    }
  }
  if (row_changed_ != nullptr) {
    if (faults_.Chance(500)) {
      synced_row_ = row_;
      MarkSynced();
    }
    std::exchange(row_changed_, nullptr)(Gone());
  }
  // What was visible and not synced is lost.
  row_ = synced_row_;
  if (synced_ < kept_.entries.size()) {
    kept_.entries.resize(synced_);
    const Version last = version();
    std::erase_if(kept_.commits, [last](const auto& commit) { return commit.version > last; });
    std::erase_if(kept_.cycles, [last](const auto& cycle) { return cycle.version > last; });
    judge_.Forgot(last);
  }
}

void SharedDatabase::EditRow(std::uint64_t choice) {
  Run(
      true, life_,
      [this, choice] {
        Edit(choice);
        return absl::OkStatus();
      },
      [](const absl::Status&) {});
}

void SharedDatabase::Edit(std::uint64_t choice) {
  ++row_.changes;
  switch (choice % 4) {
    case 0:
      row_.lease_end = Now();
      return;
    case 1:
      row_.lease_end = Now() + kByHand;
      return;
    case 2:
      ++row_.row.epoch;
      return;
    default:
      row_.row.holder = "another";
      return;
  }
}

}  // namespace muster::sim
