#include "cli/controller/connection.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "cli/controller/controller_status.h"
#include "cli/controller/job_watch.h"
#include "cli/controller/reach.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/origin.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A controller small enough to read at a glance: one effect for each token, jobs that end at once.
class SmallController final : public wire::Controller::Service {
 public:
  grpc::Status Submit(grpc::ServerContext*, const wire::SubmitRequest* request,
                      wire::SubmitReply* reply) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (request->spec().name() == "bad") {
      return {grpc::StatusCode::INVALID_ARGUMENT, "bad name: use another\nsecond line"};
    }
    tokens_.insert(request->token());
    ++calls_;
    if (fail_first_ && calls_ == 1) {
      return {grpc::StatusCode::UNAVAILABLE, "restarting"};
    }
    if (calls_ <= busy_for_) {
      return {grpc::StatusCode::UNAVAILABLE, "ada asks too much", kFromController};
    }
    reply->set_job(tokens_.size());
    return grpc::Status::OK;
  }
  grpc::Status Cancel(grpc::ServerContext*, const wire::CancelRequest* request,
                      wire::CancelReply* reply) override {
    for (const wire::JobSelector& job : request->jobs()) {
      if (job.job() == 9) {
        reply->add_errors("job 9: not found");
      }
    }
    reply->set_cancelled(static_cast<std::uint32_t>(request->jobs_size() - reply->errors_size()));
    return grpc::Status::OK;
  }
  grpc::Status ListJobs(grpc::ServerContext*, const wire::ListJobsRequest*,
                        wire::ListJobsReply* reply) override {
    reply->add_jobs()->set_name("first");
    reply->add_jobs()->set_name("second");
    return grpc::Status::OK;
  }
  grpc::Status CreateToken(grpc::ServerContext*, const wire::CreateTokenRequest* request,
                           wire::CreateTokenReply* reply) override {
    if (request->lifetime() == 5) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "too short\nand more"};
    }
    reply->set_token("a.b.c");
    reply->mutable_view()->set_id("x");
    reply->mutable_view()->set_expires(request->lifetime());
    reply->mutable_view()->set_read_only(request->read_only());
    return grpc::Status::OK;
  }
  grpc::Status RevokeToken(grpc::ServerContext*, const wire::RevokeTokenRequest* request,
                           wire::RevokeTokenReply*) override {
    return request->id() == "x" ? grpc::Status::OK
                                : grpc::Status(grpc::StatusCode::NOT_FOUND, "no token");
  }
  grpc::Status WatchJob(grpc::ServerContext* context, const wire::WatchJobRequest* request,
                        grpc::ServerWriter<wire::WatchJobReply>* writer) override {
    wire::WatchJobReply reply;
    reply.mutable_job()->set_id(request->job());
    reply.mutable_job()->set_state("RUNNING");
    writer->Write(reply);
    if (request->job() == 404) {  // it never ends
      while (!context->IsCancelled()) {
        std::this_thread::sleep_for(milliseconds(5));
      }
      return grpc::Status::CANCELLED;
    }
    if (watches_++ == 0) {
      return {grpc::StatusCode::UNAVAILABLE, "restarting"};
    }
    reply.mutable_job()->set_state("FAILED");
    reply.mutable_job()->set_exit_code(7);
    writer->Write(reply);
    return grpc::Status::OK;
  }

  std::atomic<bool> fail_first_ = false;
  std::atomic<int> busy_for_ = 0;  // that many calls are refused by the controller itself
  std::size_t tokens() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tokens_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> tokens_;
  int calls_ = 0;
  std::atomic<int> watches_ = 0;
};

class ConnectionTest : public ::testing::Test {
 protected:
  void Serve() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.text, grpc::InsecureServerCredentials());
    builder.RegisterService(&controller_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  std::unique_ptr<Connection> Open(milliseconds patience = milliseconds(5'000)) {
    return Connection::Open(address_, {.changing = patience, .reading = patience}).value();
  }
  void TearDown() override {
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now());
    }
  }

  const TempDirectory directory_;
  const Address address_ = ParseAddress("unix:" + directory_ / "c.sock").value();
  SmallController controller_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(ConnectionTest, OfSeveralControllersEachIsAskedAlone) {
  const std::vector<Address> all = AllOf(ParseAddress("a:1,b:2").value());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].text, "a:1");
  EXPECT_EQ(all[1].text, "b:2");
  EXPECT_THAT(std::string(Nobody(ParseAddress("a:1,b:2").value()).message()),
              HasSubstr("no controller at a:1,b:2: "));
}

TEST_F(ConnectionTest, NoSocketIsToldAtOnce) {
  const auto begun = std::chrono::steady_clock::now();
  const absl::Status status = Open()->Call(SubmitJob{"t", {}, {}}).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(std::string(status.message()),
            "muster: no controller at " + address_.text + ": start one with \"muster up\"");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(2'000));
}

TEST_F(ConnectionTest, WhoWaitsToWatchAgainIsToldAtOnceThatItIsOver) {
  const std::unique_ptr<Connection> connection = Open();
  EXPECT_FALSE(connection->StopsWatchingWithin(milliseconds(1)));
  std::thread stop([&connection] { connection->StopWatching(); });
  EXPECT_TRUE(connection->StopsWatchingWithin(std::chrono::hours(1)));
  stop.join();
  EXPECT_TRUE(connection->StopsWatchingWithin(milliseconds(0)));
}

TEST_F(ConnectionTest, ADeadSocketIsRetriedUntilPatienceEnds) {
  // What a killed controller leaves: a socket that nobody accepts on.
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::strcpy(name.sun_path, address_.path.c_str());
  {
    const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  }
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(absl::IsUnavailable(Open(milliseconds(300))->Call(SubmitJob{"t", {}, {}}).status()));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(300));

  std::thread restart([this] {
    std::this_thread::sleep_for(milliseconds(300));
    unlink(address_.path.c_str());
    Serve();
  });
  EXPECT_EQ(Open()->Call(SubmitJob{"t", {}, {}})->job, JobId(1)) << "it outwaits a restart";
  restart.join();
}

