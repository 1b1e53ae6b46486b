#include "daemon/gateway/stream/event_hub.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "proto/controller.grpc.pb.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::uint64_t kNewest = 20'000;  // of the controller's journal
constexpr std::size_t kEventBytes = 400;

// A controller that tells its journal as fast as it is read, and then waits.
class Teller final : public wire::Controller::Service {
 public:
  grpc::Status WatchEvents(grpc::ServerContext* context, const wire::WatchEventsRequest* request,
                           grpc::ServerWriter<wire::WatchEventsReply>* writer) override {
    ++streams;
    std::uint64_t next = request->from() == 0 ? newest + 1 : request->from();
    wire::WatchEventsReply reply;
    reply.set_next(next);
    writer->Write(reply);
    while (next <= newest && !context->IsCancelled()) {
      reply.clear_events();
      for (int i = 0; i < 100 && next <= kNewest; ++i, ++next) {
        wire::EventLine* const line = reply.add_events();
        line->set_number(next);
        line->set_type("muster.job.started");
        line->set_json(std::string(kEventBytes, 'x'));
      }
      reply.set_next(next);
      writer->Write(reply);
      told = next;
    }
    while (!context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (comes.exchange(0) > 0) {
        reply.clear_events();
        reply.add_events()->set_number(next++);
        reply.set_next(next);
        writer->Write(reply);
      }
    }
    return grpc::Status::CANCELLED;
  }

  std::atomic<int> streams = 0;
  std::atomic<int> comes = 0;  // events, from now on
  std::atomic<std::uint64_t> newest = kNewest;
  std::atomic<std::uint64_t> told = 0;
};

// A caller who takes a piece when it is told to.
class Caller final : public http::ReplyPath {
 public:
  void Send(http::Response response) override {
    const MutexLock lock(&mutex_);
    refused_ = response.status;
  }
  void BeginStream(http::Response) override {}
  void Write(Piece piece, std::function<void(bool alive)> done) override {
    const MutexLock lock(&mutex_);
    text_ += *piece;
    last_ = piece;
    for (std::size_t at = piece->find("\ndata: "); at != std::string::npos;
         at = piece->find("\ndata: ", at + 1)) {
      ++events_;
    }
    done_ = std::move(done);
  }
  void End() override {
    const MutexLock lock(&mutex_);
    ended_ = true;
  }

  // As the network does: the piece is on its way, or the caller gone. False: there was none.
  bool Take(bool alive = true) {
    std::function<void(bool)> done;
    {
      const MutexLock lock(&mutex_);
      done = std::exchange(done_, nullptr);
    }
    if (done) {
      done(alive);
    }
    return done != nullptr;
  }
  bool ended() {
    const MutexLock lock(&mutex_);
    return ended_;
  }
  std::size_t events() {
    const MutexLock lock(&mutex_);
    return events_;
  }
  bool writing() {
    const MutexLock lock(&mutex_);
    return done_ != nullptr;
  }
  Piece last() {
    const MutexLock lock(&mutex_);
    return last_;
  }
  // The numbers of the events that came.
  std::vector<std::uint64_t> numbers() {
    const MutexLock lock(&mutex_);
    std::vector<std::uint64_t> numbers;
    for (const auto block : absl::StrSplit(text_, "\n\n", absl::SkipEmpty())) {
      std::uint64_t number = 0;
      if (block.find("\ndata: ") != std::string_view::npos &&
          absl::SimpleAtoi(block.substr(4, block.find('\n') - 4), &number)) {
        numbers.push_back(number);
      }
    }
    return numbers;
  }

 private:
  Mutex mutex_;
  std::size_t events_ ABSL_GUARDED_BY(mutex_) = 0;
  Piece last_ ABSL_GUARDED_BY(mutex_);
  std::string text_ ABSL_GUARDED_BY(mutex_);
  std::function<void(bool)> done_ ABSL_GUARDED_BY(mutex_);
  unsigned refused_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

class EventHubTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string address = "unix:" + (directory_ / "socket");
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&teller_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    link_ = ControllerLink::Open(address, "").value();
    hub_ = std::make_unique<EventHub>(*link_, [](const grpc::Status&) {
      return http::Response{503, "", "", {}};
    });
  }
  void TearDown() override {
    for (const auto& caller : callers_) {
      caller->Take(false);
    }
    link_->Close();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  std::shared_ptr<Caller> Read(std::uint64_t from) {
    wire::WatchEventsRequest request;
    request.set_follow(true);
    request.set_from(from);
    callers_.push_back(std::make_shared<Caller>());
    hub_->Serve(request, "token", callers_.back());
    return callers_.back();
  }
  static bool Await(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done();
  }

  const TempDirectory directory_;
  Teller teller_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControllerLink> link_;
  std::unique_ptr<EventHub> hub_;
  std::vector<std::shared_ptr<Caller>> callers_;
};

// The controller told him the whole journal at once, he fell out of the ring before his first
// piece was on its way, and so he did each time that he came back.
TEST_F(EventHubTest, AReaderFarBehindGetsEveryEventInOrderHoweverSlowlyHeTakesThem) {
  const auto reader = Read(1);
  ASSERT_TRUE(Await([&] { return reader->writing(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // what the controller would tell
  ASSERT_TRUE(Await([&] {
    reader->Take();
    return reader->ended() || reader->events() >= kNewest;
  }));
  EXPECT_FALSE(reader->ended());
  const std::vector<std::uint64_t> numbers = reader->numbers();
  ASSERT_EQ(numbers.size(), kNewest);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(numbers[i], i + 1);
  }
}

TEST_F(EventHubTest, OfAReaderWhoTakesNothingNoMoreIsReadThanTheRingHolds) {
  teller_.newest = 20 * kNewest;
  const auto reader = Read(1);
  ASSERT_TRUE(Await([&] { return reader->writing() && teller_.told > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // Besides the ring, gRPC has some in its own windows.
  EXPECT_LT(teller_.told, teller_.newest / 4);
  reader->Take(false);
  EXPECT_EQ(teller_.streams, 1);
}

TEST_F(EventHubTest, ReadersOfWhatComesShareOneStream) {
  const auto first = Read(0);
  const auto second = Read(0);
  ASSERT_TRUE(Await([&] { return first->writing() && second->writing(); }));
  EXPECT_EQ(teller_.streams, 1);
}

TEST_F(EventHubTest, ReadersAtTheSamePlaceAreGivenTheSamePiece) {
  const auto first = Read(0);
  const auto second = Read(0);
  ASSERT_TRUE(Await([&] { return first->writing() && second->writing(); }));
  first->Take();
  second->Take();
  teller_.comes = 1;
  ASSERT_TRUE(Await([&] { return first->writing() && second->writing(); }));
  EXPECT_EQ(first->last(), second->last());
  EXPECT_EQ(first->numbers(), std::vector<std::uint64_t>{kNewest + 1});
}

}  // namespace
}  // namespace muster::daemon
