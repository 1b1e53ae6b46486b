#include "daemon/client/outside/page_handler.h"

#include <gmock/gmock.h>
#include <grpcpp/test/default_reactor_test_peer.h>

#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proto/convert/client_service.h"
#include "proto/convert/methods.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

class PageHandlerTest : public testing::ControllerTest {
 protected:
  // What is answered to a call of the method; its reply, when it is good, is in `reply`.
  template <ClientRequest Request>
  grpc::Status Answer(const std::function<void(const Call<Request>&)>& serve,
                      typename Request::Reply* reply) {
    grpc::CallbackServerContext context;
    const grpc::testing::DefaultReactorTestPeer peer(&context);
    grpc::ByteBuffer bytes;
    serve({{gate_, Caller{Role::kOwner, User{1000, 1000, "someone"}},
            ClientMethod(Request::kMethod), peer.reactor(), &bytes}});
    const auto until = std::chrono::steady_clock::now() + testing::kPatience;
    while (!peer.test_status_set() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (peer.test_status_set() && peer.test_status().ok()) {
      grpc::Slice slice;
      EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
      const std::string_view text(reinterpret_cast<const char*>(slice.begin()), slice.size());
      EXPECT_TRUE(ReadReply<Request>(text, reply).ok());
    }
    return peer.test_status();
  }

  const Logger quiet_ = Logger::ToStandardError(clock_);
  const Gate gate_{quiet_, "", nullptr, 0};
  LiveUsage usage_;
};

TEST_F(PageHandlerTest, ACurveIsWhatNodesReported) {
  ShowCurve asked{{JobId(1)}};
  std::vector<JobCurve> curves;
  const auto ask = [&](const Call<ShowCurve>& call) { AnswerShowCurve(usage_, call, asked); };
  const grpc::Status none = Answer<ShowCurve>(ask, &curves);
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
  asked.job.job = job;
  EXPECT_TRUE(Answer<ShowCurve>(ask, &curves).ok());
  ASSERT_EQ(curves.size(), 1U);
  double seconds = 0;
  for (const CurvePoint& point : curves[0].points) {
    seconds += point.cpus * static_cast<double>(point.span.count()) / 1000;
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
  PlannedStarts planned;
  const auto ask = [&](const Call<ShowPlan>& call) { AnswerShowPlan(*controller_, call); };
  const auto until = std::chrono::steady_clock::now() + testing::kPatience;
  while (planned.jobs.empty() && std::chrono::steady_clock::now() < until) {
    ASSERT_TRUE(Answer<ShowPlan>(ask, &planned).ok());
  }
  ASSERT_EQ(planned.jobs.size(), 1U);
  const PlannedJob& promised = planned.jobs.front();
  EXPECT_EQ(promised.name, "wide");
  EXPECT_THAT(promised.nodes, ::testing::ElementsAre("node1"));
  EXPECT_GT(promised.start, planned.time);
  EXPECT_EQ(promised.end - promised.start, std::chrono::minutes(5));
}

}  // namespace
}  // namespace muster::daemon