TEST_F(ConnectionTest, ARetryKeepsItsToken) {
  controller_.fail_first_ = true;
  Serve();
  EXPECT_EQ(Open()->Call(SubmitJob{"t", {}, {}})->job, JobId(1));
  EXPECT_EQ(controller_.tokens(), 1U);
}

TEST_F(ConnectionTest, AControllerThatIsBusyIsAskedAgain) {
  controller_.busy_for_ = 2;
  Serve();
  EXPECT_EQ(Open()->Call(SubmitJob{"t", {}, {}})->job, JobId(1));
}

TEST_F(ConnectionTest, AControllerThatStaysBusyIsQuotedAndNotCalledAbsent) {
  controller_.busy_for_ = 1'000'000;
  Serve();
  const absl::Status status = Open(milliseconds(300))->Call(SubmitJob{"t", {}, {}}).status();
  EXPECT_EQ(std::string(status.message()), "ada asks too much");
}

TEST_F(ConnectionTest, ARefusalIsOneLineAndNotBadUsage) {
  Serve();
  JobSpec spec;
  spec.name = "bad";
  const absl::Status status = Open()->Call(SubmitJob{"t", spec, {}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(std::string(status.message()), "bad name: use another");
}

TEST_F(ConnectionTest, RepliesAreModelValues) {
  Serve();
  const std::unique_ptr<Connection> connection = Open();
  const std::vector<JobView> jobs = connection->Call(ListJobs{}).value();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[1].name, "second");
  const ChangeOutcome outcome =
      connection->Call(CancelJobs{{{JobId(8), {}}, {JobId(9), {1}}}, false}).value();
  EXPECT_EQ(outcome.changed, 1U);
  EXPECT_THAT(outcome.errors, ElementsAre("job 9: not found"));
}

TEST_F(ConnectionTest, WaitingForTheEndOutlivesABrokenStream) {
  Serve();
  const JobView view = WaitForEnd(*Open(), JobId(3)).value();
  EXPECT_EQ(view.state, "FAILED");
  EXPECT_EQ(ExitCodeOf(view), 7);
}

TEST_F(ConnectionTest, AWatchCanBeStopped) {
  Serve();
  const std::unique_ptr<Connection> connection = Open();
  const std::unique_ptr<EventLoop> loop = EventLoop::Create().value();
  std::string state;
  {
    const JobWatch watch(
        *connection, JobId(404), *loop,
        [&](const JobNews& news) {
          state = news.job.state;
          loop->Stop();
        },
        [&](const absl::Status&) { loop->Stop(); });
    ASSERT_TRUE(loop->Run().ok());
  }
  EXPECT_EQ(state, "RUNNING");
}

TEST_F(ConnectionTest, NothingIsSaidOverTcpInTheClear) {
  for (const char* text : {"127.0.0.1:7700", "localhost:7700", "[::1]:7700", "node1:7700"}) {
    const absl::Status status = Connection::Open(ParseAddress(text).value()).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << text << status;
  }
}

TEST_F(ConnectionTest, ALongSocketPathIsExplained) {
  const Address address = ParseAddress("unix:/" + std::string(200, 'x')).value();
  EXPECT_THAT(std::string(Connection::Open(address).status().message()),
              HasSubstr("at most 107 bytes"));
}

TEST(ExitCodes, FollowTheJob) {
  JobView view;
  view.state = "COMPLETED";
  EXPECT_EQ(ExitCodeOf(view), 0);
  view.state = "CANCELLED";
  EXPECT_EQ(ExitCodeOf(view), 1);
  view.exit_signal = 15;
  EXPECT_EQ(ExitCodeOf(view), 143);
}

TEST_F(ConnectionTest, ATokenComesWithWhatItMay) {
  Serve();
  const auto connection = Open();
  const NewToken made = connection->Call(CreateToken{std::chrono::hours(1), true}).value();
  EXPECT_EQ(made.token, "a.b.c");
  EXPECT_EQ(made.view.id, "x");
  EXPECT_EQ(made.view.expires.time_since_epoch(), std::chrono::hours(1));
  EXPECT_TRUE(made.view.read_only);
  EXPECT_TRUE(connection->Call(RevokeToken{"x"}).ok());
}

TEST_F(ConnectionTest, ARefusalIsOneLineAndNoBadUsage) {
  Serve();
  const auto connection = Open();
  const absl::Status refused = connection->Call(CreateToken{Duration(5), false}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_EQ(refused.message(), "too short");
  EXPECT_TRUE(absl::IsNotFound(connection->Call(RevokeToken{"y"})));
}

TEST_F(ConnectionTest, AMethodThatTheControllerDoesNotHaveIsSaidInItsWords) {
  Serve();
  EXPECT_EQ(Open()->Call(Ping{}).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace muster::cli
