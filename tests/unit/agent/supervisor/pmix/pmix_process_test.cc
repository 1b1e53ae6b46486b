// What the supervisor makes of the process that serves PMIx, whatever that says: the process is the
// user's.

#include "agent/supervisor/pmix/pmix_process.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_host.h"
#include "agent/supervisor/pmix/pmix_pattern.h"
#include "agent/supervisor/pmix/pmix_relay.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class PmixProcessTest : public ::testing::Test {
 protected:
  PmixProcessTest() { loop_ = *EventLoop::Create(); }
  ~PmixProcessTest() override {
    step_.reset();
    process_.reset();
    while (waitpid(-1, nullptr, 0) > 0) {  // it ends when nobody speaks with it any more
    }
  }

  PmixProcessConfig Config(const std::string& what) {
    std::ofstream(place_ / kPmixModuleName) << what;
    PmixProcessConfig config;
    config.program = MUSTER_FAKE_PMIX;
    config.module_dir = place_.path();
    config.server.shared_memory = "";
    return config;
  }
  // A step of one rank, served by a process that does `what`.
  absl::Status Begin(const PmixProcessConfig& config) {
    auto process = PmixProcess::Start(*loop_, config);
    if (!process.ok()) {
      return process.status();
    }
    process_ = *std::move(process);
    return BeginStep();
  }
  absl::Status BeginStep() {
    PmixStepConfig step;
    step.nspace = "muster.1.1.0";
    step.nodes = {"node1"};
    step.node_of_rank = {0};
    step.local_cpusets = {""};
    step.universe_size = 1;
    PmixProcessHandlers handlers;
    handlers.ranks.on_connected = [this](std::uint32_t rank) { connected_.push_back(rank); };
    handlers.ranks.on_abort = [this](std::uint32_t, int status, const std::string& message) {
      aborts_.push_back(std::to_string(status) + message);
    };
    handlers.ranks.on_fence = [this](std::uint64_t id, const std::vector<std::uint32_t>&,
                                     const std::string& data) {
      ++fences_;
      loop_->Post([this, id, data] {  // it may be told before StartStep has returned
        if (step_ != nullptr && data.size() < 100) {
          step_->FinishFence(id, data + " and theirs");
        }
      });
    };
    handlers.on_lost = [this](const std::string& why) { lost_ = why; };
    auto started = process_->StartStep(step, std::move(handlers));
    if (started.ok()) {
      step_ = *std::move(started);
    }
    return started.status();
  }
  template <class Condition>
  bool Eventually(const Condition& condition, int turns = 2000) {
    for (int tries = 0; tries < turns && !condition(); ++tries) {
      loop_->RunAfter(std::chrono::milliseconds(5), [this] { loop_->Stop(); });
      Turn();
    }
    return condition();
  }
  void Turn() { EXPECT_TRUE(loop_->Run().ok()); }

  TempDirectory place_;
  std::unique_ptr<EventLoop> loop_;
  std::shared_ptr<PmixProcess> process_;
  std::unique_ptr<ServedStep> step_;
  std::vector<std::uint32_t> connected_;
  std::vector<std::string> aborts_;
  int fences_ = 0;
  std::string lost_;
};

TEST_F(PmixProcessTest, AStepHasItsVariablesAndItsRanksAreHeardAndAnswered) {
  ASSERT_TRUE(Begin(Config("good")).ok());
  EXPECT_THAT(*step_->RankEnv(0), ElementsAre("PMIX_RANK=0"));
  EXPECT_FALSE(step_->RankEnv(1).ok());
  ASSERT_TRUE(Eventually([&] { return !aborts_.empty(); }));
  EXPECT_THAT(connected_, ElementsAre(0U));
  EXPECT_THAT(aborts_, ElementsAre("9mine and theirs"));
  EXPECT_EQ(lost_, "");
}

TEST_F(PmixProcessTest, WhatWasSaidIsKnownOnceItWasHeard) {
  ASSERT_TRUE(Begin(Config("good")).ok());
  for (int tries = 0; tries < 2000 && connected_.empty(); ++tries) {
    usleep(5'000);
    step_->Hear();  // without a round of the loop
  }
  EXPECT_THAT(connected_, ElementsAre(0U));
}

TEST_F(PmixProcessTest, AWordOnAForeignRankEndsTheProcessAndItsSteps) {
  ASSERT_TRUE(Begin(Config("foreign")).ok());
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("said what it may not: no rank 7 here"));
  EXPECT_THAT(connected_, IsEmpty());
  EXPECT_FALSE(process_->alive());
}

