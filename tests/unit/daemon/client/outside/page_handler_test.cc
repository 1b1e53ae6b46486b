#include "daemon/client/outside/page_handler.h"

#include <gmock/gmock.h>
#include <grpcpp/test/default_reactor_test_peer.h>

#include <functional>
#include <future>
#include <string>
#include <thread>

#include "proto/controller.pb.h"
#include "proto/convert/client_service.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

class PageHandlerTest : public testing::ControllerTest {
 protected:
  // What the method answers; its reply, when it is good, is in `reply`.
  template <class Reply>
  grpc::Status Answer(const char* method, const std::function<void(const AnyCall&)>& serve,
                      Reply* reply) {
    grpc::CallbackServerContext context;
    const grpc::testing::DefaultReactorTestPeer peer(&context);
    grpc::ByteBuffer bytes;
    serve(AnyCall{gate_, Caller{Role::kOwner, User{1000, 1000, "someone"}}, ClientMethod(method),
                  peer.reactor(), &bytes});
    const auto until = std::chrono::steady_clock::now() + testing::kPatience;
    while (!peer.test_status_set() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (peer.test_status_set() && peer.test_status().ok()) {
      grpc::Slice slice;
      EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
      EXPECT_TRUE(reply->ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
    }
    return peer.test_status();
  }

  const Logger quiet_ = Logger::ToStandardError(clock_);
  const Gate gate_{quiet_, "", nullptr, 0};
  LiveUsage usage_;
};

TEST_F(PageHandlerTest, ACurveIsWhatNodesReported) {
  PageHandler page(*controller_, usage_);
  wire::ShowCurveRequest request;
  request.mutable_job()->set_job(1);
  wire::ShowCurveReply reply;
  const auto ask = [&](const AnyCall& call) { page.ShowCurve(call, request.SerializeAsString()); };
  const grpc::Status none =
      Answer("ShowCurve", ask, &reply);
  EXPECT_EQ(none.error_code(), grpc::StatusCode::NOT_FOUND);
  const NodeId node = Register();
  const JobId job = Submit("0123456789abcdef0123456789abcdef");
  door_.AwaitLaunch(job);
  std::promise<void> looked;
  controller_->Look([&](const StateView& view) -> Controller::Reply {
    Usage used;
    used.user_cpu = std::chrono::seconds(5);
    usage_.Take(node, {{job, AttemptNumber(1), view.now() + std::chrono::seconds(10), used}},
                view.state());
    return [&](const absl::Status&) { looked.set_value(); };
  });
  looked.get_future().wait();
  request.mutable_job()->set_job(job.value());
  EXPECT_TRUE(Answer("ShowCurve", ask, &reply).ok());
  ASSERT_EQ(reply.curves_size(), 1);
  double seconds = 0;
  for (const wire::CurvePoint& point : reply.curves(0).points()) {
    seconds += point.cpus() * static_cast<double>(point.span()) / 1000;
  }
  EXPECT_NEAR(seconds, 5, 0.1);
}

TEST_F(PageHandlerTest, ThePlanNamesWhoIsPromisedWhichNodes) {
  Register();
  SubmitJob first;
  first.token = "0123456789abcdef0123456789abcdef";
  first.spec.name = "first";
  first.spec.user = User{1000, 1000, "someone"};
  first.spec.time_limit = std::chrono::minutes(10);
  first.program.script = "#!/bin/sh\n";
  first.program.argv = {"first"};
  door_.AwaitLaunch(Take(first).first.job);
  SubmitJob wide;
  wide.token = "1123456789abcdef0123456789abcdef";
  wide.spec.name = "wide";
  wide.spec.user = User{1000, 1000, "someone"};
  wide.spec.time_limit = std::chrono::minutes(5);
  wide.spec.request.tasks = 2;
  wide.program.script = "#!/bin/sh\n";
  wide.program.argv = {"wide"};
  ASSERT_TRUE(Take(wide).second.ok());
  PageHandler page(*controller_, usage_);
  wire::ShowPlanReply reply;
  const auto until = std::chrono::steady_clock::now() + testing::kPatience;
  while (reply.jobs_size() == 0 && std::chrono::steady_clock::now() < until) {
    reply.Clear();
    ASSERT_TRUE(
        Answer("ShowPlan", [&](const AnyCall& call) { page.ShowPlan(call); }, &reply).ok());
  }
  ASSERT_EQ(reply.jobs_size(), 1);
  EXPECT_EQ(reply.jobs(0).name(), "wide");
  EXPECT_THAT(reply.jobs(0).nodes(), ::testing::ElementsAre("node1"));
  EXPECT_GT(reply.jobs(0).start(), reply.time());
  EXPECT_EQ(reply.jobs(0).end() - reply.jobs(0).start(), 300'000);
}

}  // namespace
}  // namespace muster::daemon
