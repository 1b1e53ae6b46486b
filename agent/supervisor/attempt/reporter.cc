#include "agent/supervisor/attempt/reporter.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr std::chrono::seconds kRetryInterval{1};

}  // namespace

void Reporter::Report(Fact fact) {
  waiting_.push_back(std::move(fact));
  if (!retrying_) {
    Flush();
  }
}

void Reporter::WhenWritten(std::function<void()> done) {
  when_written_ = std::move(done);
  if (!retrying_) {
    Flush();
  }
}

void Reporter::Flush() {
  bool rang = false;
  while (!waiting_.empty()) {
    const absl::Status status = journal_.Append(waiting_.front());
    if (!status.ok()) {
      log_.Error("journal", absl::StrCat(status.ToString(), "; trying again each second"));
      retrying_ = true;
      loop_.RunAfter(kRetryInterval, [this] {
        retrying_ = false;
        Flush();
      });
      break;
    }
    waiting_.pop_front();
    rang = true;
  }
  if (rang) {
    RingDoorbell(doorbell_, name_);
  }
  if (waiting_.empty() && when_written_) {
    const std::function<void()> done = std::exchange(when_written_, nullptr);
    done();
  }
}

}  // namespace muster::agent
