#include "daemon/leading/await.h"

#include <future>
#include <memory>

namespace muster::daemon {

absl::Status Await(const std::function<void(Controller::Reply)>& ask,
                   std::chrono::milliseconds most) {
  auto answered = std::make_shared<std::promise<absl::Status>>();
  std::future<absl::Status> answer = answered->get_future();
  ask([answered](const absl::Status& status) { answered->set_value(status); });
  if (answer.wait_for(most) != std::future_status::ready) {
    return absl::UnavailableError("the controller's loop does not answer");
  }
  return answer.get();
}

}  // namespace muster::daemon
