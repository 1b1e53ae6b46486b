#include "cli/run/stream/step_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "cli/run/stream/stdin_pump.h"
#include "cli/run/stream/step_frame.h"
#include "cli/run/stream/step_listener.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

wire::StepFrame Hello(const std::string& token, const std::string& node) {
  wire::StepFrame frame;
  frame.mutable_hello()->set_token(token);
  frame.mutable_hello()->set_node(node);
  return frame;
}

wire::StepFrame Output(std::uint32_t rank, bool error, const std::string& data) {
  wire::StepFrame frame;
  frame.mutable_output()->set_rank(rank);
  frame.mutable_output()->set_error(error);
  frame.mutable_output()->set_data(data);
  return frame;
}

wire::StepFrame Exit(std::uint32_t rank, int code, int signal, const std::string& text = "") {
  wire::StepFrame frame;
  frame.mutable_exit()->set_rank(rank);
  frame.mutable_exit()->set_code(code);
  frame.mutable_exit()->set_signal(signal);
  frame.mutable_exit()->set_text(text);
  return frame;
}

wire::StepFrame Done() {
  wire::StepFrame frame;
  frame.mutable_done();
  return frame;
}

// A session that keeps what it would show.
struct Shown {
  std::string out;
  std::string err;
  std::vector<std::string> lines;
  StepSession session;

  explicit Shown(bool label = false)
      : session(kToken, label,
                {.write = [this](const RankSource&, bool error,
                                 std::string_view b) { (error ? err : out).append(b); },
                 .tell = [this](const std::string& line) { lines.push_back(line); }}) {}
};

TEST(StepFrames, AreCutOutOfAnyStream) {
  std::string stream;
  for (int i = 0; i < 50; ++i) {
    stream += EncodeFrame(Output(static_cast<std::uint32_t>(i), false, std::string(i * 7, 'x')));
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    FrameReader reader;
    std::uint32_t seen = 0;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.Append(std::string_view(stream).substr(at, piece));
      for (auto frame = reader.Next().value(); frame.has_value(); frame = reader.Next().value()) {
        EXPECT_EQ(frame->output().rank(), seen);
        EXPECT_EQ(frame->output().data().size(), seen * 7);
        ++seen;
      }
    }
    EXPECT_EQ(seen, 50U);
    EXPECT_EQ(reader.buffered(), 0U);
  }
}

TEST(StepFrames, AHugeOrBrokenFrameEndsTheStream) {
  FrameReader huge;
  huge.Append(std::string_view("\xff\xff\xff\x7f", 4));
  EXPECT_FALSE(huge.Next().ok());
  FrameReader broken;
  broken.Append(std::string_view("\x03\0\0\0\xff\xff\xff", 7));
  EXPECT_FALSE(broken.Next().ok());
}

TEST(StepIoSession, NothingCountsBeforeTheToken) {
  Shown shown;
  EXPECT_FALSE(shown.session.Take(1, Output(0, false, "x")).ok());
  EXPECT_FALSE(shown.session.Take(1, Hello("wrong", "evil")).ok());
  EXPECT_FALSE(shown.session.Take(1, Hello("", "evil")).ok());
  EXPECT_FALSE(shown.session.Knows(1));
  shown.session.Closed(1);
  EXPECT_FALSE(shown.session.Lost());
  EXPECT_EQ(shown.out, "");
}

TEST(StepIoSession, IsDoneWhenEveryNodeIs) {
  Shown shown;
  ASSERT_TRUE(shown.session.Take(1, Hello(kToken, "node1")).ok());
  ASSERT_TRUE(shown.session.Take(1, Exit(0, 0, 0)).ok());
  ASSERT_TRUE(shown.session.Take(1, Done()).ok());
  EXPECT_FALSE(shown.session.Done()) << "how many nodes there are is not known yet";
  shown.session.Expect(2);
  EXPECT_FALSE(shown.session.Done());
  ASSERT_TRUE(shown.session.Take(2, Hello(kToken, "node2")).ok());
  EXPECT_TRUE(shown.session.AllConnected());
  ASSERT_TRUE(shown.session.Take(2, Exit(1, 3, 0)).ok());
  ASSERT_TRUE(shown.session.Take(2, Done()).ok());
  EXPECT_TRUE(shown.session.Done());
  shown.session.Closed(1);
  shown.session.Closed(2);
  EXPECT_FALSE(shown.session.Lost());
  EXPECT_EQ(shown.session.ExitCode(), 3);
  EXPECT_THAT(shown.lines, ElementsAre("rank 1 on node2: exit code 3"));
}

