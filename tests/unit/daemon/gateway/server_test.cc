// The HTTP server against real sockets: what it takes, what it refuses, and what a bad caller
// costs.
#include "daemon/gateway/http/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/gateway/http/head.h"
#include "daemon/gateway/http/session.h"

namespace muster::daemon::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kPatienceMs = 20'000;

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    limits_.header_time = std::chrono::seconds(1);
    limits_.idle_time = std::chrono::seconds(1);
    limits_.body_time = std::chrono::seconds(1);
    limits_.body_bytes = 1000;
    limits_.sources.connections = 20;
    limits_.sources.connections_of_a_source = 10;
  }
  void Start() {
    server_ = Server::Create(limits_, std::nullopt,
                             {[this](const Request& head) { return Screen(head); },
                              [this](Request request, std::shared_ptr<ReplyPath> reply) {
                                Serve(std::move(request), std::move(reply));
                              },
                              [this](const Request& head, const Handlers::Verdict& verdict) {
                                Judge(head, verdict);
                              }},
                             clock_)
                  .value();
    UniqueFd socket = ListenTcp("127.0.0.1:0").value();
    const std::string address = AddressOf(socket);
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    ASSERT_TRUE(server_->Listen(std::move(socket)).ok());
    thread_ = std::thread([this] { server_->Run(); });
  }
  void TearDown() override {
    if (server_ != nullptr) {
      server_->Stop();
      thread_.join();
    }
  }

  static std::optional<Response> Screen(const Request& head) {
    return head.path == "/refused" ? std::optional(Problem(401, "UNAUTHENTICATED", "no"))
                                   : std::nullopt;
  }
  void Judge(const Request& head, const Handlers::Verdict& verdict) {
    ++judged_;
    verdict(head.bearer == "good" ? std::nullopt
                                  : std::optional(Problem(401, "UNAUTHENTICATED", "who is that?")));
  }
  void Serve(Request request, std::shared_ptr<ReplyPath> reply) {
    if (request.path == "/dropped") {
      return;
    }
    if (request.path == "/stream") {
      reply->BeginStream({200, "text/event-stream", "", {}});
      auto path = reply.get();
      path->Write(std::make_shared<const std::string>("data: 1\n\n"),
                  [reply = std::move(reply)](bool alive) {
                    EXPECT_TRUE(alive);
                    reply->End();
                  });
      return;
    }
    if (request.path == "/endless") {
      reply->BeginStream({200, "text/event-stream", "", {}});
      More(std::move(reply));
      return;
    }
    reply->Send(
        {200,
         "text/plain",
         absl::StrCat(request.method, " ", request.path, " ", request.bearer, " ", request.body),
         {}});
  }
  void More(std::shared_ptr<ReplyPath> reply) {
    auto* const path = reply.get();
    path->Write(std::make_shared<const std::string>(1 << 20, 'x'),
                [this, reply = std::move(reply)](bool alive) mutable {
                  if (alive) {
                    More(std::move(reply));
                  } else {
                    cut_ = true;
                  }
                });
  }

  UniqueFd Connect() const {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  static void Say(const UniqueFd& fd, const std::string& text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t now = send(fd.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) {
        return;
      }
      sent += static_cast<std::size_t>(now);
    }
  }
  // What comes until the end of the connection, or of our patience.
  static std::string ReadToEnd(const UniqueFd& fd) {
    std::string text;
    std::array<char, 65536> buffer = {};
    while (true) {
      pollfd waits = {fd.get(), POLLIN, 0};
      if (poll(&waits, 1, kPatienceMs) != 1) {
        return text + "\nSTILL OPEN";
      }
      const ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        return text;
      }
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  std::string Ask(const std::string& text) const {
    const UniqueFd fd = Connect();
    Say(fd, text);
    return ReadToEnd(fd);
  }

  ServerLimits limits_;
  const SystemClock clock_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::atomic<bool> cut_ = false;
  std::atomic<int> judged_ = 0;
};

TEST_F(ServerTest, ARequestIsServedAndTheHeadersKeepBrowsersSafe) {
  Start();
  const std::string answer =
      Ask("POST /a?b=c HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t.o.k\r\nContent-Length: 4\r\n"
          "Connection: close\r\n\r\nbody");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("POST /a t.o.k body"));
  EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store"));
  EXPECT_THAT(answer, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(answer, Not(HasSubstr("Access-Control-Allow")));
  EXPECT_THAT(answer, Not(HasSubstr("Set-Cookie")));
}

TEST_F(ServerTest, SeveralRequestsShareAConnectionAndAHeadSendsNoBody) {
  Start();
  const std::string answer =
      Ask("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: x\r\n\r\n"
          "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("GET /1"));
  EXPECT_THAT(answer, Not(HasSubstr("GET /2"))) << "of a HEAD";
  EXPECT_THAT(answer, HasSubstr("GET /3"));
  EXPECT_THAT(Ask("GET /old HTTP/1.0\r\n\r\n"), HasSubstr("GET /old"));
}

TEST_F(ServerTest, AHeadThatTwoReadersCouldReadDifferentlyIsRefused) {
  Start();
  const std::pair<std::string, std::string> wrong[] = {
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       "HTTP/1.1 4"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
       "HTTP/1.1 411"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", "HTTP/1.1 4"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
       "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
       "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nHost: x\r\n folded: 1\r\n\r\n", "HTTP/1.1 4"},
      {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "HTTP/1.1 "},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
      {"GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: \xff\xfe\r\n\r\n", "HTTP/1.1 400"},
      {"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 "},
      {std::string("GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", 35), "HTTP/1.1 400"},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", ""},
  };
  for (const auto& [text, begin] : wrong) {
    const std::string answer = Ask(text);
    EXPECT_THAT(answer, StartsWith(begin)) << text;
    EXPECT_THAT(answer, Not(HasSubstr(" 200 "))) << text;
    EXPECT_THAT(answer, Not(HasSubstr("STILL OPEN"))) << text;
    EXPECT_EQ(answer.find("HTTP/1.1 ", 9), std::string::npos) << "two answers to " << text;
  }
}

