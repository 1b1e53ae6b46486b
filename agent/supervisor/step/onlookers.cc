#include "agent/supervisor/step/onlookers.h"

#include <utility>

#include "scheduler/base/status.h"

namespace muster {

Onlookers::~Onlookers() {
  for (const std::unique_ptr<StepConnection>& connection : connections_) {
    watched_->StopCopying(connection.get());
  }
}

absl::Status Onlookers::Add(StepConnection& watched, UniqueFd socket, const std::string& token,
                            const StepGreeting& greeting,
                            std::function<void(const std::string&)> on_input) {
  const auto self = std::make_shared<const StepConnection*>(nullptr);
  StepConnectionHandlers handlers;
  handlers.on_input = std::move(on_input);
  handlers.on_signal = [](int) {};
  handlers.on_room = [](std::uint32_t) {};
  handlers.on_peers = [](const std::vector<StepPeerAddress>&) {};
  handlers.on_broken = [](const StepBreak&) {};
  // From the loop: the connection cannot go while it says so.
  handlers.on_lost = [this, self, alive = std::weak_ptr<const bool>(alive_)] {
    loop_.Post([this, self, alive] {
      if (!alive.expired()) {
        Drop(*self);
      }
    });
  };
  ASSIGN_OR_RETURN(std::unique_ptr<StepConnection> connection,
                   StepConnection::Open(loop_, closing_, std::move(socket), token, greeting,
                                        std::move(handlers)));
  *self = connection.get();
  watched_ = &watched;
  watched.CopyTo(connection.get());
  connections_.push_back(std::move(connection));
  return absl::OkStatus();
}

void Onlookers::Drop(const StepConnection* gone) {
  watched_->StopCopying(gone);
  std::erase_if(connections_, [gone](const auto& each) { return each.get() == gone; });
}

}  // namespace muster
