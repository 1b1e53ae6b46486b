#include "tests/sim/leaders/member.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <variant>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

using daemon::LeadMove;
using daemon::LeadOutcome;

constexpr std::chrono::milliseconds kLease{2'000};
constexpr Duration kRowSilence{4'000};
constexpr Duration kCallDeadline{3'000};  // a call that waited longer is not begun
constexpr Duration kSlowNews{600};  // news comes so late at most; more often makes fewer lives
constexpr Duration kAwayMin{200};
constexpr Duration kAwayMax{20'000};
constexpr std::int64_t kDriftMax = 10'000;  // millionths
constexpr std::int64_t kAwry = 3'000;       // of a wall clock at first
constexpr std::int64_t kMillion = 1'000'000;
constexpr Time kBootTime{Duration(1'767'225'000'000)};

}  // namespace

Member::Member(const ControllerContext& world, std::size_t index, SharedDatabase& database,
               LeadJudge& judge, LeadDefect defect)
    : ControllerLoop(world, index, SchedulerConfig()),
      name_(absl::StrCat("c", index + 1)),
      database_(database),
      judge_(judge),
      defect_(defect),
      drift_(world.faults.Between(Duration(-kDriftMax), Duration(kDriftMax)).count()),
      clock_offset_(world.faults.Between(Duration(-kAwry), Duration(kAwry))) {}

Time Member::Now() const {
  const Duration since = world_.clock.now() - kBootTime;
  return world_.clock.now() + since * drift_ / kMillion + clock_offset_;
}

Member::Moment Member::Steady() const {
  const Duration since = world_.clock.now() - kBootTime;
  return Moment(std::chrono::milliseconds(since + since * drift_ / kMillion));
}

void Member::Start() {
  alive_ = true;
  stale_ = true;
  doubtful_ = false;
  followed_ = Version();
  last_.reset();
  epoch_ = 0;
  session_ = 0;
  busy_ = false;
  turns_.emplace(kLease, Steady());
  Reload();
  Turn();
}

void Member::Die() {
  if (!alive_) {
    return;
  }
  ++world_.faults.counts().controllers_died;
  Wake();
  alive_ = false;
  ++life_;
  held_.clear();
  database_.Disconnect(index_);
  writing_.reset();
  write_asked_ = false;
  Depose();
  group_ = Group();
  state_ = core::ClusterState();
  world_.clock.After(world_.faults.Between(kAwayMin, kAwayMax), [this] { Start(); });
}

void Member::Stop() {
  if (alive_ && !stopped_) {
    stopped_ = true;
    database_.Stop(index_, true);
    world_.network.CutOff(index_, true);
  }
}

void Member::Wake() {
  if (!std::exchange(stopped_, false)) {
    return;
  }
  database_.Stop(index_, false);
  world_.network.CutOff(index_, false);
  leads_since_ = world_.clock.now();
  for (const auto& action : std::exchange(held_, {})) {
    Later(Duration(0), action);
  }
}

void Member::Act(const std::function<void()>& action) {
  if (stopped_) {
    held_.push_back(action);
  } else {
    action();
  }
}

void Member::Leaving(const ToAgent& order) {
  std::visit(
      [this](const auto& held) {
        if constexpr (requires { held.epoch; }) {
          judge_.OrderLeaves(index_, held.epoch);
        }
      },
      order);
  if (const auto* launch = std::get_if<LaunchOrder>(&order)) {
    judge_.LaunchLeaves(index_, launch->job, launch->attempt);
  }
}

Member::Told Member::Mine(Told told) {
  return [this, life = life_, told = std::move(told)](const absl::Status& status) {
    if (alive_ && life == life_) {
      Act([told, status] { told(status); });
    }
  };
}

void Member::Ask(Duration silence, const SharedDatabase::Statement& statement, Told told) {
  database_.Ask(index_, silence, statement, Mine(std::move(told)));
}

void Member::AskRow(Duration silence, const SharedDatabase::Statement& statement, Told told) {
  database_.AskRow(index_, silence, statement, Mine(std::move(told)));
}

void Member::Bring(const Command& command, Done done, const std::function<void()>& refused) {
  if (!alive_) {
    return;
  }
  Act([this, command, done = std::move(done), refused, asked = world_.clock.now()] {
    if (world_.clock.now() - asked > kCallDeadline) {
      return;
    }
    const bool answers = leads_ || Has(LeadDefect::kStandbyAnswers);
    if (stale_ || !answers) {
      refused();
      return;
    }
    const auto* submit = std::get_if<SubmitJob>(&command);
    if (submit == nullptr) {
      ControllerLoop::Take(command, done);
      return;
    }
    const std::string token = submit->token;
    const auto answer = [this, token, done](const core::Transition& transition) {
      judge_.Answered(index_, token, transition.job);
      done(transition);
    };
    if (!leads_) {
      answer(core::Handle(state_, command, Now(), *policy_));
      return;
    }
    SubmitJob known = *submit;
    if (Has(LeadDefect::kTokensForgotten) && state_.epoch() > Epoch(1)) {
      known.token = absl::StrCat(token, " in ", ToString(state_.epoch()));
    }
    ControllerLoop::Take(known, answer);
  });
}

void Member::Hear(Session session, const ToController& message) {
  if (alive_) {
    Act([this, session, message] {
      if (leads_ && !stale_) {
        Receive(session, message);
      }
    });
  }
}

void Member::HearLoss(Session session, Duration silent) {
  if (alive_) {
    Act([this, session, silent] {
      if (leads_ && !stale_) {
        NoticeLoss(session, silent);
      }
    });
  }
}

void Member::Turn() {
  const Moment asked = Steady();
  switch (turns_->move()) {
    case LeadMove::kAwaitNews:
      Later(world_.faults.Between(Duration(turns_->pause()), kSlowNews), [this, asked] {
        Ask(
            kRowSilence, [] { return absl::OkStatus(); },
            [this, asked](const absl::Status& status) { Made(asked, status); });
      });
      return;
    case LeadMove::kCatchUp:
      CatchUp(asked);
      return;
    case LeadMove::kRefresh:
    case LeadMove::kDismiss:
      MadeAfter(asked, Duration(0));
      return;
    case LeadMove::kPause:
      MadeAfter(asked, Duration(turns_->pause()));
      return;
    case LeadMove::kReadRow:
      ReadRow(asked);
      return;
    case LeadMove::kTake:
      Take(asked);
      return;
    case LeadMove::kBegin:
      Begin(asked);
      return;
    case LeadMove::kHold:
      Hold(asked);
      return;
    case LeadMove::kRenew:
      Renew(asked);
      return;
    case LeadMove::kStepDown:
      StepDown(asked, world_.clock.now() + kAwaitMax);
      return;
    case LeadMove::kRelease:
      AskRow(
          kRowSilence,
          [this, epoch = epoch_, to = turns_->successor()] {
            database_.Release(epoch, to);
            return absl::OkStatus();
          },
          [this, asked](const absl::Status& status) { Made(asked, status); });
      return;
  }
}

void Member::Made(Moment asked, LeadOutcome outcome) {
  outcome.asked = asked;
  outcome.now = Steady();
  turns_->Made(outcome);
  Later(Duration(0), [this] { Turn(); });
}

void Member::Made(Moment asked, const absl::Status& status, bool done) {
  LeadOutcome outcome;
  outcome.status = status;
  outcome.done = done;
  Made(asked, std::move(outcome));
}

void Member::MadeAfter(Moment asked, Duration time) {
  Later(time, [this, asked] { Made(asked, absl::OkStatus()); });
}

void Member::CatchUp(Moment asked) {
  const bool taking = epoch_ > 0 && database_.Row().epoch == epoch_;
  if (Has(LeadDefect::kTailUnread) && (taking || world_.faults.Chance(700))) {
    MadeAfter(asked, Duration(0));
    return;
  }
  auto read = std::make_shared<std::vector<JournalEntry>>();
  Ask(
      kStoreSilence,
      [this, read, from = std::max(followed_, Version(1))] {
        const std::vector<JournalEntry>& all = database_.kept().entries;
        if (from.value() <= all.size()) {
          read->assign(all.begin() + static_cast<std::ptrdiff_t>(from.value()) - 1, all.end());
        }
        return absl::OkStatus();
      },
      [this, read, asked](const absl::Status& status) {
        if (!status.ok()) {
          Made(asked, status);
          return;
        }
        FollowWhenFree(asked, world_.clock.now() + kAwaitMax, *read);
      });
}

void Member::ReadRow(Moment asked) {
  auto row = std::make_shared<daemon::LeaderRow>();
  Ask(
      kRowSilence,
      [this, row] {
        *row = database_.Row();
        return absl::OkStatus();
      },
      [this, row, asked](const absl::Status& status) {
        hand_over_.reset();
        if (Has(LeadDefect::kOwnClock)) {
          row->lease = database_.lease_end() - Now();
        } else if (Has(LeadDefect::kEarlyTakeover)) {
          row->lease -= kLease / 2;
        }
        LeadOutcome outcome;
        outcome.status = status;
        outcome.row = *row;
        Made(asked, std::move(outcome));
      });
}

void Member::Take(Moment asked) {
  const bool force = Has(LeadDefect::kOwnClock) || Has(LeadDefect::kEarlyTakeover);
  auto taken = std::make_shared<std::uint64_t>(0);
  database_.AskTake(index_, kRowSilence, SharedDatabase::Bid{name_, kLease, force}, taken,
                    Mine([this, taken, asked](const absl::Status& status) {
                      if (status.ok() && *taken > 0) {
                        epoch_ = *taken;
                        session_ = 0;
                      }
                      Made(asked, status, *taken > 0);
                    }));
}

void Member::Renew(Moment asked) {
  auto renewed = std::make_shared<bool>(false);
  AskRow(
      kRowSilence,
      [this, renewed, epoch = epoch_] {
        *renewed = database_.Renew(index_, epoch, kLease);
        return absl::OkStatus();
      },
      [this, renewed, asked](const absl::Status& status) {
        if (Has(LeadDefect::kLeaseHeldOn) && !status.ok()) {
          Made(asked, absl::OkStatus(), true);
        } else {
          Made(asked, status, *renewed && (leads_ || !turns_->leads()));
        }
      });
}

void Member::Hold(Moment asked) {
  Later(Duration(turns_->pause()), [this, asked] {
    LeadOutcome outcome;
    outcome.hand_over = std::exchange(hand_over_, std::nullopt);
    Made(asked, std::move(outcome));
  });
}

// Given to the loop, as all else.
void Member::StepDown(Moment asked, Time until) {
  if (busy_) {
    Later(kLook, [this, asked, until] { StepDown(asked, until); });
    return;
  }
  Depose();
  WriteSoon();
  AwaitCommit(asked, until);
}

void Member::AwaitCommit(Moment asked, Time until) {
  if ((!writing_.has_value() && group_.entries.empty()) || world_.clock.now() >= until) {
    MadeAfter(asked, Duration(0));
    return;
  }
  Later(kLook, [this, asked, until] { AwaitCommit(asked, until); });
}

}  // namespace muster::sim
