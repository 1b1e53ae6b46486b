#pragma once

// The call for events: who may read what, and how many read at once.
//
// Thread promise: gRPC's threads call in and never wait. Invariants: at most kReadersMax streams
// are open, and kReadersOfUserMax of one user but operators.

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/access/gate.h"
#include "daemon/client/events/event_stream.h"
#include "daemon/client/events/past_events.h"
#include "daemon/controller/controller.h"
#include "daemon/events/event_feed.h"
#include "proto/controller.pb.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class EventHandler {
 public:
  static constexpr std::size_t kReadersMax = 4'096;
  static constexpr std::size_t kReadersOfUserMax = 64;

  // Everything that is referred to outlives the answers.
  EventHandler(Controller& controller, JobStore& store, Accounting& accounting, Worker& reader,
               const Gate& gate)
      : controller_(controller),
        gate_(gate),
        past_(controller, store, accounting, reader, controller.events().cluster()) {}

  using Reactor = grpc::ServerWriteReactor<wire::WatchEventsReply>;
  Reactor* WatchEvents(grpc::CallbackServerContext& context, const absl::StatusOr<Caller>& caller,
                       const wire::WatchEventsRequest& request);

 private:
  // How many streams are open, of whom.
  struct Readers {
    Mutex mutex;
    std::size_t all ABSL_GUARDED_BY(mutex) = 0;
    std::map<std::uint32_t, std::size_t> of_user ABSL_GUARDED_BY(mutex);
  };
  [[nodiscard]] absl::Status Enter(const Caller& caller) const;

  Controller& controller_;
  const Gate& gate_;
  PastEvents past_;
  const std::shared_ptr<Readers> readers_ = std::make_shared<Readers>();
};

}  // namespace muster::daemon
