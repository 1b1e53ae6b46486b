#include "daemon/controller.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>

#include "daemon/store/accounting.h"
#include "scheduler/runtime/mutex.h"

namespace muster {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

// Keeps what was sent, so that a test can wait for it.
class RecordingDoor : public AgentDoor {
 public:
  void Send(NodeId node, const Order& order) override {
    const MutexLock lock(&mutex_);
    sent_.push_back({node, order});
    changed_.NotifyAll();
  }
  void CloseAll() override {}
  std::vector<NodeId> TakeExpired() override { return {}; }

  // The first launch order for the job, waiting for it.
  LaunchOrder AwaitLaunch(JobId job) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const MutexLock lock(&mutex_);
    while (std::chrono::steady_clock::now() < deadline) {
      for (const auto& [node, order] : sent_) {
        const auto* launch = std::get_if<LaunchOrder>(&order);
        if (launch != nullptr && launch->job == job) {
          return *launch;
        }
      }
      changed_.WaitFor(&mutex_, std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "no launch order for job " << job.value();
    return LaunchOrder();
  }

  template <class T>
  std::size_t Count() {
    const MutexLock lock(&mutex_);
    std::size_t count = 0;
    for (const auto& [node, order] : sent_) {
      count += std::holds_alternative<T>(order) ? 1 : 0;
    }
    return count;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::pair<NodeId, Order>> sent_;
};

Machine SmallMachine() {
  Machine machine;
  machine.memory = kGibibyte;
  machine.numa_nodes.push_back(NumaNode{0, CpuSet::Of({0, 1}), kGibibyte});
  machine.cores.push_back(Core{0, CpuSet::Of({0}), 0, kNowhere, kNowhere});
  machine.cores.push_back(Core{1, CpuSet::Of({1}), 0, kNowhere, kNowhere});
  return machine;
}

class ControllerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/tmp/muster-controller.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    Open();
  }
  void TearDown() override {
    Close();
    std::filesystem::remove_all(directory_);
  }

