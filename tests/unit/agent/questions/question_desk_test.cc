#include "agent/questions/question_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "agent/questions/image_answer.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class QuestionDeskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = *EventLoop::Create();
    containers_.cache = directory_ / "images";
    desk_ = MakeDesk();
  }
  std::unique_ptr<QuestionDesk> MakeDesk() {
    QuestionDesk::Sources sources;
    sources.containers = containers_;
    sources.fetcher = program_;
    sources.staging = staging_;
    sources.ahead = ahead_;
    sources.network = {{.name = kStaging, .nics = {}, .dscp = 0, .rate = 7}};
    sources.may_read_as = [this](std::uint32_t uid) {
      return uid == refused_ ? absl::PermissionDeniedError("jobs of that user are not run here")
                             : absl::OkStatus();
    };
    sources.cgroup_of = [](const AttemptKey& key) -> absl::StatusOr<std::string> {
      return key.job == JobId(1) ? absl::StatusOr<std::string>("")
                                 : absl::NotFoundError("nothing of the job runs there");
    };
    sources.add_gpus = [](const AttemptKey&, wire::ProcessAnswer* answer) {
      answer->add_gpus()->set_uuid("GPU-1");
    };
    sources.send = [this](const wire::NodeQuestionReply& answer) {
      answers_.push_back(answer);
      if (answers_.size() >= wanted_) {
        loop_->Stop();
      }
    };
    return std::make_unique<QuestionDesk>(*loop_, clock_, sources);
  }
  wire::NodeQuestion Output(std::uint64_t number, std::uint32_t uid) const {
    wire::NodeQuestion question;
    question.set_number(number);
    question.mutable_output()->mutable_user()->set_uid(uid);
    question.mutable_output()->set_path(directory_ / "out");
    return question;
  }
  void RunUntil(std::size_t answers) {
    wanted_ = answers;
    if (answers_.size() < answers) {
      ASSERT_TRUE(loop_->Run().ok());
    }
    ASSERT_EQ(answers_.size(), answers);
  }

  const SystemClock clock_;
  const TempDirectory directory_;
  ContainerSettings containers_;
  StagingSettings staging_;
  CopiesAhead ahead_ = CopiesAhead::kPaths;
  std::string program_;
  std::uint32_t refused_ = 12345;
  std::unique_ptr<EventLoop> loop_;
  std::vector<wire::NodeQuestionReply> answers_;
  std::size_t wanted_ = 1;
  std::unique_ptr<QuestionDesk> desk_;
};

TEST_F(QuestionDeskTest, EveryQuestionIsAnsweredOnceHoweverManyThereAre) {
  std::ofstream(directory_ / "out") << "text";
  constexpr std::size_t kMany = QuestionDesk::kAtOnceMax * 3;
  for (std::size_t i = 0; i < kMany; ++i) {
    desk_->Take(Output(i, geteuid()));
  }
  RunUntil(kMany);
  std::vector<bool> seen(kMany);
  for (const wire::NodeQuestionReply& answer : answers_) {
    ASSERT_LT(answer.number(), kMany);
    EXPECT_FALSE(seen[answer.number()]);
    seen[answer.number()] = true;
    EXPECT_EQ(answer.code(), 0) << answer.text();
    EXPECT_EQ(answer.output().data(), "text");
  }
}

TEST_F(QuestionDeskTest, NothingIsReadAsAUserWhoseJobsAreNotRunHere) {
  std::ofstream(directory_ / "out") << "text";
  desk_->Take(Output(1, refused_));
  RunUntil(1);
  EXPECT_EQ(answers_[0].code(), static_cast<int>(absl::StatusCode::kPermissionDenied));
  EXPECT_FALSE(answers_[0].has_output());
}

TEST_F(QuestionDeskTest, WhatCannotBeAnsweredSaysWhy) {
  desk_->Take(Output(1, geteuid()));
  RunUntil(1);
  EXPECT_THAT(answers_[0].text(), HasSubstr("/out: is not there"));
  wire::NodeQuestion unknown;
  unknown.set_number(2);
  desk_->Take(unknown);
  RunUntil(2);
  EXPECT_EQ(answers_[1].code(), static_cast<int>(absl::StatusCode::kUnimplemented));
  wire::NodeQuestion gone;
  gone.set_number(3);
  gone.mutable_processes()->set_job(2);
  desk_->Take(gone);
  RunUntil(3);
  EXPECT_THAT(answers_[2].text(), HasSubstr("nothing of the job runs there"));
}

