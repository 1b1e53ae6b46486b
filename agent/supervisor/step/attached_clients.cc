#include "agent/supervisor/step/attached_clients.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/step_opening.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr Duration kShowingLimit{10000};

}  // namespace

AttachedClients::~AttachedClients() {
  for (const std::unique_ptr<StepConnection>& connection : connections_) {
    watched_->StopCopying(connection.get());
  }
}

bool AttachedClients::ShowLater(const StepIo& io, bool input) {
  if (early_.size() >= kMost) {
    return false;
  }
  early_.emplace_back(io, input);
  return true;
}

void AttachedClients::ShowThose() {
  for (const auto& [io, input] : std::exchange(early_, {})) {
    if (const absl::Status shown = Show(io, input); !shown.ok()) {
      Log(shown);
    }
  }
}

absl::Status AttachedClients::Show(const StepIo& io, bool input) {
  if (handlers_.watched() == nullptr) {
    return absl::FailedPreconditionError(
        "no muster run watches the step: its ranks write to files");
  }
  if (input && !plan_.has_terminal()) {
    return absl::FailedPreconditionError("its input is taken: only a step with --pty shares it");
  }
  RETURN_IF_ERROR(CheckStepIo(io));
  if (connections_.size() + connecting_.size() >= kMost) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMost, " clients are attached to the step already"));
  }
  const std::uint64_t number = next_++;
  connecting_[number] = std::make_unique<UserTask>(
      host_.loop, host_.user, kShowingLimit,
      [opening =
           StepOpening{.address = io.address, .private_tmp = host_.private_tmp, .refused = true}] {
        return OpenStep(opening);
      },
      [this, number, token = io.token, input](absl::StatusOr<Brought> brought) {
        connecting_.erase(number);
        if (const absl::Status shown = Add(std::move(brought), token, input); !shown.ok()) {
          Log(shown);
        }
      },
      host_.private_tmp);
  return absl::OkStatus();
}

void AttachedClients::Log(const absl::Status& why) const {
  host_.log.Warning(
      "step", absl::StrCat("an attached client cannot be reached: ", std::string(why.message())));
}

// Greets it; from then on it has copies of what the one that watches is sent.
absl::Status AttachedClients::Add(absl::StatusOr<Brought> brought, const std::string& token,
                                  bool input) {
  RETURN_IF_ERROR(brought.status());
  StepConnection* const watched = handlers_.watched();
  if (brought->descriptors.empty() || watched == nullptr) {
    return absl::FailedPreconditionError("the step has ended meanwhile");
  }
  const auto self = std::make_shared<const StepConnection*>(nullptr);
  StepConnectionHandlers handlers;
  handlers.on_input = [this, input](const std::string& data) {
    if (input && !data.empty()) {
      handlers_.on_input(data);
    }
  };
  handlers.on_signal = [](int) {};
  handlers.on_room = [](std::uint32_t) {};
  handlers.on_peers = [](const std::vector<StepPeerAddress>&) {};
  handlers.on_broken = [](const StepBreak&) {};
  // From the loop: the connection cannot go while it says so.
  handlers.on_lost = [this, self, alive = std::weak_ptr<const bool>(alive_)] {
    host_.loop.Post([this, self, alive] {
      if (!alive.expired()) {
        Drop(*self);
      }
    });
  };
  ASSIGN_OR_RETURN(
      std::unique_ptr<StepConnection> connection,
      StepConnection::Open(host_.loop, host_.closing, std::move(brought->descriptors.front()),
                           token, handlers_.greeting(), std::move(handlers)));
  *self = connection.get();
  watched_ = watched;
  watched->CopyTo(connection.get());
  connections_.push_back(std::move(connection));
  return absl::OkStatus();
}

void AttachedClients::Drop(const StepConnection* gone) {
  watched_->StopCopying(gone);
  std::erase_if(connections_, [gone](const auto& each) { return each.get() == gone; });
}

}  // namespace muster::agent