TEST(StepIoSession, TheHighestCodeWinsAndTheFirstFailureIsTold) {
  Shown shown;
  ASSERT_TRUE(shown.session.Take(1, Hello(kToken, "node1")).ok());
  ASSERT_TRUE(shown.session.Take(1, Exit(2, 0, 9)).ok());
  ASSERT_TRUE(shown.session.Take(1, Exit(0, 200, 0)).ok());
  ASSERT_TRUE(shown.session.Take(1, Exit(1, 0, 0)).ok());
  EXPECT_EQ(shown.session.ExitCode(), 200);
  EXPECT_THAT(shown.lines, ElementsAre("rank 2 on node1: ended by signal 9"));
}

TEST(StepIoSession, ARankThatCouldNotStartFails) {
  Shown shown;
  ASSERT_TRUE(shown.session.Take(1, Hello(kToken, "node1")).ok());
  ASSERT_TRUE(shown.session.Take(1, Exit(0, 0, 0, "cannot start\n\x1b[2J")).ok());
  EXPECT_EQ(shown.session.ExitCode(), 1);
  EXPECT_THAT(shown.lines[0], HasSubstr("cannot start\\n\\x1b[2J"));
}

TEST(StepIoSession, ALostNodeIsNamed) {
  Shown shown;
  shown.session.Expect(1);
  ASSERT_TRUE(shown.session.Take(1, Hello(kToken, "node1")).ok());
  shown.session.Closed(1);
  EXPECT_TRUE(shown.session.Done());
  EXPECT_TRUE(shown.session.Lost());
  EXPECT_THAT(shown.session.LostText(), HasSubstr("lost the connection to node1"));
}

TEST(StepIoSession, LabelsGoBeforeWholeLines) {
  Shown shown(/*label=*/true);
  ASSERT_TRUE(shown.session.Take(1, Hello(kToken, "node1")).ok());
  ASSERT_TRUE(shown.session.Take(1, Output(0, false, "a\nb")).ok());
  ASSERT_TRUE(shown.session.Take(1, Output(1, false, "other\n")).ok());
  ASSERT_TRUE(shown.session.Take(1, Output(0, true, "err\n")).ok());
  ASSERT_TRUE(shown.session.Take(1, Output(0, false, "c\n\nend")).ok());
  EXPECT_EQ(shown.out, "0: a\n1: other\n0: bc\n0: \n");
  EXPECT_EQ(shown.err, "0: err\n");
  shown.session.Flush();
  EXPECT_EQ(shown.out, "0: a\n1: other\n0: bc\n0: \n0: end\n");
}

// A supervisor's end of the wire, blocking.
class Supervisor {
 public:
  explicit Supervisor(const std::string& address) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, address.c_str() + std::strlen("unix:"));
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  }
  void Send(const wire::StepFrame& frame) {
    const std::string bytes = EncodeFrame(frame);
    EXPECT_EQ(send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // The next frame, or nothing when the client closed.
  std::optional<wire::StepFrame> Receive() {
    for (;;) {
      auto frame = reader_.Next().value();
      if (frame.has_value()) {
        return frame;
      }
      char buffer[4096];
      const ssize_t got = read(fd_.get(), buffer, sizeof(buffer));
      if (got <= 0) {
        return std::nullopt;
      }
      reader_.Append(std::string_view(buffer, static_cast<std::size_t>(got)));
    }
  }

 private:
  UniqueFd fd_;
  FrameReader reader_;
};

// The same by TCP from this machine, with nothing but bytes.
class TcpCaller {
 public:
  explicit TcpCaller(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  }
  void Send(const std::string& bytes) {
    EXPECT_EQ(send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What comes until the listener closes.
  std::string ReceiveAll() {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(fd_.get(), buffer, sizeof(buffer))) > 0;) {
      all.append(buffer, static_cast<std::size_t>(got));
    }
    return all;
  }
  // What is there after a moment, which something is to come in.
  std::string Receive() {
    char buffer[4096];
    const ssize_t got = read(fd_.get(), buffer, sizeof(buffer));
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

 private:
  UniqueFd fd_;
};

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = EventLoop::Create().value();
    listener_ = StepListener::ListenUnix(*loop_, directory_.path()).value();
    shown_.session.Expect(1);
    ASSERT_TRUE(listener_->Start(&shown_.session, [this] { changed_(); }).ok());
    // A test that hangs ends here, and fails for what it did not see.
    loop_->RunAfter(std::chrono::seconds(20), [this] { loop_->Stop(); });
  }
  void RunUntilDone() {
    changed_ = [this] {
      if (shown_.session.Done()) {
        loop_->Stop();
      }
    };
    ASSERT_TRUE(loop_->Run().ok());
  }

  void ListenByTcp() {
    listener_ = StepListener::ListenTcp(*loop_).value();
    ASSERT_TRUE(listener_->Start(&shown_.session, [this] { changed_(); }).ok());
  }

  const TempDirectory directory_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<StepListener> listener_;
  Shown shown_;
  std::function<void()> changed_ = [] {};
};

