#include "cli/controller/streams/event_watch.h"

#include <chrono>
#include <memory>
#include <thread>

#include "cli/controller/channel.h"
#include "cli/controller/connection.h"
#include "cli/controller/controllers.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{500};

// One stream, to its end; `next` moves on with what was told.
absl::Status ReadOnce(wire::Controller::Stub& stub, wire::WatchEventsRequest& request,
                      const EventReader& reader, bool& enough) {
  grpc::ClientContext context;  // no deadline: keepalive finds a controller that is gone
  const auto stream = stub.WatchEvents(&context, request);
  wire::WatchEventsReply reply;
  while (!enough && stream->Read(&reply)) {
    for (const wire::EventLine& line : reply.events()) {
      enough = enough || !reader.tell({line.number(), line.type(), line.json()});
    }
    request.set_from(reply.next());
    if (!enough && reader.reached) {
      reader.reached(reply.next());
    }
  }
  if (enough) {
    context.TryCancel();
  }
  const grpc::Status status = stream->Finish();
  return status.ok() || enough ? absl::OkStatus() : Refusal(status);
}

}  // namespace

absl::Status ReadEvents(const Address& address, const EventQuery& query,
                        const EventReader& reader) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  RETURN_IF_ERROR(connection->Call(Ping{}).status());
  Controllers controllers(address);
  wire::WatchEventsRequest request;
  request.set_from(query.from);
  request.set_job(query.job.value());
  request.set_user(query.user);
  request.set_follow(query.follow);
  while (true) {
    ASSIGN_OR_RETURN(wire::Controller::Stub* const stub, controllers.Leader().OpenGrpc());
    bool enough = false;
    absl::Status read = ReadOnce(*stub, request, reader, enough);
    // Cut off for being slow, or the controller went away: the journal knows where we were.
    if (enough || !query.follow || !(absl::IsAborted(read) || absl::IsUnavailable(read))) {
      return read;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace muster::cli