TEST_F(PmixProcessTest, AVariableOfSomethingElseStartsNoRank) {
  const absl::Status status = Begin(Config("preload"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not PMIx's"));
  EXPECT_FALSE(process_->alive());
}

TEST_F(PmixProcessTest, FencesBeyondAllBoundsEndIt) {
  ASSERT_TRUE(Begin(Config("flood")).ok());
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("too many questions"));
  EXPECT_LE(fences_, 2);
}

TEST_F(PmixProcessTest, AFrameOfTwoGigabytesEndsIt) {
  EXPECT_FALSE(Begin(Config("huge")).ok());
  EXPECT_FALSE(process_->alive());
}

TEST_F(PmixProcessTest, OneThatDoesNotAnswerIsEndedAfterTheLimit) {
  PmixProcessConfig config = Config("silent");
  config.start_limit = Duration(200);
  const absl::Status status = Begin(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_FALSE(process_->alive());
}

TEST_F(PmixProcessTest, OneThatEndsIsToldToItsSteps) {
  EXPECT_THAT(std::string(Begin(Config("ends")).message()), HasSubstr("ended as it started"));
  ASSERT_TRUE(Begin(Config("leaves")).ok());
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("it has ended"));
}

TEST_F(PmixProcessTest, AProgramThatCannotRunIsToldWithItsReason) {
  PmixProcessConfig config = Config("good");
  config.program = "/nonexistent";
  EXPECT_THAT(std::string(Begin(config).message()), HasSubstr("No such file"));
}

TEST_F(PmixProcessTest, AMissingModuleIsNamedBeforeAnythingIsStarted) {
  PmixProcessConfig config = Config("good");
  config.module_dir = "/nonexistent";
  EXPECT_EQ(Begin(config).code(), absl::StatusCode::kNotFound);
}

// What steps have in shared memory, which takes all users' directories.
class PmixSegmentsTest : public PmixProcessTest {
 protected:
  PmixProcessConfig Sharing(const std::string& what) {
    std::filesystem::create_directory(memory_);
    std::filesystem::permissions(memory_, std::filesystem::perms::all);
    PmixProcessConfig config = Config(what);
    config.server.shared_memory = memory_;
    config.on_segments = [this](const std::string& directory) { noted_.push_back(directory); };
    return config;
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(memory_)) {
      left.push_back(entry.path());
    }
    return left;
  }

  const std::string memory_ = place_ / "memory";
  std::vector<std::string> noted_;
};

TEST_F(PmixSegmentsTest, GoWithTheStepWhenTheProcessHasBroken) {
  ASSERT_TRUE(Begin(Sharing("leaves")).ok());
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  ASSERT_THAT(Left(), ElementsAre(StartsWith(memory_ + "/muster.1.1")));
  std::ofstream(Left().front() + "/vader_segment") << "shared";
  step_.reset();
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(PmixSegmentsTest, OfAStepThatCouldNotStartGoAtOnce) {
  EXPECT_FALSE(Begin(Sharing("preload")).ok());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(PmixSegmentsTest, AreNamedWhereTheProcessIsToRemoveThem) {
  ASSERT_TRUE(Begin(Sharing("good")).ok());
  const std::vector<std::string> left = Left();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_THAT(noted_, IsEmpty());
  step_.reset();
  EXPECT_EQ(noted_, left);
  RemovePmixSegments(nullptr, left.front());
  EXPECT_THAT(Left(), IsEmpty());
  RemovePmixSegments(nullptr, left.front());  // gone already
}

// With a pattern, at whose socket the ranks call.
class PmixDoorTest : public PmixProcessTest {
 protected:
  PmixProcessConfig Known(const std::string& what) {
    PmixProcessConfig config = Config(what);
    config.pattern = {"PMIX_LIBRARY_FILE=any", "PMIX_RANK=%{rank}", "PMIX_SERVER_URI=%{server}"};
    config.on_pattern = [this](const std::vector<std::string>& pattern) {
      learned_.push_back(pattern);
    };
    config.prepare = [this](PmixProcessConfig*) {
      ++prepared_;
      return absl::OkStatus();
    };
    return config;
  }
  // As a rank does, by what it was told; not valid: refused.
  UniqueFd Call() {
    UniqueFd fd = CallAt(Address());
    EXPECT_TRUE(fd.valid());
    return fd;
  }
  sockaddr_in Address() {
    const std::string server = step_->RankEnv(0)->at(1);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1))));
    return address;
  }
  static UniqueFd CallAt(const sockaddr_in& address) {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    return connect(fd.get(), at, sizeof(address)) == 0 ? std::move(fd) : UniqueFd();
  }

  int prepared_ = 0;
  std::vector<std::vector<std::string>> learned_;
};