TEST_F(ListenerTest, CarriesOutputAndTheEnd) {
  Supervisor supervisor(listener_->address());
  supervisor.Send(Hello(kToken, "node1"));
  supervisor.Send(Output(0, false, "hello\n"));
  supervisor.Send(Exit(0, 4, 0));
  supervisor.Send(Done());
  RunUntilDone();
  EXPECT_EQ(shown_.out, "hello\n");
  EXPECT_EQ(shown_.session.ExitCode(), 4);
}

TEST_F(ListenerTest, HearsTheEndFromASupervisorThatIsGoneWithInputUnread) {
  auto supervisor = std::make_unique<Supervisor>(listener_->address());
  supervisor->Send(Hello(kToken, "node1"));
  changed_ = [&] {
    if (!shown_.session.AllConnected() || supervisor == nullptr) {
      return;
    }
    wire::StepFrame input;
    input.mutable_input()->set_data(std::string(32768, 'i'));
    for (int i = 0; i < 64; ++i) {
      listener_->SendToAll(input);
    }
    ASSERT_TRUE(listener_->WritesPending());
    supervisor->Send(Output(0, false, std::string(100000, 'o')));
    supervisor->Send(Exit(0, 4, 0));
    supervisor->Send(Done());
    supervisor.reset();
    loop_->Post([this] {
      changed_ = [this] {
        if (shown_.session.Done()) {
          loop_->Stop();
        }
      };
    });
  };
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(shown_.out.size(), 100000U);
  EXPECT_FALSE(shown_.session.Lost());
  EXPECT_EQ(shown_.session.ExitCode(), 4);
}

TEST_F(ListenerTest, InputThatNobodyTakesIsNotRead) {
  const std::string path = directory_ / "input";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(20'000'000, 'i')).ok());
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  StdinPump pump(*loop_, file.get(), *listener_);
  Supervisor supervisor(listener_->address());
  supervisor.Send(Hello(kToken, "node1"));
  std::thread reader([&] {
    EXPECT_TRUE(supervisor.Receive()->input().stops());
    wire::StepFrame closed;
    closed.mutable_input_closed();
    supervisor.Send(closed);
    while (supervisor.Receive().has_value()) {
    }
  });
  loop_->RunAfter(std::chrono::milliseconds(300), [this] { loop_->Stop(); });
  changed_ = [this, &pump] {
    if (shown_.session.AllConnected()) {
      pump.Start();
    }
  };
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_FALSE(listener_->TakesInput());
  EXPECT_LT(lseek(file.get(), 0, SEEK_CUR), 20'000'000);
  listener_.reset();
  reader.join();
}

TEST_F(ListenerTest, ClosesAStrangerAndServesTheRightOne) {
  Supervisor stranger(listener_->address());
  stranger.Send(Hello("00000000000000000000000000000000", "evil"));
  Supervisor supervisor(listener_->address());
  supervisor.Send(Hello(kToken, "node1"));
  supervisor.Send(Done());
  RunUntilDone();
  EXPECT_FALSE(stranger.Receive().has_value());
  EXPECT_TRUE(shown_.session.Done());
}

