// A controller whose queue is full (attack F5): every answer comes from one thread, nothing that
// the controller owes itself is lost, and one call fills no queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "scheduler/core/plan/planner.h"
#include "scheduler/runtime/mutex.h"
#include "tests/unit/daemon/controller/secured_rig.h"

namespace muster::daemon::testing {
namespace {

using ::testing::HasSubstr;

// Counts answers, and the threads on which they came.
class Answers {
 public:
  Controller::Done Expect() {
    ++expected_;
    return [this](const core::Transition&, const absl::Status& status) { Note(status); };
  }
  void Note(const absl::Status& status) {
    const MutexLock lock(&mutex_);
    ++threads_[std::this_thread::get_id()];
    ++codes_[status.code()];
    changed_.NotifyAll();
  }
  // Waits for all of them: how many came on which thread.
  std::map<std::thread::id, std::size_t> Await() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const MutexLock lock(&mutex_);
    while (Count() < expected_ && std::chrono::steady_clock::now() < deadline) {
      changed_.WaitFor(&mutex_, std::chrono::milliseconds(50));
    }
    EXPECT_EQ(Count(), expected_);
    return threads_;
  }
  std::size_t CountOf(absl::StatusCode code) {
    const MutexLock lock(&mutex_);
    return codes_[code];
  }

 private:
  std::size_t Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::size_t count = 0;
    for (const auto& [thread, answers] : threads_) {
      count += answers;
    }
    return count;
  }

  std::size_t expected_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::thread::id, std::size_t> threads_ ABSL_GUARDED_BY(mutex_);
  std::map<absl::StatusCode, std::size_t> codes_ ABSL_GUARDED_BY(mutex_);
};

// Keeps a controller's loop where it is until it is let go.
class StoppedLoop {
 public:
  explicit StoppedLoop(Controller& controller) {
    const auto held = std::make_shared<std::promise<void>>();
    controller.Look([held, go = go_](const StateView&) -> Controller::Reply {
      held->set_value();
      go->get_future().wait();
      return [](const absl::Status&) {};
    });
    held->get_future().wait();
  }
  ~StoppedLoop() { LetGo(); }
  void LetGo() {
    if (!std::exchange(gone_, true)) {
      go_->set_value();
    }
  }

 private:
  const std::shared_ptr<std::promise<void>> go_ = std::make_shared<std::promise<void>>();
  bool gone_ = false;
};

class FullQueueTest : public ControllerTest {
 protected:
  // As many inputs as there is room for.
  void Fill(Answers& answers) {
    while (controller_->HasRoomFor(1)) {
      controller_->Take(TickHealth{}, answers.Expect());
    }
  }
};

TEST_F(FullQueueTest, RefusalsComeFromTheThreadOfAllOtherAnswers) {
  Answers answers;
  {
    StoppedLoop loop(*controller_);
    Fill(answers);
    for (int i = 0; i < 1000; ++i) {
      controller_->Take(TickHealth{}, answers.Expect());
    }
  }
  const std::map<std::thread::id, std::size_t> threads = answers.Await();
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0U);
  EXPECT_EQ(answers.CountOf(absl::StatusCode::kUnavailable), 1000U);
}

TEST_F(FullQueueTest, WhatIsRefusedWhileTheControllerStopsIsAnsweredOnce) {
  Answers answers;
  auto loop = std::make_unique<StoppedLoop>(*controller_);
  for (int i = 0; i < 100; ++i) {
    controller_->Take(TickHealth{}, answers.Expect());
  }
  std::thread stopping([this] { controller_->Stop(); });
  for (int i = 0; i < 100; ++i) {
    controller_->Take(TickHealth{}, answers.Expect());
  }
  loop.reset();
  for (int i = 0; i < 100; ++i) {
    controller_->Take(TickHealth{}, answers.Expect());
  }
  stopping.join();
  controller_->Take(TickHealth{}, answers.Expect());
  answers.Await();
}

TEST_F(FullQueueTest, AWatcherIsNotToldThatALiveJobIsGone) {
  const JobId job = Submit("one");
  Answers answers;
  std::promise<absl::Status> found;
  const auto watcher = std::make_shared<const Controller::Watcher>(
      Controller::Watcher{[](const JobView&, const Allocation*) {}, [](const absl::Status&) {}});
  {
    StoppedLoop loop(*controller_);
    Fill(answers);
    controller_->Watch(job, watcher, [&](const absl::Status& status) { found.set_value(status); });
  }
  EXPECT_EQ(found.get_future().get().code(), absl::StatusCode::kUnavailable);
  answers.Await();
}

