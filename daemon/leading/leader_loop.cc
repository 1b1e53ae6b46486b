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

constexpr milliseconds kLookEvery{100};
constexpr milliseconds kAfterTrouble{200};
constexpr milliseconds kRefreshEvery{1000};
constexpr std::size_t kEntriesAtOnce = 4096;

}  // namespace

LeaderLoop::LeaderLoop(JobStore& store, Controller& controller, const Logger& log,
                       Settings settings, std::function<void()> led)
    : store_(store),
      controller_(controller),
      log_(log),
      settings_(std::move(settings)),
      led_(std::move(led)),
      thread_([this] { Run(); }) {}

LeaderLoop::~LeaderLoop() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (leads_) {
    store_.leadership()->Release("").IgnoreError();  // else the lease ends by itself
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
    if (leads_) {
      Hold();
    } else {
      Watch();
    }
  }
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
  const Steady::time_point asked = Steady::now();
  std::vector<JournalEntry> entries;
  absl::Status followed;
  const auto give = [&] {
    followed = entries.empty() ? absl::OkStatus() : Await([&](Controller::Reply reply) {
      controller_.Follow(std::exchange(entries, {}), std::move(reply));
    });
    return followed.ok();
  };
  RETURN_IF_ERROR(
      ReadJournalRows(*reader_, controller_.followed().Next(), [&](const JournalEntry& entry) {
        entries.push_back(entry);
        return entries.size() < kEntriesAtOnce || give();
      }));
  RETURN_IF_ERROR(followed);
  if (!give()) {
    return followed;
  }
  const std::lock_guard hold(mutex_);
  current_ = asked;
  return absl::OkStatus();
}

absl::Status LeaderLoop::RefreshNowAndThen() {
  if (Steady::now() - refreshed_ < kRefreshEvery) {
    return absl::OkStatus();
  }
  refreshed_ = Steady::now();
  return settings_.refresh();
}

void LeaderLoop::Watch() {
  absl::Status status = store_.leadership()->AwaitNews(kLookEvery);
  status = status.ok() ? CatchUp() : status;
  status = status.ok() ? RefreshNowAndThen() : status;
  absl::StatusOr<LeaderRow> row = status.ok() ? store_.leadership()->Read() : status;
  if (!row.ok()) {
    Complain(row.status());
    if (this->status().age > settings_.lease) {
      controller_.events().Dismiss();  // there may be one who knows more
    }
    Pause(kAfterTrouble);
    return;
  }
  complained_.clear();
  const bool free = row->lease.count() <= 0;
  {
    const std::lock_guard hold(mutex_);
    row_ = *std::move(row);
    hand_over_ = false;
  }
  if (free) {
    TakeLead();
  }
}

void LeaderLoop::TakeLead() {
  const Steady::time_point asked = Steady::now();
  const absl::StatusOr<bool> taken = store_.leadership()->TryTake(
      settings_.name, settings_.addresses, settings_.lease, /*force=*/false);
  if (!taken.ok() || !*taken) {
    Complain(taken.status());
    return;
  }
  // Nobody else can add to the journal now.
  absl::Status status = CatchUp();
  status = status.ok() ? settings_.refresh() : status;
  status = status.ok()
               ? Await([this](Controller::Reply reply) { controller_.Lead(std::move(reply)); })
               : status;
  if (!status.ok()) {
    log_.Error("leader", absl::StrCat("took the lead and cannot: ", std::string(status.message())));
    store_.leadership()->Release("").IgnoreError();
    Pause(kAfterTrouble);
    return;
  }
  leads_ = true;
  renewed_ = asked;
  log_.Info("leader", absl::StrCat(settings_.name, " leads"));
  led_();
}

void LeaderLoop::Hold() {
  Pause(settings_.lease / 4);
  bool hand_over = false;
  std::string successor;
  {
    const std::lock_guard hold(mutex_);
    if (stopping_) {
      return;
    }
    hand_over = std::exchange(hand_over_, false);
    successor = successor_;
  }
  if (hand_over) {
    StepDown(absl::StrCat("handed over", successor.empty() ? "" : " to ", successor));
    Complain(store_.leadership()->Release(successor));
    return;
  }
  const Steady::time_point asked = Steady::now();
  const absl::StatusOr<bool> renewed = store_.leadership()->Renew(settings_.lease);
  if (renewed.ok() && *renewed && controller_.leads()) {
    renewed_ = asked;
    return;
  }
  if (renewed.ok()) {
    StepDown("another controller leads");
    return;
  }
  Complain(renewed.status());
  if (Steady::now() - renewed_ > settings_.lease) {
    StepDown("the database has not answered for as long as the lease is");
  }
}

void LeaderLoop::StepDown(const std::string& why) {
  log_.Warning("leader", absl::StrCat(settings_.name, " leads no more: ", why));
  leads_ = false;
  Complain(Await([&](Controller::Reply reply) { controller_.StepDown(std::move(reply)); }));
}

}  // namespace muster::daemon
