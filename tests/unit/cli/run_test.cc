// The muster program itself, against a controller and a supervisor that live in the test.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>

#include "cli/run/stream/step_frame.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// Takes one job or step, tells of it as the test says, and remembers what was asked.
class OneJobController final : public wire::Controller::Service {
 public:
  grpc::Status Submit(grpc::ServerContext*, const wire::SubmitRequest* request,
                      wire::SubmitReply* reply) override {
    Remember(request->spec(), request->program());
    reply->set_job(5);
    return grpc::Status::OK;
  }
  grpc::Status StartStep(grpc::ServerContext*, const wire::StartStepRequest* request,
                         wire::StartStepReply* reply) override {
    step_tasks = request->spec().tasks();
    Remember({}, request->program());
    reply->set_step(1);
    reply->mutable_placement()->add_nodes()->add_ranks();
    return grpc::Status::OK;
  }
  grpc::Status Cancel(grpc::ServerContext*, const wire::CancelRequest*,
                      wire::CancelReply* reply) override {
    reply->set_cancelled(1);
    Tell("CANCELLED");
    return grpc::Status::OK;
  }
  // Of the step 1 that was started.
  grpc::Status ShowJob(grpc::ServerContext*, const wire::ShowJobRequest*,
                       wire::ShowJobReply* reply) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    wire::JobDetail* job = reply->add_jobs();
    job->mutable_job()->set_id(5);
    wire::StepView* step = job->add_steps();
    step->set_attempt(1);
    step->set_step(1);
    step->set_state(step_state_);
    step->mutable_exit()->set_code(exit_code_);
    return grpc::Status::OK;
  }
  grpc::Status WatchJob(grpc::ServerContext* context, const wire::WatchJobRequest* request,
                        grpc::ServerWriter<wire::WatchJobReply>* writer) override {
    std::string told;
    while (!context->IsCancelled()) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(10), [&] { return state_ != told; });
      if (state_ == told) {
        continue;
      }
      told = state_;
      wire::WatchJobReply reply;
      reply.mutable_job()->set_id(request->job());
      reply.mutable_job()->set_state(state_);
      reply.mutable_job()->set_exit_code(exit_code_);
      reply.mutable_job()->set_exit_text(state_ == "CANCELLED" ? "by its user" : "");
      if (state_ != "PENDING" && state_ != "CANCELLED" && !ended_unseen) {
        reply.mutable_allocation()->add_nodes()->add_ranks();
      }
      writer->Write(reply);
      if (state_ != "PENDING" && state_ != "RUNNING") {
        return grpc::Status::OK;
      }
    }
    return grpc::Status::OK;
  }

  void Tell(const std::string& state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = state;
    changed_.notify_all();
  }
  // The same, with the code it ended with.
  void Tell(const std::string& state, int exit_code) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      exit_code_ = exit_code;
    }
    Tell(state);
  }
  void TellOfStep(const std::string& state, int exit_code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    step_state_ = state;
    exit_code_ = exit_code;
  }
  // What was submitted, once it was.
  wire::Program Program() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return asked_; });
    return program_;
  }
  // The next is another.
  void Forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = "PENDING";
    asked_ = false;
  }
  wire::JobSpec spec;
  std::atomic<std::uint32_t> step_tasks = 0;
  std::atomic<bool> ended_unseen = false;  // its end is all that the accounting knows of it

 private:
  void Remember(const wire::JobSpec& asked, const wire::Program& program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spec = asked;
    program_ = program;
    asked_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string state_ = "PENDING";
  std::string step_state_ = "RUNNING";
  int exit_code_ = 0;
  wire::Program program_;
  bool asked_ = false;
};

