// An order that breaks the stream of its agent each time (attack F1), over the wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "proto/convert/job.h"
#include "proto/convert/through_bytes.h"
#include "scheduler/model/job/job_spec.h"
#include "tests/unit/daemon/controller/secured_rig.h"

namespace muster::daemon::testing {
namespace {

using ::testing::HasSubstr;

class UndeliveredTest : public SecuredTest {
 protected:
  std::uint64_t Submit(const std::string& name) const {
    wire::SubmitRequest request;
    JobSpec spec;
    spec.name = name;
    spec.request.tasks = 2;
    convert::WriteThroughBytes(spec, request.mutable_spec());
    request.mutable_program()->set_script("#!/bin/sh\n");
    request.mutable_program()->set_work_dir("/");
    request.set_token(name);
    const auto stub = wire::Controller::NewStub(Channel(Self()));
    grpc::ClientContext context;
    wire::SubmitReply reply;
    const grpc::Status status = stub->Submit(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.job();
  }
  // The first launch or end that the stream brings.
  static wire::ControllerMessage NextOrder(Stream& stream) {
    wire::ControllerMessage message;
    while (stream.stream->Read(&message)) {
      wire::OrderBody body;
      if (message.has_signed_() && body.ParseFromString(message.signed_().body()) &&
          (body.order().has_launch() || body.order().has_terminate())) {
        return body.order();
      }
    }
    return wire::ControllerMessage();
  }
  JobView View(std::uint64_t id) const {
    for (const JobView& job : Jobs()) {
      if (job.id == JobId(id)) {
        return job;
      }
    }
    return JobView();
  }
};

TEST_F(UndeliveredTest, AnOrderThatBreaksItsStreamIsGivenUpAndOthersGoOn) {
  const std::uint64_t poison = Submit("poison");
  const std::uint64_t other = Submit("other");
  for (unsigned i = 0; i < DeliveryWatch::kBreaksMax; ++i) {
    Stream stream(Channel(Agent("n1")));
    ASSERT_TRUE(stream.Register("n1", clock_.Now()).has_welcome()) << i;
    ASSERT_EQ(NextOrder(stream).launch().job(), poison) << i;
  }  // and each time the stream breaks
  Stream stream(Channel(Agent("n1")));
  ASSERT_TRUE(stream.Register("n1", clock_.Now()).has_welcome());
  const wire::ControllerMessage end = NextOrder(stream);
  ASSERT_TRUE(end.has_terminate()) << end.ShortDebugString();
  EXPECT_EQ(end.terminate().job(), poison);
  EXPECT_THAT(Logged(), HasSubstr("its order broke the link to the node 3 times"));

  RunEnded ended;
  ended.cause = EndCause::kNeverStarted;
  wire::AgentMessage message;
  ToWire(Report{JobId(poison), AttemptNumber(1), 1, ended}, message.mutable_report());
  ASSERT_TRUE(stream.stream->Write(message));
  // The order to end goes out for the failure, and again for the agent that is back: which is first
  // is open.
  wire::ControllerMessage next = NextOrder(stream);
  if (next.has_terminate()) {
    EXPECT_EQ(next.terminate().job(), poison);
    next = NextOrder(stream);
  }
  EXPECT_EQ(next.launch().job(), other) << next.ShortDebugString();
  EXPECT_EQ(View(poison).state, "PENDING");
  EXPECT_EQ(View(poison).reason.kind, "JobLaunchFailure");
}

TEST_F(UndeliveredTest, AnAgentThatHasTheAttemptIsNotBlamed) {
  const std::uint64_t job = Submit("job");
  for (unsigned i = 0; i <= DeliveryWatch::kBreaksMax; ++i) {
    Stream stream(Channel(Agent("n1")));
    KnownAttempt known;
    known.job = JobId(job);
    known.attempt = AttemptNumber(1);
    ASSERT_TRUE(
        stream
            .Register("n1", clock_.Now(), i == 0 ? std::vector<KnownAttempt>() : std::vector{known})
            .has_welcome());
    EXPECT_EQ(NextOrder(stream).launch().job(), job) << i;
  }
  EXPECT_EQ(View(job).state, "CONFIGURING");
}

}  // namespace
}  // namespace muster::daemon::testing
