#include "tests/bench/swarm/swarm_client.h"

#include <algorithm>

#include "tests/bench/swarm/swarm_channel.h"

namespace muster::swarm {

void AnswerTimes::Add(std::chrono::milliseconds time) {
  ++counts_[std::min(static_cast<std::size_t>(time.count()), kMost)];
  ++count_;
}

std::size_t AnswerTimes::Quantile(double part) const {
  const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(count_.load()));
  std::uint64_t seen = 0;
  for (std::size_t time = 0; time <= kMost; ++time) {
    seen += counts_[time];
    if (seen > wanted) {
      return time;
    }
  }
  return 0;
}

SwarmClient::SwarmClient(const std::string& target, std::chrono::milliseconds pause,
                         SwarmClock& clock, AnswerTimes& times)
    : pause_(pause),
      clock_(clock),
      times_(times),
      stub_(wire::Controller::NewStub(ChannelOfItsOwn(target))) {
  question_.set_fold(true);
  question_.set_fold_jobs(true);
}

void SwarmClient::Ask() {
  context_ = std::make_unique<grpc::ClientContext>();
  context_->set_wait_for_ready(true);
  answer_.Clear();
  const auto begun = std::chrono::steady_clock::now();
  stub_->async()->ListJobs(context_.get(), &question_, &answer_,
                           [this, begun](const grpc::Status& status) {
                             if (status.ok()) {
                               times_.Add(std::chrono::duration_cast<std::chrono::milliseconds>(
                                   std::chrono::steady_clock::now() - begun));
                             } else {
                               times_.AddFailure();
                             }
                             clock_.In(pause_, [this] { Ask(); });
                           });
}

}  // namespace muster::swarm
