#include "checkpoint/store/admission.h"

#include <gmock/gmock.h>

#include "checkpoint/session/session.h"
#include "checkpoint/store/arrivals.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::HasSubstr;

// A program of the site that writes down what it is asked, and answers what the test says.
class AdmissionTest : public StoreFiles {
 protected:
  void Answer(const std::string& answer) {
    Spill(Program(), "#!/bin/sh\necho \"$@\" >>" + Asked().string() + "\n" + answer + "\n");
    fs::permissions(Program(), fs::perms::owner_all);
  }
  fs::path Program() const { return directory_ / "program"; }
  fs::path Asked() const { return directory_ / "asked"; }
  std::unique_ptr<Session> Open() {
    fs::create_directories(directory_ / "kept");
    SessionOptions options{.directory = (directory_ / "kept").string(), .job = "job7"};
    options.admission = Program().string();
    auto session = std::move(Session::Open(options).value);
    EXPECT_FALSE(session->Protect("step", &step_, sizeof step_).failed());
    return session;
  }
  std::size_t Kept() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(directory_ / "kept")) {
      count += entry.path().filename().string().rfind("gen-", 0) == 0 ? 1 : 0;
    }
    return count;
  }
  int step_ = 1;
};

TEST_F(AdmissionTest, WhatIsAdmittedIsSavedAndTheProgramLearnsWhatStaysBesideIt) {
  Answer("echo yes");
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(session->Save().failed());
  ASSERT_FALSE(session->Save().failed());
  ASSERT_FALSE(session->Save().failed());
  EXPECT_EQ(Kept(), 2U);
  const std::string asked = Slurp(Asked());
  EXPECT_THAT(asked, HasSubstr("checkpoint admit --bytes="));
  EXPECT_THAT(asked, HasSubstr("--kept=0,0 -- " + (directory_ / "kept").string()));
  EXPECT_THAT(asked, HasSubstr(",1 -- "));
  EXPECT_THAT(asked, Not(HasSubstr(",2 -- ")));  // the oldest goes with the third
}

TEST_F(AdmissionTest, WhatIsRefusedLeavesTheOneBeforeAndSaysWhy) {
  Answer("echo yes");
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(session->Save().failed());
  Answer("echo 'no over quota: 1 more'");
  step_ = 2;
  const Error error = session->Save();
  EXPECT_EQ(error.fault, Fault::kOverQuota);
  EXPECT_EQ(error.text, "gen-0000000002: over quota: 1 more");
  EXPECT_EQ(Kept(), 1U);
  step_ = 3;
  ASSERT_FALSE(session->RestoreLatest().failed());
  EXPECT_EQ(step_, 1);
}

TEST_F(AdmissionTest, OneThatFitsAloneReplacesTheOlderOnes) {
  Answer("echo yes");
  const std::unique_ptr<Session> session = Open();
  ASSERT_FALSE(session->Save().failed());
  Answer("echo alone");
  step_ = 2;
  ASSERT_FALSE(session->Save().failed());
  EXPECT_EQ(Kept(), 1U);
  step_ = 3;
  ASSERT_FALSE(session->RestoreLatest().failed());
  EXPECT_EQ(step_, 2);
}

TEST_F(AdmissionTest, AProgramThatFailsRefusesNothing) {
  Answer("exit 1");
  EXPECT_FALSE(Open()->Save().failed());
  fs::remove(Program());
  EXPECT_FALSE(Open()->Save().failed());
  EXPECT_EQ(Kept(), 2U);
}

TEST_F(AdmissionTest, AGenerationThatArrivesIsRefusedWithItsLastShardAndTakesNoRoom) {
  fs::create_directories(directory_ / "from");
  fs::create_directories(directory_ / "kept");
  Store from = std::move(Store::Open(Disk::Real(), (directory_ / "from").string()).value);
  Store to = std::move(Store::Open(Disk::Real(), (directory_ / "kept").string()).value);
  ASSERT_FALSE(WriteGeneration(&from, "new").failed());
  const Manifest manifest = from.ReadManifest({1, GenerationState::kComplete}).value;
  Answer("echo no room");
  Arrivals arrivals(&to);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(arrivals.Place(manifest, rank, from).value);
  }
  const Result<bool> done = arrivals.Complete(manifest, {}, Program().string());
  EXPECT_FALSE(done.value);
  EXPECT_EQ(done.error.fault, Fault::kOverQuota);
  EXPECT_EQ(Kept(), 0U);
}

}  // namespace
}  // namespace muster::checkpoint
