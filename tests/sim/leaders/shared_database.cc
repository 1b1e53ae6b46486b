#include "tests/sim/leaders/shared_database.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::sim {
namespace {

constexpr Duration kUnderWay{4};  // a message between a controller and the database, at most
constexpr Duration kWriting{8};   // from the fence to the commit, at most
constexpr Duration kSyncing{25};  // until the standby has it, at most
constexpr Duration kLook{25};     // whether what is waited for has come
constexpr std::chrono::milliseconds kTurn{3'000};
constexpr std::chrono::milliseconds kByHand{20'000};

absl::Status Gone() {
  return absl::UnavailableError("the database cannot be reached");
}

}  // namespace

SharedDatabase::SharedDatabase(VirtualClock& clock, Faults& faults, LeadJudge& judge,
                               std::size_t controllers, LeadDefect defect)
    : clock_(clock),
      faults_(faults),
      judge_(judge),
      defect_(defect),
      links_(controllers),
      lease_end_(clock.now()) {}

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

void SharedDatabase::Ask(std::size_t controller, Duration silence, bool on_row, Statement statement,
                         Reply reply) {
  Reply answer = Answering(controller, silence, std::move(reply));
  if (links_[controller].cut_off) {
    return;
  }
  clock_.After(faults_.Between(Duration(0), kUnderWay),
               [this, controller, on_row, life = life_, statement = std::move(statement),
                answer = std::move(answer)] { Run(controller, on_row, life, statement, answer); });
}

void SharedDatabase::Run(std::size_t controller, bool on_row, std::uint64_t life,
                         const Statement& statement, const Reply& answer) {
  if (Away() || life != life_) {
    answer(Gone());
  } else if (Stalls() || (on_row && IsHeld())) {
    clock_.After(kLook, [this, controller, on_row, life, statement, answer] {
      Run(controller, on_row, life, statement, answer);
    });
  } else {
    answer(statement());
  }
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
  if (Stalls()) {
    clock_.After(kLook, [this, writing] { Begin(writing); });
    return;
  }
  const Transaction& named = writing->transaction;
  const bool fenced = named.epoch != row_.epoch || named.session != session_;
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
    clock_.After(kLook, [this, writing] { End(writing); });
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
  }
  clock_.After(faults_.Between(Duration(0), kSyncing), [this, writing] { Sync(writing); });
}

void SharedDatabase::Sync(const WritingPtr& writing) {
  if (Stalls() && writing->life == life_) {
    clock_.After(kLook, [this, writing] { Sync(writing); });
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
  judge_.Committed(done.controller, row_.epoch, done.entries);
  kept_.Add(std::move(done.entries), done.cycles, done.fingerprint);
  writing->phase = Phase::kOver;
  std::erase(writing_, writing);
}

// The log is synced in its order.
void SharedDatabase::MarkSynced() {
  for (; synced_ < kept_.entries.size(); ++synced_) {
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
  daemon::LeaderRow row = row_;
  row.lease = lease_end_ - Now();
  return row;
}

std::uint64_t SharedDatabase::Take(std::size_t controller, const std::string& name,
                                   std::chrono::milliseconds lease, bool force) {
  const daemon::LeaderRow before = Row();
  const bool turn = before.successor.empty() || before.successor == name ||
                    -before.lease >= kTurn || defect_ == LeadDefect::kSuccessorIgnored;
  if (!(before.lease.count() <= 0 && turn) && !force) {
    return 0;
  }
  EndWriters();
  judge_.Taken(name, before, row_.epoch + 1);
  ++row_.epoch;
  session_ = 0;
  row_.holder = name;
  row_.successor.clear();
  lease_end_ = Now() + lease;
  links_[controller].confirmed = clock_.now();
  return row_.epoch;
}

bool SharedDatabase::Renew(std::size_t controller, std::uint64_t epoch,
                           std::chrono::milliseconds lease) {
  if (epoch != row_.epoch || !row_.successor.empty()) {
    return false;
  }
  lease_end_ = Now() + lease;
  links_[controller].confirmed = clock_.now();
  return true;
}

void SharedDatabase::Release(std::uint64_t epoch, const std::string& successor) {
  if (epoch == row_.epoch) {
    lease_end_ = Now();
    row_.successor = successor;
  }
}

absl::StatusOr<std::uint64_t> SharedDatabase::CountSession(std::uint64_t epoch) {
  if (epoch != row_.epoch) {
    return absl::NotFoundError("the row is another's");
  }
  return ++session_;
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

void SharedDatabase::FailOver(Duration away, Duration clock_step) {
  ++life_;
  away_until_ = clock_.now() + away;
  clock_step_ = clock_step;
  for (const WritingPtr& writing : std::vector<WritingPtr>(writing_)) {
    if (writing->phase == Phase::kSyncing && faults_.Chance(500)) {
      Show(writing);  // the standby had it
      MarkSynced();
      writing->answer(Gone());
    } else {
      Abort(writing, Gone());
    }
  }
  // What was shown and not synced is lost.
  if (synced_ < kept_.entries.size()) {
    kept_.entries.resize(synced_);
    const Version last = version();
    std::erase_if(kept_.commits, [last](const auto& commit) { return commit.version > last; });
    std::erase_if(kept_.cycles, [last](const auto& cycle) { return cycle.version > last; });
    judge_.Forgot(last);
  }
}

void SharedDatabase::EditRow(std::uint64_t choice) {
  if (IsHeld()) {
    return;  // the row is locked, and whoever edits it gives up
  }
  switch (choice % 4) {
    case 0:
      lease_end_ = Now();
      return;
    case 1:
      lease_end_ = Now() + kByHand;
      return;
    case 2:
      ++row_.epoch;
      return;
    default:
      row_.holder = "another";
      return;
  }
}

}  // namespace muster::sim
