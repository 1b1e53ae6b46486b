#pragma once

// The service for clients, as gRPC sees it: unary methods enter by the door
// (daemon/access/methods), three are streams.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from one background thread. Invariants: every method first asks
// the access table; a method that nothing serves ends the process at start.

#include <string>

#include "daemon/access/gate.h"
#include "daemon/access/methods.h"
#include "daemon/agents/live_usage.h"
#include "daemon/agents/node_questions.h"
#include "daemon/alerts/warnings.h"
#include "daemon/client/events/event_handler.h"
#include "daemon/client/outside/metrics_handler.h"
#include "daemon/client/outside/token_handler.h"
#include "daemon/client/stream_handler.h"
#include "daemon/client/views/job_costs.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.grpc.pb.h"

namespace muster::daemon {

// The generated service with callbacks for its streams.
using StreamingService =
    wire::Controller::WithCallbackMethod_SubmitMany<wire::Controller::WithCallbackMethod_WatchJob<
        wire::Controller::WithCallbackMethod_WatchEvents<wire::Controller::Service>>>;

class ClientService final : public StreamingService {
 public:
  struct Setting {
    std::string cluster;
    const Gate& gate;
    const LiveUsage& usage;
    TokenStore* tokens = nullptr;
    NodeQuestions* questions = nullptr;
    std::string certificate = {};  // the controller's, a file; empty: it has none
    std::string archive = {};      // the directory
    Prices prices = {};
  };

  // Everything that is referred to outlives the service.
  ClientService(Controller& controller, Accounting& accounting, JobStore& store, Setting setting);

  using Context = grpc::CallbackServerContext;
  StreamHandler::Submissions* SubmitMany(Context* context) override;
  StreamHandler::Views* WatchJob(Context* context, const wire::WatchJobRequest* request) override;
  EventHandler::Reactor* WatchEvents(Context* context,
                                     const wire::WatchEventsRequest* request) override;
  // A call of a unary method that came otherwise than over gRPC; null: there is none of that name.
  grpc::ServerUnaryReactor* Enter(const std::string& method, Context* context,
                                  const grpc::ByteBuffer& request, grpc::ByteBuffer* reply);
  // By which jobs are charged.
  [[nodiscard]] PriceBook& prices() { return prices_; }
  // Of the controller itself.
  [[nodiscard]] const ControllerWarnings& warnings() const { return warnings_; }

 private:
  // Has every unary method enter by the door.
  void EnterByDoor();

  const ControllerWarnings warnings_;
  PriceBook prices_;
  Methods methods_;
  MetricsHandler metrics_;
  StreamHandler streams_;
  EventHandler events_;
  Worker reader_;  // the last: its work ends before those that gave it
};

}  // namespace muster::daemon