TEST_F(PmixDoorTest, NothingIsStartedBeforeARankCalls) {
  ASSERT_TRUE(Begin(Known("good")).ok());
  EXPECT_THAT(*step_->RankEnv(0),
              Contains(StartsWith("PMIX_SERVER_URI=muster.supervisor." + std::to_string(getpid()) +
                                  ".0;tcp4://127.0.0.1:")));
  EXPECT_THAT(*step_->RankEnv(0), Contains("OMPI_COMM_WORLD_SIZE=1"));
  step_->Hear();
  EXPECT_TRUE(process_->alive());
  EXPECT_FALSE(process_->called());
  EXPECT_EQ(prepared_, 0);

  const UniqueFd rank = Call();
  ASSERT_TRUE(Eventually([&] { return !aborts_.empty(); }));
  EXPECT_TRUE(process_->called());
  EXPECT_EQ(prepared_, 1);
  EXPECT_THAT(connected_, ElementsAre(0U));
  EXPECT_EQ(lost_, "");
}

TEST_F(PmixDoorTest, AStepThatEndsBeforeARankCallsStartsNothing) {
  ASSERT_TRUE(Begin(Known("good")).ok());
  step_.reset();
  process_.reset();
  EXPECT_EQ(prepared_, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "there is no child";
}

TEST_F(PmixDoorTest, NobodyCanCallWhileThereIsNoStep) {
  ASSERT_TRUE(Begin(Known("good")).ok());
  const sockaddr_in address = Address();
  step_.reset();
  EXPECT_FALSE(CallAt(address).valid());
  EXPECT_FALSE(Eventually([&] { return process_->called(); }, 20));
  EXPECT_TRUE(process_->alive());
  EXPECT_EQ(prepared_, 0);

  ASSERT_TRUE(BeginStep().ok());
  const UniqueFd rank = Call();
  ASSERT_TRUE(Eventually([&] { return !aborts_.empty(); }));
  EXPECT_EQ(prepared_, 1);
}

TEST_F(PmixDoorTest, AQuestionOfAnotherNodeIsACall) {
  ASSERT_TRUE(Begin(Known("good")).ok());
  step_->AskPublished(0, 1);
  EXPECT_TRUE(process_->called());
  ASSERT_TRUE(Eventually([&] { return !aborts_.empty(); }));
}

TEST_F(PmixDoorTest, APatternOfSomethingElseStartsNoRankAndIsForgotten) {
  PmixProcessConfig config = Known("good");
  config.pattern.emplace_back("LD_PRELOAD=/evil.so");
  EXPECT_THAT(std::string(Begin(config).message()), HasSubstr("not PMIx's"));
  EXPECT_THAT(learned_, ElementsAre(IsEmpty()));
  EXPECT_FALSE(process_->alive()) << "the next step is another process's, which learns";
  EXPECT_EQ(prepared_, 0);
}

TEST_F(PmixDoorTest, AStepThatCannotBeServedSaysNothingOfThePattern) {
  ASSERT_TRUE(Begin(Known("good")).ok());
  step_.reset();
  EXPECT_FALSE(process_->StartStep(PmixStepConfig(), PmixProcessHandlers()).ok());
  EXPECT_THAT(learned_, IsEmpty());
  EXPECT_TRUE(process_->alive());
}

TEST_F(PmixDoorTest, OneThatCannotServeIsToldToItsStepsAndItsPatternForgotten) {
  ASSERT_TRUE(Begin(Known("broken")).ok());
  const UniqueFd rank = Call();
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("libpmix has changed"));
  EXPECT_THAT(learned_, ElementsAre(IsEmpty()));
  EXPECT_FALSE(process_->alive());
}

TEST_F(PmixDoorTest, OneThatCannotBeStartedIsToldToItsSteps) {
  PmixProcessConfig config = Known("good");
  config.prepare = [](PmixProcessConfig*) { return absl::InternalError("no room for it"); };
  ASSERT_TRUE(Begin(config).ok());
  const UniqueFd rank = Call();
  ASSERT_TRUE(Eventually([&] { return !lost_.empty(); }));
  EXPECT_THAT(lost_, HasSubstr("no room for it"));
  EXPECT_FALSE(process_->alive());
}