TEST_F(QuestionDeskTest, AUserIsToldOfTheirImagesAndTakesSomeAway) {
  const std::string mine = (directory_ / "images") + "/" + std::to_string(geteuid());
  const ImageCache cache = *ImageCache::Open(mine, std::uint64_t{1} << 20);
  ASSERT_TRUE(cache
                  .FindOrMake("sha256-ab",
                              [](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                                std::filesystem::create_directory(draft + "/rootfs");
                                ImageFacts facts;
                                facts.digest = "sha256:ab";
                                facts.name = "alpine:3.20";
                                return facts;
                              })
                  .ok());
  wire::NodeQuestion question;
  question.set_number(5);
  question.mutable_images()->mutable_user()->set_uid(geteuid());
  desk_->Take(question);
  RunUntil(1);
  ASSERT_EQ(answers_[0].code(), 0) << answers_[0].text();
  ASSERT_EQ(answers_[0].images().images_size(), 1);
  EXPECT_EQ(answers_[0].images().images(0).name(), "alpine:3.20");
  EXPECT_FALSE(answers_[0].images().images(0).in_use());
  question.mutable_images()->mutable_prune()->add_images("alpine:3.20");
  desk_->Take(question);
  RunUntil(2);
  EXPECT_EQ(answers_[1].images().images_size(), 1);
  question.mutable_images()->clear_prune();
  desk_->Take(question);
  RunUntil(3);
  EXPECT_EQ(answers_[2].images().images_size(), 0);
  question.mutable_images()->mutable_user()->set_uid(refused_);
  desk_->Take(question);
  RunUntil(4);
  EXPECT_EQ(answers_[3].code(), static_cast<int>(absl::StatusCode::kPermissionDenied));
}

// In place of muster-container: prints what it is told, on one line.
class ImageProgramTest : public QuestionDeskTest {
 protected:
  void Begin(const std::string& script) {
    containers_.runtime = "/usr/bin/crun";
    containers_.share = true;
    program_ = directory_ / "program";
    std::ofstream(program_) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    desk_ = MakeDesk();
    question_.set_number(1);
    question_.mutable_images()->mutable_user()->set_uid(geteuid());
  }
  wire::ImageWanted& Give() {
    wire::ImageWanted& wanted = *question_.mutable_images()->mutable_give()->mutable_wanted();
    wanted.set_digest("sha256:aa");
    wanted.set_token("secret");
    wanted.add_addresses("10.0.0.1:7");
    return wanted;
  }
  wire::NodeQuestion question_;
};

TEST_F(ImageProgramTest, AnImageIsGivenByAProcessOfItsUserWhoseTokenNobodyReads) {
  Begin("echo \"$*\" \"$MUSTER_IMAGE_TOKEN\" > " + (directory_ / "said"));
  Give();
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_EQ(answers_[0].code(), 0) << answers_[0].text();
  std::ifstream said(directory_ / "said");
  std::string line;
  std::getline(said, line);
  EXPECT_EQ(line, "give image sha256:aa " + (directory_ / "images") + "/" +
                      std::to_string(geteuid()) + " 10.0.0.1:7 secret");
}

TEST_F(ImageProgramTest, AnImageThatIsWantedNowhereIsNotGiven) {
  Begin("exit 0");
  Give().clear_addresses();
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_THAT(answers_[0].text(), HasSubstr("at no address"));
}

TEST_F(ImageProgramTest, WhereTheSiteDoesNotShareNoneIsGivenButWhoWantsOneIsAnswered) {
  Begin("exit 0");
  containers_.share = false;
  desk_ = MakeDesk();
  Give();
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_THAT(answers_[0].text(), HasSubstr("no images are given there"));
  question_.mutable_images()->mutable_give()->set_verdict(wire::IMAGE_VERDICT_FETCH);
  desk_->Take(question_);
  RunUntil(2);
  EXPECT_EQ(answers_[1].code(), 0) << answers_[1].text();
}

