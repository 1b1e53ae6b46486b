#include "cli/notify/deliveries.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

// Of a URL its host alone: the rest may be a secret.
std::string Place(const std::string& to) {
  const std::size_t scheme = to.find("://");
  return scheme == std::string::npos ? to : to.substr(0, to.find('/', scheme + 3));
}

}  // namespace

Deliveries::Waits Deliveries::UsualWaits() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {seconds(1), seconds(5), seconds(30), minutes(2), minutes(10), minutes(30), minutes(60)};
}

Deliveries::Deliveries(const Logger& log, Waits waits) : log_(log), waits_(std::move(waits)) {
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

Deliveries::~Deliveries() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Deliveries::Add(Delivery delivery) {
  const MutexLock lock(&mutex_);
  while (waiting_.size() >= kWaitingMax && !stopping_) {
    changed_.Wait(&mutex_);
  }
  outstanding_.insert(delivery.event);
  waiting_.emplace(std::chrono::steady_clock::now(), Item{std::move(delivery), 0});
  changed_.NotifyAll();
}

std::optional<std::uint64_t> Deliveries::Oldest() const {
  const MutexLock lock(&mutex_);
  return outstanding_.empty() ? std::nullopt : std::optional(*outstanding_.begin());
}

void Deliveries::End(const Item& item) {
  outstanding_.erase(outstanding_.find(item.delivery.event));
  changed_.NotifyAll();
}

void Deliveries::Work() {
  mutex_.Lock();
  while (!stopping_) {
    const Moment now = std::chrono::steady_clock::now();
    if (waiting_.empty()) {
      changed_.Wait(&mutex_);
      continue;
    }
    if (waiting_.begin()->first > now) {
      changed_.WaitFor(&mutex_, waiting_.begin()->first - now);
      continue;
    }
    Item item = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    mutex_.Unlock();
    const absl::Status done = item.delivery.attempt();
    ++item.tries;
    const bool again = !done.ok() && !absl::IsInvalidArgument(done) && item.tries <= waits_.size();
    if (!done.ok()) {
      log_.Warning("notifier",
                   absl::StrCat(item.delivery.id, " to ", Place(item.delivery.to), ", try ", item.tries,
                                again ? ": " : ", given up: ", std::string(done.message())));
    }
    mutex_.Lock();
    if (again) {
      waiting_.emplace(std::chrono::steady_clock::now() + waits_[item.tries - 1], std::move(item));
      changed_.NotifyAll();
    } else {
      End(item);
    }
  }
  mutex_.Unlock();
}

}  // namespace muster::cli