// A planner that makes its plans only when it is let.
class FullQueueAndAPassTest : public FullQueueTest {
 protected:
  void SetUp() override {
    planner_ = [this](std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
                      core::PlannerMemory& memory) {
      planning_ = true;
      Await(go_);
      return core::MakePlan(std::move(snapshot), config, memory);
    };
    FullQueueTest::SetUp();
  }
  void TearDown() override {
    go_ = true;
    FullQueueTest::TearDown();
  }
  static void Await(const std::atomic<bool>& flag) {
    while (!flag) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::atomic<bool> planning_ = false;
  std::atomic<bool> go_ = false;
};

TEST_F(FullQueueAndAPassTest, APassThatEndsThenIsNotLost) {
  Register();
  const JobId job = Submit("one");
  Await(planning_);
  Answers answers;
  {
    StoppedLoop loop(*controller_);
    Fill(answers);
    go_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it ends meanwhile
  }
  EXPECT_EQ(door_.AwaitLaunch(job).job, job);
  answers.Await();
}

class ManySelectorsTest : public SecuredTest {
 protected:
  template <class Request>
  static Request Naming(std::size_t elements) {
    Request request;
    wire::JobSelector* selector = request.add_jobs();
    selector->set_job(1);
    for (std::size_t i = 0; i < elements; ++i) {
      selector->add_elements(1);
    }
    return request;
  }
  std::unique_ptr<wire::Controller::Stub> Stub() const {
    return wire::Controller::NewStub(Channel(Self()));
  }
};

TEST_F(ManySelectorsTest, ACallNamesTenThousandAtMostAndNothingOfALargerOneIsTaken) {
  const auto stub = Stub();
  for (const std::size_t elements : {std::size_t{10'001}, std::size_t{400'000}}) {
    const auto expect_refused = [](const grpc::Status& status) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
      EXPECT_THAT(status.error_message(), HasSubstr("more than 10000 jobs and elements"));
    };
    grpc::ClientContext hold;
    wire::ChangeReply held;
    expect_refused(stub->Hold(&hold, Naming<wire::HoldRequest>(elements), &held));
    grpc::ClientContext cancel;
    wire::CancelReply cancelled;
    expect_refused(stub->Cancel(&cancel, Naming<wire::CancelRequest>(elements), &cancelled));
    grpc::ClientContext requeue;
    wire::ChangeReply requeued;
    expect_refused(stub->Requeue(&requeue, Naming<wire::RequeueRequest>(elements), &requeued));
    grpc::ClientContext update;
    wire::ChangeReply updated;
    expect_refused(stub->Update(&update, Naming<wire::UpdateRequest>(elements), &updated));
    grpc::ClientContext signal;
    wire::SignalReply signalled;
    expect_refused(stub->Signal(&signal, Naming<wire::SignalRequest>(elements), &signalled));
    grpc::ClientContext suspend;
    wire::ChangeReply suspended;
    expect_refused(stub->Suspend(&suspend, Naming<wire::SuspendRequest>(elements), &suspended));
  }
}

TEST_F(ManySelectorsTest, EachOfTenThousandIsAnswered) {
  grpc::ClientContext context;
  wire::ChangeReply reply;
  ASSERT_TRUE(Stub()->Hold(&context, Naming<wire::HoldRequest>(10'000), &reply).ok());
  EXPECT_EQ(reply.errors_size(), 10'000);
}

// Under a load that fills the queue: before, answers of one call came on two threads at once.
TEST_F(ManySelectorsTest, ManyCallsAtOnceLeaveTheControllerWhole) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([this] {
      const auto stub = Stub();
      for (int call = 0; call < 4; ++call) {
        grpc::ClientContext context;
        wire::ChangeReply reply;
        const grpc::Status status = stub->Hold(&context, Naming<wire::HoldRequest>(10'000), &reply);
        EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE)
            << status.error_message();
        EXPECT_EQ(reply.errors_size(), status.ok() ? 10'000 : 0);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_TRUE(Jobs().empty());
}

}  // namespace
}  // namespace muster::daemon::testing
