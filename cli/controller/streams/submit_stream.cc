#include "cli/controller/streams/submit_stream.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cli/controller/channel.h"
#include "cli/controller/controllers.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/methods.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

using ManyStub = wire::Controller::Stub;
using Tell = std::function<void(const absl::StatusOr<JobId>&)>;

constexpr std::chrono::milliseconds kStreamPause{100};
constexpr std::chrono::seconds kGreetTimeout{30};

wire::SubmitRequest RequestOf(const SubmitJob& submission) {
  std::string bytes;
  AppendRequest(submission, &bytes);
  wire::SubmitRequest request;
  MUSTER_CHECK(request.ParseFromString(bytes));
  return request;
}

// Sends from `*answered` on, and counts the answers, until all have come or the stream ends.
grpc::Status Stream(ManyStub& stub, std::span<const SubmitJob> submissions, const Tell& tell,
                    std::size_t* answered) {
  // A controller lets nobody send much before it knows who that is.
  grpc::ClientContext greeting;
  greeting.set_deadline(std::chrono::system_clock::now() + kGreetTimeout);
  wire::PingReply pong;
  if (grpc::Status status = stub.Ping(&greeting, wire::PingRequest(), &pong); !status.ok()) {
    return status;
  }
  grpc::ClientContext context;
  const auto stream = stub.SubmitMany(&context);
  std::thread writer([&stream, unanswered = submissions.subspan(*answered)] {
    for (const SubmitJob& submission : unanswered) {
      if (!stream->Write(RequestOf(submission), grpc::WriteOptions().set_buffer_hint())) {
        return;
      }
    }
    stream->WritesDone();
  });
  wire::SubmitReply reply;
  while (stream->Read(&reply)) {
    ++*answered;
    tell(reply.job() != 0 ? absl::StatusOr<JobId>(JobId(reply.job()))
                          : absl::FailedPreconditionError(reply.error()));
  }
  writer.join();
  return stream->Finish();
}

}  // namespace

absl::Status SubmitAll(const Address& address, std::span<const SubmitJob> submissions,
                       const Tell& tell, RetryPolicy retry) {
  const SystemClock clock;
  Controllers controllers(address);
  SteadyTime give_up = clock.SteadyNow() + retry.changing;
  for (std::size_t answered = 0; true;) {
    ASSIGN_OR_RETURN(ManyStub* const stub, controllers.Leader().OpenGrpc());
    const std::size_t before = answered;
    const grpc::Status status = Stream(*stub, submissions, tell, &answered);
    if (answered == submissions.size()) {
      return absl::OkStatus();
    }
    if (answered > before) {
      give_up = clock.SteadyNow() + retry.changing;
    }
    const bool gone = status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (!gone || clock.SteadyNow() >= give_up) {
      return status.ok() ? absl::UnavailableError("the controller ended the stream; try again")
                         : Refusal(status);
    }
    std::this_thread::sleep_for(kStreamPause);
  }
}

}  // namespace muster::cli
