#include "daemon/leading/leader_loop.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "daemon/store/rows/journal.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEntriesAtOnce = 4096;

}  // namespace

LeaderLoop::LeaderLoop(JobStore& store, Controller& controller, const Logger& log,
                       Settings settings, std::function<void()> led)
    : store_(store),
      controller_(controller),
      log_(log),
      settings_(std::move(settings)),
      led_(std::move(led)),
      turns_(settings_.lease, Steady::now()),
      thread_([this] { Run(); }) {}

LeaderLoop::~LeaderLoop() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (turns_.leads() || turns_.move() == LeadMove::kRelease) {
    store_.leadership()
        ->Release(turns_.successor())
        .IgnoreError();  // else the lease ends by itself
  }
}

LeadStatus LeaderLoop::status() const {
  LeadStatus status;
  status.name = settings_.name;
  status.leads = controller_.leads();
  const std::lock_guard hold(mutex_);
  status.leader = status.leads ? settings_.name : row_.lease.count() > 0 ? row_.holder : "";
  status.leader_addresses = status.leads             ? settings_.addresses
                            : row_.lease.count() > 0 ? row_.addresses
                                                     : "";
  if (!status.leads) {
    status.age = std::chrono::duration_cast<milliseconds>(Steady::now() - current_);
  }
  return status;
}

absl::Status LeaderLoop::HandOver(const std::string& to) {
  if (!controller_.leads()) {
    const std::string leader = status().leader;
    return absl::FailedPreconditionError(
        absl::StrCat(settings_.name, " does not lead",
                     leader.empty() ? "" : absl::StrCat(": ask ", leader, ", which does")));
  }
  if (to == settings_.name) {
    return absl::FailedPreconditionError(absl::StrCat(to, " leads already"));
  }
  const std::lock_guard hold(mutex_);
  hand_over_ = true;
  successor_ = to;
  wake_.notify_all();
  return absl::OkStatus();
}

void LeaderLoop::Run() {
  while (true) {
    {
      const std::lock_guard hold(mutex_);
      if (stopping_) {
        return;
      }
    }
    const Steady::time_point asked = Steady::now();
    LeadOutcome outcome = Make();
    outcome.asked = asked;
    outcome.now = Steady::now();
    Complain(outcome.status);
    turns_.Made(outcome);
    const std::lock_guard hold(mutex_);
    current_ = turns_.current();
  }
}

LeadOutcome LeaderLoop::Make() {
  LeadOutcome outcome;
  absl::StatusOr<bool> done = false;
  switch (turns_.move()) {
    case LeadMove::kAwaitNews:
      outcome.status = store_.leadership()->AwaitNews(turns_.pause());
      return outcome;
    case LeadMove::kCatchUp:
      outcome.status = CatchUp();
      return outcome;
    case LeadMove::kRefresh:
      outcome.status = settings_.refresh();
      return outcome;
    case LeadMove::kReadRow:
      outcome.status = ReadRow(&outcome.row);
      return outcome;
    case LeadMove::kBegin:
      outcome.status = Begin();
      return outcome;
    case LeadMove::kHold:
      return Hold();
    case LeadMove::kDismiss:
      controller_.events().Dismiss();
      return outcome;
    case LeadMove::kPause:
      Pause(turns_.pause());
      return outcome;
    case LeadMove::kStepDown:
      outcome.status = StepDown();
      return outcome;
    case LeadMove::kRelease:
      outcome.status = store_.leadership()->Release(turns_.successor());
      return outcome;
    case LeadMove::kTake:
      done = store_.leadership()->TryTake(settings_.name, settings_.addresses, settings_.lease,
                                          /*force=*/false);
      break;
    case LeadMove::kRenew:
      done = store_.leadership()->Renew(settings_.lease);
      break;
  }
  outcome.status = done.status();
  outcome.done = done.ok() && *done && (!turns_.leads() || controller_.leads());
  return outcome;
}

void LeaderLoop::Pause(milliseconds time) {
  std::unique_lock hold(mutex_);
  wake_.wait_for(hold, time, [this] { return stopping_ || hand_over_; });
}

// Each trouble once.
void LeaderLoop::Complain(const absl::Status& status) {
  const std::string text(status.message());
  if (!status.ok() && text != complained_) {
    log_.Warning("leader", text);
    complained_ = text;
  }
}

absl::Status LeaderLoop::CatchUp() {
  if (reader_ == nullptr) {
    ASSIGN_OR_RETURN(reader_, store_.OpenReader());
  }
  std::vector<JournalEntry> entries;
  absl::Status followed;
  const auto give = [&] {
    followed = entries.empty() ? absl::OkStatus() : Await([&](Controller::Reply reply) {
      controller_.Follow(std::exchange(entries, {}), std::move(reply));
    });
    return followed.ok();
  };
  RETURN_IF_ERROR(ReadJournalRows(*reader_, controller_.followed(), [&](const JournalEntry& entry) {
    entries.push_back(entry);
    return entries.size() < kEntriesAtOnce || give();
  }));
  RETURN_IF_ERROR(followed);
  give();
  return followed;
}

absl::Status LeaderLoop::ReadRow(LeaderRow* row) {
  ASSIGN_OR_RETURN(*row, store_.leadership()->Read());
  complained_.clear();
  const std::lock_guard hold(mutex_);
  row_ = *row;
  hand_over_ = false;
  return absl::OkStatus();
}

absl::Status LeaderLoop::Begin() {
  absl::Status begun =
      Await([this](Controller::Reply reply) { controller_.Lead(std::move(reply)); });
  if (begun.ok()) {
    log_.Info("leader", absl::StrCat(settings_.name, " leads"));
    led_();
    return begun;
  }
  return absl::Status(begun.code(), absl::StrCat("took the lead and cannot: ", begun.message()));
}

LeadOutcome LeaderLoop::Hold() {
  Pause(turns_.pause());
  LeadOutcome outcome;
  const std::lock_guard hold(mutex_);
  if (std::exchange(hand_over_, false)) {
    outcome.hand_over = successor_;
  }
  return outcome;
}

absl::Status LeaderLoop::StepDown() {
  log_.Warning("leader", absl::StrCat(settings_.name, " leads no more: ", turns_.why()));
  return Await([&](Controller::Reply reply) { controller_.StepDown(std::move(reply)); });
}

}  // namespace muster::daemon
