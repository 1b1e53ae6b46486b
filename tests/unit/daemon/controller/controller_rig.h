#pragma once

// A controller with a store in a directory of its own, and a door that keeps the orders.
//
// Thread promise: for the test's thread. Invariants: the directory goes with the test.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/controller/controller.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon::testing {

inline constexpr auto kPatience = std::chrono::seconds(20);

// Keeps what was sent, so that a test can wait for it.
class RecordingDoor : public AgentGateway {
 public:
  void Send(NodeId node, const Order& order) override {
    const MutexLock lock(&mutex_);
    sent_.push_back({node, order});
    changed_.NotifyAll();
  }
  void CloseAll() override {}
  std::vector<LoseAgent> TakeExpired() override { return {}; }

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

inline Machine SmallMachine() {
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
    controller_ = std::make_unique<Controller>(
        *store_, door_, clock_, log_, Controller::Setting{SchedulerConfig(), "test", {}, planner_});
    const absl::Status started = controller_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  void Close() {
    controller_.reset();
    store_.reset();
  }

  // Takes an input in and waits until it is durable.
  std::pair<core::Transition, absl::Status> Take(Command command) {
    std::promise<std::pair<core::Transition, absl::Status>> promise;
    std::future<std::pair<core::Transition, absl::Status>> future = promise.get_future();
    controller_->Take(std::move(command),
                      [&](const core::Transition& transition, const absl::Status& status) {
                        promise.set_value({transition, status});
                      });
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

  NodeId Register(std::vector<KnownAttempt> attempts = {}) {
    RegisterAgent command;
    command.registration.name = "node1";
    command.registration.instance = "one";
    command.registration.boot_id = "boot";
    command.registration.machine = SmallMachine();
    command.registration.attempts = std::move(attempts);
    const auto [transition, status] = Take(std::move(command));
    EXPECT_TRUE(status.ok()) << status;
    return transition.node;
  }

  JobId Submit(const std::string& token, const std::string& name = "job") {
    SubmitJob command;
    command.token = token;
    command.spec.name = name;
    command.spec.user = User{1000, 1000, "someone"};
    command.program.script = "#!/bin/sh\n";
    command.program.argv = {name};
    const auto [transition, status] = Take(std::move(command));
    EXPECT_TRUE(status.ok()) << status;
    return transition.job;
  }

  absl::Status Report(NodeId node, JobId job, std::uint64_t index, Fact fact) {
    return Take(TakeReport{node, muster::Report{job, AttemptNumber(1), index, std::move(fact)}})
        .second;
  }

  // What `look` finds in the controller's snapshot.
  template <class T>
  T Seen(const std::function<T(const StateView&)>& look) {
    std::promise<T> promise;
    std::future<T> future = promise.get_future();
    controller_->Look([&](const StateView& snapshot) -> Controller::Reply {
      T seen = look(snapshot);
      return [&promise, seen](const absl::Status&) { promise.set_value(seen); };
    });
    return future.get();
  }

  std::size_t LiveJobs() {
    return Seen<std::size_t>(
        [](const StateView& snapshot) { return snapshot.state().jobs().size(); });
  }

  std::string directory_;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  RecordingDoor door_;
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<Controller> controller_;
  Controller::Planner planner_;  // of the next Open; empty: the real one
};

}  // namespace muster::daemon::testing
