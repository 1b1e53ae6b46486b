#include "cli/controller/controllers.h"

#include <thread>

#include "cli/controller/controller_status.h"
#include "cli/controller/reach.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAlone{45'000};        // more than a disk that hangs for half a minute
constexpr milliseconds kOneOfSeveral{6'000};  // one that does not answer may lead no more
constexpr milliseconds kSeekPause{50};

}  // namespace

Controllers::Controllers(const Address& address) : address_(address) {
  const std::vector<Address> all = AllOf(address);
  for (const Address& each : all) {
    all_.push_back(std::make_unique<CallChannel>(each, all.size() == 1 ? kAlone : kOneOfSeveral));
  }
}

absl::Status Controllers::Open() {
  if (address_.kind != Address::Kind::kUnix) {
    for (const std::unique_ptr<CallChannel>& each : all_) {
      RETURN_IF_ERROR(each->OpenGrpc().status());
    }
  }
  return absl::OkStatus();
}

void Controllers::Seek() {
  sought_ = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
        all_[i]->MayConnect() ? all_[i]->OpenChannel() : absl::UnavailableError("");
    const absl::StatusOr<ControllerStatus> status =
        channel.ok() ? ReadControllerStatus(*channel) : channel.status();
    if (status.ok()) {
      at_ = i;
      if (status->leads) {
        return;
      }
    }
  }
}

absl::StatusOr<std::string> Controllers::Call(const char* method, const std::string& request,
                                              bool repeatable, milliseconds patience) {
  if (all_.size() == 1) {
    return all_.front()->Call(method, request, patience);
  }
  const SystemClock clock;
  const SteadyTime give_up = clock.SteadyNow() + patience;
  for (bool first = true;; first = false) {
    if (!first || !sought_) {
      Seek();
    }
    absl::StatusOr<std::string> reply = all_[at_]->Call(method, request, milliseconds(0));
    const bool again = absl::IsUnavailable(reply.status()) ||
                       (repeatable && absl::IsDeadlineExceeded(reply.status()));
    if (!again || clock.SteadyNow() >= give_up) {
      return reply;
    }
    std::this_thread::sleep_for(kSeekPause);
  }
}

CallChannel& Controllers::Leader() {
  if (all_.size() > 1) {
    Seek();
  }
  return *all_[at_];
}

}  // namespace muster::cli