TEST_F(ServerTest, WhatIsTooLargeIsRefusedBeforeItIsRead) {
  Start();
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 5000; ++i) {
    many += "a: b\r\n";
  }
  EXPECT_THAT(Ask(many + "\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(Ask("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n" +
                  std::string(900, 'x') + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"),
              Not(HasSubstr("smuggled")));
}

TEST_F(ServerTest, ALargeBodyIsReadOfKnownCallersAlone) {
  limits_.stranger_bytes = 100;
  limits_.sources.large_bytes_of_a_source = 900;
  Start();
  const auto head = [](const std::string& bearer, int length) {
    return absl::StrCat(
        "POST /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ", bearer,
        "\r\nContent-Length: ", length, "\r\n\r\n");
  };
  EXPECT_THAT(Ask(head("bad", 100) + std::string(100, 'x')), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(judged_, 0);
  EXPECT_THAT(Ask(head("bad", 101)), StartsWith("HTTP/1.1 401")) << "before a byte of it came";
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Ask(head("good", 500) + std::string(500, 'x')), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_EQ(judged_, 4);
  const UniqueFd slow = Connect();
  Say(slow, head("good", 500));
  std::string second;
  for (int i = 0; i < 50 && second.find(" 429 ") == std::string::npos; ++i) {
    second = Ask(head("good", 500) + std::string(500, 'x'));
  }
  EXPECT_THAT(second, StartsWith("HTTP/1.1 429")) << "while the slow one's is being read";
  ReadToEnd(slow);
  EXPECT_THAT(Ask(head("good", 500) + std::string(500, 'x')), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, SlowCallersAreLetGo) {
  Start();
  const auto begin = std::chrono::steady_clock::now();
  const UniqueFd silent = Connect();
  const UniqueFd slow_head = Connect();
  const UniqueFd slow_body = Connect();
  Say(slow_body, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n");
  std::thread drips([&] {
    for (int i = 0; i < 100; ++i) {
      Say(slow_head, i == 0 ? "GET / HTTP/1.1\r\nX: " : "a");
      Say(slow_body, "a");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  for (const UniqueFd* fd : {&silent, &slow_head, &slow_body}) {
    EXPECT_EQ(ReadToEnd(*fd), "");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  drips.join();
  EXPECT_THAT(Ask("GET /still HTTP/1.0\r\n\r\n"), HasSubstr("GET /still"));
}

TEST_F(ServerTest, OneSourceHasSoManyConnectionsAndRequests) {
  limits_.header_time = std::chrono::seconds(30);
  limits_.sources.requests_per_second = 1;
  limits_.sources.requests_burst = 5;
  Start();
  {
    std::vector<UniqueFd> open;
    for (int i = 0; i < 10; ++i) {
      open.push_back(Connect());
    }
    EXPECT_EQ(Ask("GET / HTTP/1.0\r\n\r\n"), "") << "the eleventh";
  }
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  std::string answers;
  for (int i = 0; i < 100 && answers.empty(); ++i) {  // until the others' ends were seen
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    answers = Ask(many);
  }
  EXPECT_THAT(answers, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(answers, HasSubstr("HTTP/1.1 429"));
  EXPECT_THAT(answers, HasSubstr("Retry-After: 1"));
}

TEST_F(ServerTest, AnAnswerThatNobodyGivesIsAnError) {
  Start();
  EXPECT_THAT(Ask("GET /dropped HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(Ask("GET /refused HTTP/1.0\r\n\r\n"), HasSubstr("WWW-Authenticate: Bearer"));
}

TEST_F(ServerTest, AStreamComesInPieces) {
  Start();
  const std::string answer = Ask("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\ndata: 1\n\n"));
}

TEST_F(ServerTest, WhoDoesNotReadAStreamIsCutOff) {
  limits_.answer_time = std::chrono::seconds(1);
  Start();
  const UniqueFd fd = Connect();
  Say(fd, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 200 && !cut_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(cut_);
  EXPECT_THAT(Ask("GET /still HTTP/1.0\r\n\r\n"), HasSubstr("GET /still"));
}

TEST(AddressTest, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const char* address : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0:1", "[::]:1", "192.0.2.1:1", "localhost:1", "", ":1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(HeadTest, ASilentCallerGetsNoAnswerAndABadOneDoes) {
  EXPECT_FALSE(AnswerToBadHead(beast::error::timeout).has_value());
  EXPECT_FALSE(AnswerToBadHead(beast::http::error::end_of_stream).has_value());
  EXPECT_EQ(AnswerToBadHead(beast::http::error::header_limit)->status, 431U);
  EXPECT_EQ(AnswerToBadHead(beast::http::error::bad_method)->status, 400U);
}

}  // namespace
}  // namespace muster::daemon::http