// The supervisor's end of the step's connection.
class Supervisor {
 public:
  explicit Supervisor(const wire::Program& program) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, program.io().address().c_str() + std::strlen("unix:"));
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    wire::StepFrame hello;
    hello.mutable_hello()->set_token(program.io().token());
    hello.mutable_hello()->set_node("node1");
    hello.mutable_hello()->set_ranks(1);
    hello.mutable_hello()->set_nodes(1);
    Send(hello);
  }
  void Send(const wire::StepFrame& frame) {
    const std::string bytes = EncodeFrame(frame);
    EXPECT_EQ(send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void SendOutput(bool error, const std::string& data) {
    wire::StepFrame frame;
    frame.mutable_output()->set_error(error);
    frame.mutable_output()->set_data(data);
    Send(frame);
  }
  void SendEnd(int code) {
    wire::StepFrame exit;
    exit.mutable_exit()->set_code(code);
    Send(exit);
    wire::StepFrame done;
    done.mutable_done();
    Send(done);
  }
  wire::StepFrame Receive() {
    for (;;) {
      auto frame = reader_.Next().value();
      if (frame.has_value()) {
        return *frame;
      }
      char buffer[4096];
      const ssize_t got = read(fd_.get(), buffer, sizeof(buffer));
      if (got <= 0) {
        return {};
      }
      reader_.Append(std::string_view(buffer, static_cast<std::size_t>(got)));
    }
  }

 private:
  UniqueFd fd_;
  FrameReader reader_;
};

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override { Serve(); }
  void TearDown() override {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    Shutdown();
  }
  void Serve() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
    builder.RegisterService(&controller_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void Shutdown() {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

  void Start(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    const UniqueFd out(
        open((directory_ / "out").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const UniqueFd err(
        open((directory_ / "err").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_TRUE(WriteFileAtomically(directory_ / "in", "typed\n").ok());
    const UniqueFd in(open((directory_ / "in").c_str(), O_RDONLY | O_CLOEXEC));
    arguments.insert(arguments.begin(), "muster");
    environment.insert(environment.end(),
                       {"PATH=/usr/bin:/bin", "MUSTER_CONTROLLER=unix:" + socket_,
                        "XDG_RUNTIME_DIR=" + directory_.path()});
    pid_ = Spawn({.program = MUSTER_BINARY,
                  .arguments = arguments,
                  .environment = environment,
                  .working_directory = directory_.path(),
                  .fds = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}},
                  .new_session = true})
               .value();
  }
  int Wait() {
    int status = 0;
    const pid_t pid = std::exchange(pid_, 0);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string Out() { return ReadFile(directory_ / "out").value(); }
  std::string Err() { return ReadFile(directory_ / "err").value(); }
  void WaitForErr(const std::string& text) {
    for (int i = 0; i < 2000 && Err().find(text) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(Err(), HasSubstr(text));
  }

  const TempDirectory directory_;
  const std::string socket_ = directory_ / "c.sock";
  OneJobController controller_;
  std::unique_ptr<grpc::Server> server_;
  pid_t pid_ = 0;
};

TEST_F(RunTest, StreamsOutputAndExitsWithTheRanksCode) {
  Start({"run", "-n", "2", "cat", "-n"});
  const wire::Program program = controller_.Program();
  EXPECT_EQ(controller_.spec.kind(), wire::JOB_KIND_RUN);
  EXPECT_EQ(controller_.spec.request().tasks(), 2U);
  EXPECT_EQ(program.argv(1), "-n");
  controller_.Tell("RUNNING");
  Supervisor supervisor(program);
  EXPECT_EQ(supervisor.Receive().input().data(), "typed\n");
  EXPECT_TRUE(supervisor.Receive().has_input()) << "the end of the input";
  supervisor.SendOutput(false, "to out\n");
  supervisor.SendOutput(true, "to err\n");
  supervisor.SendEnd(3);
  controller_.Tell("FAILED");
  EXPECT_EQ(Wait(), 3);
  EXPECT_EQ(Out(), "to out\n");
  EXPECT_EQ(Err(), "to err\nmuster: rank 0 on node1: exit code 3\n");
}

TEST_F(RunTest, AJobWhoseEndIsTheFirstNewsOfItHasLostNothing) {
  controller_.ended_unseen = true;
  Start({"run", "hostname"});
  Supervisor supervisor(controller_.Program());
  supervisor.SendOutput(false, "node1\n");
  supervisor.SendEnd(0);
  controller_.Tell("COMPLETED");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Out(), "node1\n");
  EXPECT_EQ(Err(), "");
}

TEST_F(RunTest, AControllerThatGoesAwayDisturbsNothing) {
  Start({"run", "--label", "true"});
  const wire::Program program = controller_.Program();
  controller_.Tell("RUNNING");
  Supervisor supervisor(program);
  supervisor.SendOutput(false, "before\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Shutdown();
  supervisor.SendOutput(false, "while it is away\n");
  supervisor.SendEnd(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  controller_.Tell("COMPLETED");
  Serve();
  const auto served = std::chrono::steady_clock::now();
  EXPECT_EQ(Wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - served, std::chrono::seconds(3))
      << "it notices that the controller is back";
  EXPECT_EQ(Out(), "0: before\n0: while it is away\n");
  EXPECT_EQ(Err(), "");
}

TEST_F(RunTest, WhereAConnectionBreaksTheJobsOwnCodeCounts) {
  const std::vector<std::tuple<std::string, int, int>> kCases = {
      {"COMPLETED", 0, 0}, {"FAILED", 7, 7}, {"NODE_FAIL", 0, 1}};
  for (const auto& [state, of_job, expected] : kCases) {
    Start({"run", "true"});
    controller_.Tell("RUNNING", 0);
    { Supervisor lost(controller_.Program()); }
    WaitForErr("muster: lost the connection to node1 before it reported how its ranks ended\n");
    controller_.Tell(state, of_job);
    EXPECT_EQ(Wait(), expected);
    EXPECT_THAT(Err(), HasSubstr("muster: job 5 ended: " + state));
    controller_.Forget();
  }
}

TEST_F(RunTest, WhereAConnectionBreaksTheStepsOwnCodeCounts) {
  const std::vector<std::tuple<std::string, int, int>> kCases = {{"COMPLETED", 0, 0},
                                                                 {"FAILED", 7, 7}};
  for (const auto& [state, of_step, expected] : kCases) {
    controller_.TellOfStep("RUNNING", 0);
    Start({"run", "true"}, {"MUSTER_JOB_ID=5"});
    { Supervisor lost(controller_.Program()); }
    WaitForErr("muster: lost the connection to node1 before it reported how its ranks ended\n");
    controller_.TellOfStep(state, of_step);
    EXPECT_EQ(Wait(), expected);
    EXPECT_THAT(Err(), HasSubstr("muster: step 5.1 ended: " + state));
    controller_.Forget();
  }
}

TEST_F(RunTest, WhereAConnectionBreaksAndTheJobBeginsAgainThatIsAFailure) {
  Start({"run", "true"});
  controller_.Tell("RUNNING");
  { Supervisor lost(controller_.Program()); }
  WaitForErr("muster: lost the connection to node1");
  controller_.Tell("PENDING");
  EXPECT_EQ(Wait(), 1);
  EXPECT_THAT(Err(), HasSubstr("muster: the controller's last word on job 5 is PENDING\n"));
}

TEST_F(RunTest, AnInterruptTellsTheSecondReachesTheRanksAndTheThirdKills) {
  Start({"run", "sleep", "1000"});
  const wire::Program program = controller_.Program();
  controller_.Tell("RUNNING");
  Supervisor supervisor(program);
  EXPECT_TRUE(supervisor.Receive().has_input());
  EXPECT_TRUE(supervisor.Receive().has_input());
  kill(pid_, SIGTERM);
  EXPECT_EQ(supervisor.Receive().signal().signal(), SIGTERM);
  kill(pid_, SIGINT);
  WaitForErr("job 5: rank 0 running; Ctrl-C again within 1 s ends it");
  kill(pid_, SIGINT);
  EXPECT_EQ(supervisor.Receive().signal().signal(), SIGINT);
  kill(pid_, SIGINT);
  EXPECT_EQ(supervisor.Receive().signal().signal(), SIGKILL);
  wire::StepFrame exit;
  exit.mutable_exit()->set_signal(SIGKILL);
  supervisor.Send(exit);
  wire::StepFrame done;
  done.mutable_done();
  supervisor.Send(done);
  EXPECT_EQ(Wait(), 128 + SIGKILL);
  EXPECT_THAT(Err(), HasSubstr("job 5 ended: CANCELLED: by its user"));
}

TEST_F(RunTest, AnInterruptWhileItWaitsCancelsTheJob) {
  Start({"run", "true"});
  (void)controller_.Program();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(pid_, SIGINT);
  EXPECT_EQ(Wait(), 130);
  EXPECT_THAT(Err(), HasSubstr("muster: job 5 cancelled"));
}

TEST_F(RunTest, AJobThatEndsWithoutRanksSaysWhy) {
  Start({"run", "true"});
  (void)controller_.Program();
  controller_.Tell("CANCELLED");
  EXPECT_EQ(Wait(), 1);
  EXPECT_EQ(Err(), "muster: job 5 ended: CANCELLED: by its user\n");
}

TEST_F(RunTest, TheFirstBadExitEndsTheOthersWhenAskedTo) {
  Start({"run", "-K", "-n", "2", "true"});
  Supervisor supervisor(controller_.Program());
  controller_.Tell("RUNNING");
  EXPECT_TRUE(supervisor.Receive().has_input());
  EXPECT_TRUE(supervisor.Receive().has_input());
  wire::StepFrame exit;
  exit.mutable_exit()->set_rank(1);
  exit.mutable_exit()->set_code(3);
  supervisor.Send(exit);
  EXPECT_EQ(supervisor.Receive().broken().exit().rank(), 1U);
  exit.mutable_exit()->set_rank(0);
  exit.mutable_exit()->set_code(0);
  exit.mutable_exit()->set_signal(SIGTERM);
  exit.mutable_exit()->set_with_others(true);
  supervisor.Send(exit);
  wire::StepFrame done;
  done.mutable_done();
  supervisor.Send(done);
  controller_.Tell("FAILED");
  EXPECT_EQ(Wait(), 3);
  EXPECT_EQ(Err(), "muster: rank 1 on node1: exit code 3; the others are ended\n");
}

TEST_F(RunTest, EachRanksOutputGoesToItsFileAndAFileIsTheInput) {
  ASSERT_TRUE(WriteFileAtomically(directory_ / "data", "of a file\n").ok());
  Start({"run", "-o", "%j.%s.%n.%t", "-i", "data", "true"});
  const wire::Program program = controller_.Program();
  EXPECT_EQ(program.stdin_path(), "all");
  controller_.Tell("RUNNING");
  Supervisor supervisor(program);
  EXPECT_EQ(supervisor.Receive().input().data(), "of a file\n");
  supervisor.SendOutput(false, "to out\n");
  supervisor.SendOutput(true, "to err\n");
  supervisor.SendEnd(0);
  controller_.Tell("COMPLETED");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Out() + Err(), "");
  EXPECT_EQ(ReadFile(directory_ / "5.1.0.0").value(), "to out\nto err\n");
}

TEST_F(RunTest, StreamsThatCannotBeAreRefusedBeforeAnythingIsAskedFor) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> kCases = {
      {{"run", "-i", "nothing", "true"}, "nothing: No such file"},
      {{"run", "-o", "no/where", "true"}, "--output: " + (directory_ / "no")},
      {{"run", "--open-mode", "x", "true"}, "is not one of append, truncate"}};
  for (const auto& [arguments, text] : kCases) {
    Start(arguments);
    EXPECT_NE(Wait(), 0);
    EXPECT_THAT(Err(), HasSubstr(text));
  }
}

TEST_F(RunTest, InsideAJobItStartsAStep) {
  Start({"run", "-n", "4", "true"}, {"MUSTER_JOB_ID=5"});
  const wire::Program program = controller_.Program();
  EXPECT_EQ(controller_.step_tasks, 4U);
  Supervisor supervisor(program);
  supervisor.SendEnd(0);
  EXPECT_EQ(Wait(), 0);
}

TEST_F(RunTest, AStepCannotAskForWhatItsJobHas) {
  Start({"run", "--mem-per-cpu", "4G", "true"}, {"MUSTER_JOB_ID=5"});
  EXPECT_EQ(Wait(), 2);
  EXPECT_THAT(Err(),
              HasSubstr("muster run: --mem-per-cpu: a step inside a job uses the job's resources"));
}

// What the script of an allocation says, entry by entry.
const std::string kAllocated("MUSTER_JOB_ID=5\0SLURM_PROCID=0\0HOME=/there\0\0", 44);

TEST_F(RunTest, AnAllocationsCommandRunsHereOnceTheJobHasStartedAndEndsIt) {
  Start({"alloc", "-n", "2", "sh", "-c", "echo $MUSTER_JOB_ID,$SLURM_PROCID,$HOME; exit 3"},
        {"HOME=/here"});
  const wire::Program program = controller_.Program();
  EXPECT_EQ(controller_.spec.kind(), wire::JOB_KIND_BATCH);
  EXPECT_EQ(controller_.spec.request().tasks(), 2U);
  controller_.Tell("RUNNING");
  Supervisor supervisor(program);
  supervisor.SendOutput(false, kAllocated.substr(0, 20));
  supervisor.SendOutput(false, kAllocated.substr(20));
  EXPECT_EQ(supervisor.Receive().input().data(), "3\n");
  supervisor.SendEnd(3);
  controller_.Tell("FAILED");
  EXPECT_EQ(Wait(), 3);
  EXPECT_EQ(Out(), "5,,/here\n");
  EXPECT_THAT(Err(), HasSubstr("muster: job 5 is allocated"));
  EXPECT_THAT(Err(), ::testing::Not(HasSubstr("ended"))) << "the code tells it";
}

TEST_F(RunTest, AnAllocationThatEndsFirstSaysSoAndHangsUpItsCommand) {
  Start({"alloc", "sh", "-c",
         "trap 'echo hung up; exit 0' HUP; echo begun; while :; do sleep 0.1; done"});
  Supervisor supervisor(controller_.Program());
  controller_.Tell("RUNNING");
  supervisor.SendOutput(false, kAllocated);
  for (int i = 0; i < 2000 && Out().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  controller_.Tell("CANCELLED");
  EXPECT_EQ(Wait(), 1) << "though the command was content";
  EXPECT_EQ(Out(), "begun\nhung up\n");
  EXPECT_THAT(Err(), HasSubstr("muster: job 5 ended: CANCELLED: by its user\n"));
}

TEST_F(RunTest, AnInterruptWhileAnAllocationWaitsCancelsIt) {
  Start({"alloc", "true"});
  (void)controller_.Program();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(pid_, SIGINT);
  EXPECT_EQ(Wait(), 130);
  EXPECT_THAT(Err(), HasSubstr("muster: job 5 cancelled"));
}

TEST_F(RunTest, AnAllocationForNoProgramIsNotAskedFor) {
  Start({"alloc", "no-such-program-anywhere"});
  EXPECT_EQ(Wait(), 1);
  EXPECT_EQ(Err(),
            "muster alloc: \"no-such-program-anywhere\": not found in PATH: name its path\n");
}

TEST_F(RunTest, SubmitPrintsTheNumberAndWaitsWhenAsked) {
  Start({"submit", "--parsable", "--wait", "--wrap", "hostname"});
  EXPECT_THAT(controller_.Program().script(), HasSubstr("hostname"));
  controller_.Tell("COMPLETED");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Out(), "5\n");
}

}  // namespace
}  // namespace muster::cli