TEST_F(ImageProgramTest, AFetchAheadSaysWhereItListensForAnotherNodes) {
  wire::ImageWanted wanted;
  wanted.set_digest("sha256:aa");
  std::ofstream(directory_ / "wanted") << wanted.SerializeAsString();
  Begin("test \"$6\" = shared && cat " + (directory_ / "wanted"));
  question_.mutable_images()->mutable_fetch()->set_image("app:v1");
  question_.mutable_images()->mutable_fetch()->set_shared(true);
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_EQ(answers_[0].code(), 0) << answers_[0].text();
  EXPECT_EQ(answers_[0].images().wanted().digest(), "sha256:aa");
}

TEST_F(ImageProgramTest, AFetchThatHasNoTurnIsTriedAgain) {
  Begin(std::string("echo \"muster-container: ") + kFetchBusy + "\" >&2; exit 1");
  question_.mutable_images()->mutable_fetch()->set_image("app:v1");
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_EQ(answers_[0].code(), static_cast<int>(absl::StatusCode::kUnavailable));
}

TEST_F(ImageProgramTest, CopiesOfDataAreBegunWithWhatTheirMakerMayKnow) {
  staging_ = {.cache = directory_ / "images", .size = 5, .program = "/usr/bin/muster"};
  const auto said = [this](CopiesAhead ahead) {
    ahead_ = ahead;
    Begin("echo \"$*\" $RCLONE_CONFIG_A_TYPE $HOME $MUSTER_STAGING_RATE $MUSTER_JOB_ID > " +
          (directory_ / "said"));
    question_.Clear();
    question_.set_number(1);
    question_.mutable_images()->mutable_user()->set_uid(geteuid());
    wire::DataFetch& bring = *question_.mutable_images()->mutable_bring();
    bring.add_sources("/data/a");
    for (const char* each : {"RCLONE_CONFIG_A_TYPE=1", "HOME=/h", "MUSTER_JOB_ID=3"}) {
      bring.add_environment(each);
    }
    desk_->Take(question_);
    RunUntil(answers_.size() + 1);
    EXPECT_EQ(answers_.back().code(), 0) << answers_.back().text();
    std::ifstream file(directory_ / "said");
    std::string line;
    std::getline(file, line);
    return line;
  };
  const std::string words = (directory_ / "images") + " 5 /usr/bin/muster /data/a";
  EXPECT_EQ(said(CopiesAhead::kPaths), "bring-ahead paths " + words + " /h 7");
  EXPECT_EQ(said(CopiesAhead::kAll), "bring-ahead all " + words + " 1 /h 7");
}

TEST_F(ImageProgramTest, ANodeThatMakesNoCopiesSaysSo) {
  Begin("exit 0");
  question_.mutable_images()->mutable_bring()->add_sources("/data/a");
  desk_->Take(question_);
  RunUntil(1);
  EXPECT_THAT(answers_[0].text(), HasSubstr("no copies of data are made there"));
  staging_ = {.cache = directory_ / "images", .size = 5, .program = "/usr/bin/muster"};
  ahead_ = CopiesAhead::kNone;
  desk_ = MakeDesk();
  desk_->Take(question_);
  RunUntil(2);
  EXPECT_THAT(answers_[1].text(), HasSubstr("when jobs start ([staging] ahead)"));
}

TEST_F(QuestionDeskTest, WhatProcessesDoComesWithTheGpus) {
  wire::NodeQuestion question;
  question.set_number(4);
  question.mutable_processes()->set_job(1);
  question.mutable_processes()->set_attempt(1);
  question.mutable_processes()->mutable_user()->set_uid(geteuid());
  desk_->Take(question);
  RunUntil(1);
  EXPECT_EQ(answers_[0].code(), 0) << answers_[0].text();
  EXPECT_GT(answers_[0].processes().time(), 0);
  ASSERT_EQ(answers_[0].processes().gpus_size(), 1);
}

}  // namespace
}  // namespace muster::agent