// The other end, with a module that is none.
class PmixHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(place_ / kPmixModuleName) << "not a library";
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      _exit(ServePmix(ends[1], place_.path()));
    }
    close(ends[1]);
    socket_.reset(ends[0]);
    const timeval patience{20, 0};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  void Say(const wire::PmixRequest& request) {
    std::string said;
    AppendFrame(request, &said);
    ASSERT_EQ(write(socket_.get(), said.data(), said.size()), static_cast<ssize_t>(said.size()));
  }
  void StartStep(const std::vector<std::string>& pattern) {
    wire::PmixRequest request;
    request.mutable_open()->set_hostname("node1");
    request.mutable_open()->mutable_pattern()->Assign(pattern.begin(), pattern.end());
    Say(request);
    request.set_step(1);
    request.mutable_start()->set_nspace("muster.1.1.0");
    request.mutable_start()->add_nodes("node1");
    request.mutable_start()->add_node_of_rank(0);
    request.mutable_start()->add_local_cpusets("0");
    request.mutable_start()->set_universe_size(1);
    Say(request);
  }
  wire::PmixReply Hear() {
    std::array<char, 4096> buffer = {};
    wire::PmixReply reply;
    while (heard_.empty()) {
      const ssize_t got = read(socket_.get(), buffer.data(), buffer.size());
      EXPECT_GT(got, 0);
      if (got <= 0 || !reader_.Take({buffer.data(), static_cast<std::size_t>(got)}, &heard_).ok()) {
        return reply;
      }
    }
    EXPECT_TRUE(reply.ParseFromString(heard_.front()));
    heard_.erase(heard_.begin());
    return reply;
  }
  int Reap() {
    int status = -1;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return WEXITSTATUS(status);
  }

  const TempDirectory place_;
  UniqueFd socket_;
  PmixFrameReader reader_;
  std::vector<std::string> heard_;
  pid_t pid_ = -1;
};

TEST_F(PmixHostTest, SaysWhyItCannotServeAndEndsWithItsSupervisor) {
  StartStep({});
  const wire::PmixReply reply = Hear();
  EXPECT_EQ(reply.step(), 1U);
  EXPECT_THAT(reply.started().error(), HasSubstr("cannot load " + place_.path()));
  socket_.reset();
  EXPECT_EQ(Reap(), 0);
}

TEST_F(PmixHostTest, AStepThatCannotBeServedLeavesNoDirectory) {
  wire::PmixRequest request;
  request.mutable_open()->set_hostname("node1");
  Say(request);
  request.set_step(1);
  request.mutable_start()->set_nspace("muster.1.1.0");
  request.mutable_start()->add_nodes("node1");
  request.mutable_start()->add_node_of_rank(0);
  request.mutable_start()->add_local_cpusets("0");
  request.mutable_start()->set_segments(place_ / "segments");
  Say(request);
  EXPECT_THAT(Hear().started().error(), HasSubstr("cannot load"));
  EXPECT_FALSE(std::filesystem::exists(place_ / "segments"));
  socket_.reset();
  EXPECT_EQ(Reap(), 0);
}

TEST_F(PmixHostTest, OneThatCannotServeWhatAnotherNodeAsksForEndsInsteadOfBeingWaitedFor) {
  StartStep({"PMIX_LIBRARY_FILE=" + PmixLibraryAt(place_ / kPmixModuleName)});
  EXPECT_EQ(Hear().started().error(), "") << "libpmix is not loaded before somebody needs it";
  wire::PmixRequest request;
  request.set_step(1);
  request.mutable_ask()->set_id(1);
  Say(request);
  EXPECT_THAT(Hear().broken(), HasSubstr("cannot load " + place_.path()));
  char none = 0;
  EXPECT_EQ(read(socket_.get(), &none, 1), 0) << "it has ended";
  socket_.reset();
  EXPECT_EQ(Reap(), 1);
}

TEST_F(PmixHostTest, AnswersAtTheDoorThatItsSupervisorHandsOverOnceItKnowsTheSteps) {
  int port = 0;
  const UniqueFd door = OpenPmixDoor(&port).value();
  const UniqueFd rank(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(connect(rank.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  wire::PmixRequest request;
  request.mutable_door()->set_steps(1);
  std::string said;
  AppendFrame(request, &said);
  const std::array<int, 1> descriptors = {door.get()};
  ASSERT_TRUE(SendWithDescriptors(socket_.get(), said, descriptors));
  usleep(50'000);  // somebody calls, and it does not know for whom
  StartStep({});
  EXPECT_EQ(Hear().started().error(), "");
  EXPECT_THAT(Hear().broken(), HasSubstr("cannot load " + place_.path()));
  socket_.reset();
  EXPECT_EQ(Reap(), 1);
}

}  // namespace
}  // namespace muster::agent