  void Open() {
    auto store = JobStore::Open(directory_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    controller_ =
        std::make_unique<Controller>(*store_, door_, clock_, log_, PolicyConfig(), "test");
    const absl::Status started = controller_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  void Close() {
    controller_.reset();
    store_.reset();
  }

  // Takes an input in and waits until it is durable.
  std::pair<Turn, absl::Status> Take(Input input) {
    std::promise<std::pair<Turn, absl::Status>> promise;
    std::future<std::pair<Turn, absl::Status>> future = promise.get_future();
    controller_->Take(std::move(input), [&](const Turn& turn, const absl::Status& status) {
      promise.set_value({turn, status});
    });
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

  NodeId Register(std::vector<KnownAttempt> attempts = {}) {
    RegisterAgent input;
    input.registration.name = "node1";
    input.registration.instance = "one";
    input.registration.boot_id = "boot";
    input.registration.machine = SmallMachine();
    input.registration.attempts = std::move(attempts);
    const auto [turn, status] = Take(std::move(input));
    EXPECT_TRUE(status.ok()) << status;
    return turn.node;
  }

  JobId Submit(const std::string& token, const std::string& name = "job") {
    SubmitJob input;
    input.token = token;
    input.spec.name = name;
    input.spec.user = User{1000, 1000, "someone"};
    input.program.script = "#!/bin/sh\n";
    input.program.argv = {name};
    const auto [turn, status] = Take(std::move(input));
    EXPECT_TRUE(status.ok()) << status;
    return turn.job;
  }

  absl::Status Report(NodeId node, JobId job, std::uint64_t index, Fact fact) {
    return Take(TakeReport{node, muster::Report{job, AttemptNumber(1), index, std::move(fact)}})
        .second;
  }

  std::size_t LiveJobs() {
    std::promise<std::size_t> promise;
    std::future<std::size_t> future = promise.get_future();
    controller_->Look([&](const Picture& picture) -> Controller::Reply {
      const std::size_t jobs = picture.state().jobs().size();
      return [&promise, jobs](const absl::Status&) { promise.set_value(jobs); };
    });
    return future.get();
  }

  std::string directory_;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  RecordingDoor door_;
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(ControllerTest, ASubmittedJobIsPlannedAndItsOrderCarriesTheProgram) {
  const NodeId node = Register();
  const JobId job = Submit("token-1", "hello");
  const LaunchOrder order = door_.AwaitLaunch(job);
  EXPECT_EQ(order.node, node);
  EXPECT_EQ(order.cluster, "test");
  EXPECT_EQ(order.epoch, Epoch(1));
  EXPECT_EQ(order.program.argv, std::vector<std::string>{"hello"});
  EXPECT_GT(order.expiry, clock_.Now());
  ASSERT_EQ(order.allocation.nodes.size(), 1U);
  EXPECT_EQ(order.allocation.nodes[0].cpus.Count(), 1U);
}

TEST_F(ControllerTest, ARetryWithTheSameTokenHasOneEffect) {
  const JobId first = Submit("same");
  EXPECT_EQ(Submit("same"), first);
  EXPECT_EQ(LiveJobs(), 1U);
  EXPECT_NE(Submit("other"), first);
}

TEST_F(ControllerTest, AnAcknowledgedJobOutlivesTheControllerAndItsTokenToo) {
  const JobId job = Submit("kept", "kept");
  Close();
  Open();
  EXPECT_EQ(LiveJobs(), 1U);
  EXPECT_EQ(Submit("kept"), job);
  EXPECT_EQ(controller_->epoch(), Epoch(2));
}

TEST_F(ControllerTest, AJobThatRunsThroughARestartEndsWithItsOwnExitCode) {
  const NodeId node = Register();
  const JobId job = Submit("through");
  const LaunchOrder order = door_.AwaitLaunch(job);
  ASSERT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, "not enforced"}).ok());
  Close();
  Open();
  Register({KnownAttempt{job, AttemptNumber(1), false, order.allocation.nodes[0]}});
  RunEnded end;
  end.time = clock_.Now();
  end.status.code = 7;
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  // A report that is sent again is acknowledged again and changes nothing.
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  EXPECT_EQ(LiveJobs(), 0U);
  const auto accounting = Accounting::Open(directory_);
  ASSERT_TRUE(accounting.ok()) << accounting.status();
  const auto shown = (*accounting)->Show(job, {});
  ASSERT_TRUE(shown.ok()) << shown.status();
  ASSERT_EQ(shown->size(), 1U);
  EXPECT_EQ(shown->front().job.state, "FAILED");
  EXPECT_EQ(shown->front().job.exit_code, 7);
  EXPECT_EQ(shown->front().attempts.size(), 1U);
}

TEST_F(ControllerTest, ANodeThatComesBackWithoutAStartedOrderIsToldAgain) {
  const NodeId node = Register();
  const JobId job = Submit("again");
  door_.AwaitLaunch(job);
  const std::size_t before = door_.Count<LaunchOrder>();
  Take(LoseAgent{node});
  Register();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (door_.Count<LaunchOrder>() == before && std::chrono::steady_clock::now() < deadline) {
    usleep(1000);
  }
  EXPECT_EQ(door_.Count<LaunchOrder>(), before + 1);
}

TEST_F(ControllerTest, AWatcherSeesTheEnd) {
  const NodeId node = Register();
  const JobId job = Submit("watched");
  door_.AwaitLaunch(job);
  std::promise<std::string> ended;
  std::future<std::string> future = ended.get_future();
  const auto watcher =
      std::make_shared<const Controller::Watcher>([&](const JobView& view, const Allocation*) {
        if (view.end_time != kNoTime) {
          ended.set_value(view.state);
        }
      });
  controller_->Watch(job, watcher, [](bool found) { EXPECT_TRUE(found); });
  RunEnded end;
  end.time = clock_.Now();
  ASSERT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 1, ""}).ok());
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(future.get(), "COMPLETED");
}

TEST_F(ControllerTest, AWaitingJobHasItsReasonAfterThePass) {
  const JobId job = Submit("lonely");
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  ReasonKind kind = ReasonKind::kNotPlannedYet;
  while (kind == ReasonKind::kNotPlannedYet && std::chrono::steady_clock::now() < deadline) {
    std::promise<ReasonKind> promise;
    controller_->Look([&](const Picture& picture) -> Controller::Reply {
      const ReasonKind seen = picture.ReasonOf(job).kind;
      return [&promise, seen](const absl::Status&) { promise.set_value(seen); };
    });
    kind = promise.get_future().get();
  }
  EXPECT_EQ(kind, ReasonKind::kReqNodeNotAvail);
}

}  // namespace
}  // namespace muster
