#include "daemon/gateway/stream/job_watches.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/controller.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kPatience{20};

// Job 7 changes twice and ends; job 8 does not change; there is no other.
class Jobs final : public wire::Controller::Service {
 public:
  grpc::Status WatchJob(grpc::ServerContext* context, const wire::WatchJobRequest* request,
                        grpc::ServerWriter<wire::WatchJobReply>* writer) override {
    if (request->job() != 7 && request->job() != 8) {
      return {grpc::StatusCode::NOT_FOUND, "no such job"};
    }
    const Counted counted(watched);
    wire::WatchJobReply reply;
    for (const char* const state : {"PENDING", "RUNNING", "COMPLETED"}) {
      reply.mutable_job()->set_name(state);
      writer->Write(reply);
      while (request->job() == 8 && !context->IsCancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return grpc::Status::OK;
  }

  std::atomic<int> watched = 0;

 private:
  struct Counted {
    explicit Counted(std::atomic<int>& number) : count(number) { ++count; }
    ~Counted() { --count; }
    std::atomic<int>& count;
  };
};

class Reader final : public http::ReplyPath {
 public:
  void Send(http::Response response) override { Note(absl::StrCat(response.status, ";"), true); }
  void BeginStream(http::Response response) override {
    Note(absl::StrCat(response.type, ";"), false);
  }
  void Write(Piece piece, std::function<void(bool alive)> done) override {
    Note(*piece, false);
    std::thread([done = std::move(done), alive = alive_.load()] { done(alive); }).detach();
  }
  void End() override { Note("ended", true); }

  void Leave() { alive_ = false; }
  std::string Text() {
    const MutexLock lock(&mutex_);
    return text_;
  }
  // All that came, once it is over or has that in it.
  std::string Await(const std::string& word = "") {
    const MutexLock lock(&mutex_);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!over_ && (word.empty() || text_.find(word) == std::string::npos) &&
           std::chrono::steady_clock::now() < until) {
      changed_.WaitFor(&mutex_, kPatience);
    }
    return text_;
  }

 private:
  void Note(const std::string& text, bool over) {
    const MutexLock lock(&mutex_);
    text_ += text;
    over_ = over_ || over;
    changed_.NotifyAll();
  }
  Mutex mutex_;
  CondVar changed_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> alive_ = true;
};

class JobWatchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string address = "unix:" + (directory_ / "socket");
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&jobs_);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::CQ_TIMEOUT_MSEC, 100);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    link_ = ControllerLink::Open(address, "").value();
    watches_ = std::make_unique<JobWatches>(
        *link_,
        [](const grpc::Status& status) {
          return http::Response{
              status.error_code() == grpc::StatusCode::NOT_FOUND ? 404U : 429U, "", "", {}};
        },
        [](const wire::WatchJobReply& view) { return view.job().name(); });
  }
  void TearDown() override {
    link_->Close();
    server_->Shutdown(std::chrono::system_clock::now());
  }
  std::shared_ptr<Reader> Watch(std::uint64_t job) {
    auto reader = std::make_shared<Reader>();
    watches_->Serve(job, "token", reader);
    return reader;
  }

  const TempDirectory directory_;
  Jobs jobs_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControllerLink> link_;
  std::unique_ptr<JobWatches> watches_;
};

TEST_F(JobWatchesTest, EachStateIsToldAndThenThatItIsOver) {
  EXPECT_EQ(Watch(7)->Await(),
            "text/event-stream; charset=utf-8;event: job\ndata: PENDING\n\n"
            "event: job\ndata: RUNNING\n\nevent: job\ndata: COMPLETED\n\n"
            "event: end\ndata: {}\n\nended");
}

TEST_F(JobWatchesTest, WhatIsNoJobIsRefusedBeforeAStreamBegins) {
  EXPECT_EQ(Watch(9)->Await(), "404;");
}

TEST_F(JobWatchesTest, WhoHearsNothingIsSentSomethingAndFoundWhenHeHasGone) {
  const std::shared_ptr<Reader> reader = Watch(8);
  EXPECT_NE(reader->Await("PENDING").find("PENDING"), std::string::npos);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const auto beat = [&](const std::function<bool()>& done) {
    while (!done() && std::chrono::steady_clock::now() < until) {
      watches_->Beat();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return done();
  };
  EXPECT_TRUE(beat([&] { return reader->Text().find(":\n\n") != std::string::npos; }));
  reader->Leave();
  EXPECT_TRUE(beat([&] { return jobs_.watched == 0; }));
}

TEST_F(JobWatchesTest, MoreThanTheMostAreRefused) {
  for (std::size_t i = 0; i < JobWatches::kWatchesMax; ++i) {
    (void)Watch(8);
  }
  EXPECT_EQ(Watch(8)->Await(), "429;");
}

TEST(JobWatches, ThePathNamesAJobByItsNumber) {
  EXPECT_EQ(JobWatches::JobOf("/v1/jobs/7/watch"), 7U);
  for (const char* const path :
       {"/v1/jobs/watch", "/v1/jobs//watch", "/v1/jobs/7", "/v1/jobs/x/watch", "/v1/jobs/-7/watch",
        "/v1/jobs/ 7/watch", "/v1/jobs/7/watch/", "/v1/jobs/99999999999999999999/watch"}) {
    EXPECT_EQ(JobWatches::JobOf(path), std::nullopt) << path;
  }
}

}  // namespace
}  // namespace muster::daemon
