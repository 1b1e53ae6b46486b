#include "cli/controller/streams/submit_stream.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/controller/address.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/runtime/mutex.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

// Numbers the jobs by their tokens, "0" being job 100; refuses the name "bad".
class ManyController final : public wire::Controller::Service {
 public:
  grpc::Status Ping(grpc::ServerContext*, const wire::PingRequest*, wire::PingReply*) override {
    return grpc::Status::OK;
  }
  grpc::Status SubmitMany(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<wire::SubmitReply, wire::SubmitRequest>* stream) override {
    wire::SubmitRequest request;
    while (stream->Read(&request)) {
      {
        const MutexLock lock(&mutex_);
        tokens_.push_back(request.token());
        refuse_misfit_.push_back(request.refuse_misfit());
        if (tokens_.size() == end_after_) {
          return {grpc::StatusCode::UNAVAILABLE, "restarting"};
        }
      }
      wire::SubmitReply reply;
      if (request.spec().name() == "bad") {
        reply.set_error("bad name");
      } else {
        reply.set_job(100 + std::stoull(request.token()));
      }
      stream->Write(reply);
    }
    return grpc::Status::OK;
  }

  // It goes away instead of the answer to that many submissions; 0: never.
  void EndAfter(std::size_t submissions) {
    const MutexLock lock(&mutex_);
    end_after_ = submissions;
  }
  std::vector<std::string> tokens() {
    const MutexLock lock(&mutex_);
    return tokens_;
  }
  std::vector<bool> refuse_misfit() {
    const MutexLock lock(&mutex_);
    return refuse_misfit_;
  }

 private:
  Mutex mutex_;
  std::size_t end_after_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> tokens_ ABSL_GUARDED_BY(mutex_);
  std::vector<bool> refuse_misfit_ ABSL_GUARDED_BY(mutex_);
};

class SubmitStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.text, grpc::InsecureServerCredentials());
    builder.RegisterService(&controller_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override { server_->Shutdown(std::chrono::system_clock::now()); }

  // Submits jobs of these names; what was answered stands in answers_.
  absl::Status Submit(const std::vector<std::string>& names) {
    std::vector<SubmitJob> submissions(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      submissions[i].token = std::to_string(i);
      submissions[i].spec.name = names[i];
    }
    return Submit(submissions);
  }
  absl::Status Submit(const std::vector<SubmitJob>& submissions) {
    return SubmitAll(address_, submissions,
                     [this](const absl::StatusOr<JobId>& answer) {
                       answers_.push_back(answer.ok() ? std::to_string(answer->value())
                                                      : std::string(answer.status().message()));
                     },
                     {.changing = std::chrono::milliseconds(10'000),
                      .reading = std::chrono::milliseconds(10'000)});
  }

  const TempDirectory directory_;
  const Address address_ = ParseAddress("unix:" + directory_ / "c.sock").value();
  ManyController controller_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> answers_;
};

TEST_F(SubmitStreamTest, EachSubmissionHasAnAnswerOfItsOwnInTheirOrder) {
  EXPECT_TRUE(Submit(std::vector<std::string>{"a", "bad", "c"}).ok());
  EXPECT_THAT(answers_, ElementsAre("100", "bad name", "102"));
  EXPECT_THAT(controller_.tokens(), ElementsAre("0", "1", "2"));
}

TEST_F(SubmitStreamTest, WhatWasNotAnsweredIsSentAgainWithItsToken) {
  controller_.EndAfter(2);
  const absl::Status status = Submit(std::vector<std::string>{"a", "b", "c"});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(answers_, ElementsAre("100", "101", "102"));
  const std::vector<std::string> tokens = controller_.tokens();
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), "1"), 2);
  EXPECT_EQ(tokens.back(), "2");
}

TEST_F(SubmitStreamTest, ASubmissionCarriesAllThatASingleOneDoes) {
  std::vector<SubmitJob> submissions(2);
  submissions[0].token = "0";
  submissions[1] = {.token = "1", .spec = {}, .program = {}, .refuse_misfit = true};
  EXPECT_TRUE(Submit(submissions).ok());
  EXPECT_EQ(controller_.refuse_misfit(), (std::vector<bool>{false, true}));
}

TEST_F(SubmitStreamTest, NothingToSubmitIsDoneAtOnce) {
  EXPECT_TRUE(Submit(std::vector<SubmitJob>()).ok());
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace muster::cli
