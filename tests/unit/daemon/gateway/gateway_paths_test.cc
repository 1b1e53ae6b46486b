// Which path is what, and what is answered before anybody is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "absl/strings/str_replace.h"
#include "daemon/gateway/gateway.h"
#include "daemon/gateway/http/message.h"
#include "daemon/gateway/page/page_files.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using http::Request;
using http::Response;
using ::testing::HasSubstr;
using ::testing::Not;

// Keeps the answer.
class KeptAnswer final : public http::ReplyPath {
 public:
  explicit KeptAnswer(Response& kept) : kept_(kept) {}
  void Send(Response response) override { kept_ = std::move(response); }
  void BeginStream(Response head) override { kept_ = std::move(head); }
  void Write(Piece piece, std::function<void(bool)> done) override {
    kept_.body += *piece;
    done(true);
  }
  void End() override {}

 private:
  Response& kept_;
};

class GatewayPathsTest : public ::testing::Test {
 protected:
  // The answer, made without a controller, or by the screen alone.
  Response Ask(const std::string& method, const std::string& path, const std::string& bearer = "",
               const std::string& body = "", const std::string& type = "application/json") {
    Request request{method, path, {}, bearer, type, "", "", body, body.size()};
    if (std::optional<Response> screened = gateway_.Screen(request)) {
      return *std::move(screened);
    }
    Response answer{0, "", "", {}};
    gateway_.Serve(std::move(request), std::make_shared<KeptAnswer>(answer));
    return answer;
  }

  const SystemClock clock_;
  const TempDirectory directory_;
  const std::unique_ptr<ControllerLink> link_ =
      ControllerLink::Open("unix:" + (directory_ / "nobody"), "").value();
  WebSessions sessions_{"", clock_};
  Gateway gateway_{*link_, sessions_, "1.2.3"};
};

TEST_F(GatewayPathsTest, WhatNeedsATokenIsRefusedByItsHead) {
  for (const char* path : {"/v1/jobs", "/v1/Submit", "/v1/nothing", "/v1/", "/metrics"}) {
    for (const char* bearer : {"", "web_unknown"}) {
      EXPECT_EQ(Ask("GET", path, bearer).status, 401U) << path;
      EXPECT_EQ(Ask("POST", path, bearer, "{}").status, 401U) << path;
    }
  }
}

TEST_F(GatewayPathsTest, WhatNeedsNoneIsServed) {
  EXPECT_EQ(Ask("GET", "/livez").body, "ok\n");
  EXPECT_EQ(Ask("GET", "/readyz").status, 503U) << "there is no controller";
  EXPECT_THAT(Ask("GET", "/v1/openapi.json").body, HasSubstr("\"version\": \"1.2.3\""));
  for (const PageFile& file : PageFiles()) {
    EXPECT_EQ(Ask("GET", file.path).body, file.text) << file.path;
    EXPECT_EQ(Ask("POST", file.path).status, 405U) << file.path;
  }
  EXPECT_EQ(Ask("POST", "/livez").status, 405U);
  EXPECT_EQ(Ask("GET", "/session").status, 405U);
}

TEST_F(GatewayPathsTest, ThePageTakesNothingFromElsewhereAndHasNothingInline) {
  for (const PageFile& file : PageFiles()) {
    EXPECT_GT(file.text.size(), 100U) << file.path;
    // The name of SVG's language is no address.
    const std::string text =
        absl::StrReplaceAll(std::string(file.text), {{"\"http://www.w3.org/2000/svg\"", ""}});
    EXPECT_THAT(text, Not(HasSubstr("http://"))) << file.path;
    EXPECT_THAT(std::string(file.text), Not(HasSubstr("https://"))) << file.path;
    EXPECT_THAT(std::string(file.text), Not(HasSubstr("innerHTML"))) << file.path;
    EXPECT_THAT(std::string(file.text), Not(HasSubstr(" style="))) << file.path;
    EXPECT_THAT(text, Not(HasSubstr(" onclick=\""))) << file.path;
    if (!std::string(file.path).ends_with(".js")) {  // a module's key "onclick" is a listener
      EXPECT_THAT(text, Not(HasSubstr("onclick"))) << file.path;
    }
  }
}

TEST_F(GatewayPathsTest, AWrongRequestIsToldWhatIsRight) {
  EXPECT_EQ(Ask("GET", "/nothing").status, 404U);
  EXPECT_EQ(Ask("GET", "/v1/nothing", "a.b.c").status, 404U);
  const Response method = Ask("DELETE", "/v1/jobs/7", "a.b.c");
  EXPECT_EQ(method.status, 405U);
  EXPECT_EQ(method.headers, (http::Pairs{{"Allow", "GET"}}));
  EXPECT_EQ(Ask("POST", "/v1/Cancel", "a.b.c", "x", "text/plain").status, 415U);
  EXPECT_EQ(Ask("POST", "/v1/Cancel", "a.b.c", "{").status, 400U);
  for (const char* body : {"", "{}", "[]", R"({"code":7})", "{"}) {
    EXPECT_EQ(Ask("POST", "/session", "", body).status, 400U) << body;
  }
  EXPECT_EQ(Ask("POST", "/session", "", R"({"code":"abcdefghijklmnopqrstuvwxyz"})").status, 401U);
}

TEST_F(GatewayPathsTest, ACodeThatNestsDeepIsRefusedAndEndsNothing) {
  const auto nested = [](std::size_t depth) {
    return R"({"code":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(Ask("POST", "/session", "", nested(1'000)).status, 400U);
  EXPECT_EQ(Ask("POST", "/session", "", nested(100'000)).status, 413U);
  Request unscreened{"POST", "/session", {}, "", "application/json", "", "", nested(1'000'000)};
  Response answer{0, "", "", {}};
  gateway_.Serve(unscreened, std::make_shared<KeptAnswer>(answer));
  EXPECT_EQ(answer.status, 400U) << "what the screen lets through is safe, too";
}

TEST(ProblemTest, AStatusKeepsItsNameAndItsLine) {
  const Response problem = ProblemOf({grpc::StatusCode::PERMISSION_DENIED, "not \"yours\""});
  EXPECT_EQ(problem.status, 403U);
  EXPECT_EQ(problem.type, "application/problem+json");
  EXPECT_THAT(problem.body, HasSubstr(R"("code":"PERMISSION_DENIED")"));
  EXPECT_THAT(problem.body, HasSubstr(R"(not \"yours\")"));
  EXPECT_EQ(ProblemOf({grpc::StatusCode::UNAVAILABLE, ""}).status, 503U);
  EXPECT_EQ(ProblemOf({grpc::StatusCode::DATA_LOSS, ""}).status, 500U);
}

}  // namespace
}  // namespace muster::daemon