TEST_F(ListenerTest, ItsSocketIsPrivateAndGoesWithIt) {
  const std::string path = listener_->address().substr(5);
  const std::string home = path.substr(0, path.rfind('/'));
  struct stat info = {};
  ASSERT_EQ(stat(home.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  listener_.reset();
  EXPECT_NE(stat(home.c_str(), &info), 0);
}

TEST_F(ListenerTest, InputReachesTheSupervisorWholeWithItsEnd) {
  // A file, which epoll cannot watch, larger than what may be queued.
  const std::string path = directory_ / "input";
  std::string content;
  for (int i = 0; i < 300'000; ++i) {
    content += std::to_string(i) + "\n";
  }
  ASSERT_TRUE(WriteFileAtomically(path, content).ok());
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  StdinPump pump(*loop_, file.get(), *listener_);
  Supervisor supervisor(listener_->address());
  supervisor.Send(Hello(kToken, "node1"));
  std::string received;
  std::thread reader([&] {
    for (auto frame = supervisor.Receive(); frame.has_value(); frame = supervisor.Receive()) {
      if (frame->input().data().empty()) {
        break;
      }
      received += frame->input().data();
    }
    supervisor.Send(Done());
  });
  changed_ = [this, &pump] {
    if (shown_.session.AllConnected()) {
      pump.Start();
    }
    if (shown_.session.Done()) {
      loop_->Stop();
    }
  };
  ASSERT_TRUE(loop_->Run().ok());
  reader.join();
  EXPECT_EQ(received.size(), content.size());
  EXPECT_TRUE(received == content);
}

TEST_F(ListenerTest, ByTcpAllIsSealed) {
  ListenByTcp();
  TcpCaller caller(listener_->address());
  std::string said;
  SealedStream seal = SealedStream::Call(kToken, &said).value();
  said += seal.Seal(EncodeFrame(Hello(kToken, "node1"))).value();
  said += seal.Seal(EncodeFrame(Output(0, false, "hello\n"))).value();
  EXPECT_EQ(said.find(kToken), std::string::npos);
  caller.Send(said);
  changed_ = [&] {
    if (shown_.session.AllConnected()) {
      loop_->Stop();
    }
  };
  ASSERT_TRUE(loop_->Run().ok());
  wire::StepFrame input;
  input.mutable_input()->set_data("typed in");
  listener_->SendToAll(input);
  const std::string answer = caller.Receive();
  EXPECT_EQ(answer.find("typed in"), std::string::npos);
  std::string plain;
  ASSERT_TRUE(seal.Open(answer, &plain).ok());
  EXPECT_NE(plain.find("typed in"), std::string::npos);
  caller.Send(seal.Seal(EncodeFrame(Done())).value());
  RunUntilDone();
  EXPECT_EQ(shown_.out, "hello\n");
}

TEST_F(ListenerTest, ByTcpNobodyIsTakenWhoShowsTheTokenInTheClearOrPlaysAStreamAgain) {
  ListenByTcp();
  TcpCaller plain(listener_->address());
  plain.Send(EncodeFrame(Hello(kToken, "node1")));
  TcpCaller caller(listener_->address());
  std::string said;
  SealedStream seal = SealedStream::Call(kToken, &said).value();
  said += seal.Seal(EncodeFrame(Hello(kToken, "node1"))).value();
  caller.Send(said);
  changed_ = [&] {
    if (shown_.session.AllConnected()) {
      loop_->Stop();
    }
  };
  ASSERT_TRUE(loop_->Run().ok());
  TcpCaller again(listener_->address());
  again.Send(said);
  caller.Send(seal.Seal(EncodeFrame(Done())).value());
  RunUntilDone();
  std::thread turns([this] { EXPECT_TRUE(loop_->Run().ok()); });
  EXPECT_EQ(plain.ReceiveAll(), "");
  EXPECT_EQ(again.ReceiveAll(), "");
  loop_->Post([this] { loop_->Stop(); });
  turns.join();
  EXPECT_EQ(shown_.session.ExitCode(), 0);
}

TEST_F(ListenerTest, StrangersBeyondTheLimitWaitUntilThereIsRoom) {
  std::vector<std::unique_ptr<Supervisor>> strangers;
  for (std::size_t i = 0; i < StepListener::kStrangersMax; ++i) {
    strangers.push_back(std::make_unique<Supervisor>(listener_->address()));
    if (i % 64 == 63) {  // as many as the kernel queues
      loop_->RunAfter(std::chrono::milliseconds(1), [this] { loop_->Stop(); });
      ASSERT_TRUE(loop_->Run().ok());
    }
  }
  Supervisor supervisor(listener_->address());
  supervisor.Send(Hello(kToken, "node1"));
  supervisor.Send(Done());
  loop_->RunAfter(std::chrono::milliseconds(50), [this] { loop_->Stop(); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_FALSE(shown_.session.Done());
  strangers.front().reset();
  RunUntilDone();
  EXPECT_TRUE(shown_.session.Done());
}

}  // namespace
}  // namespace muster::cli
