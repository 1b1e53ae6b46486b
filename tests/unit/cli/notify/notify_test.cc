#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/notify/deliveries.h"
#include "cli/notify/http_post.h"
#include "cli/notify/mail.h"
#include "cli/notify/news_desk.h"
#include "cli/notify/notifier.h"
#include "cli/notify/notifier_config.h"
#include "cli/notify/notifier_state.h"
#include "scheduler/runtime/signals.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Time kNow(std::chrono::hours(500'000));

std::string Event(const std::string& type, const std::string& more) {
  return R"({"specversion":"1.0","type":")" + type +
         R"(","data":{"job":7,"label":"7","name":"train","user":"ada")" + more + "}}";
}

class NewsDeskTest : public ::testing::Test {
 protected:
  NotifierState state_;
  std::vector<JobView> live_;
  std::vector<JobView> ended_;
  std::vector<JobId> asked_;
  JobDetail detail_;
  NewsDesk desk_{{.show = [this](JobId) { return absl::StatusOr<JobDetail>(detail_); },
                  .live = [this](JobId) { return absl::StatusOr<std::vector<JobView>>(live_); },
                  .ended = [this](JobId) { return absl::StatusOr<std::vector<JobView>>(ended_); },
                  .waiting =
                      [this](std::vector<JobId> jobs) {
                        asked_ = std::move(jobs);
                        return absl::StatusOr<std::vector<JobView>>(live_);
                      }},
                 state_};
};

TEST_F(NewsDeskTest, AnEndIsToldAsItWasAskedFor) {
  const auto told = desk_.Hear(5, Event("muster.job.ended", R"(,"state":"FAILED","exit_code":3,
      "notices":["mail-type=FAIL"])"),
                               kNow);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].news, News::kFail);
  EXPECT_EQ(told[0].asked.mail_to, "ada");
  EXPECT_EQ(told[0].subject, "job 7 train has ended: FAILED, exit code 3");
  EXPECT_TRUE(desk_
                  .Hear(6, Event("muster.job.ended", R"(,"state":"COMPLETED",
      "notices":["mail-type=FAIL"])"),
                        kNow)
                  .empty());
  EXPECT_TRUE(desk_.Hear(7, Event("muster.job.ended", R"(,"state":"FAILED")"), kNow).empty());
  EXPECT_EQ(desk_
                .Hear(8, Event("muster.job.ended", R"(,"state":"TIMEOUT",
      "notices":["mail-type=TIME_LIMIT"])"),
                      kNow)
                .at(0)
                .news,
            News::kTimeLimit);
  EXPECT_EQ(
      desk_
          .Hear(9, Event("muster.job.ended", R"(,"state":"CANCELLED","text":"its dependency never",
      "notices":["mail-type=INVALID_DEPEND"])"),
                kNow)
          .at(0)
          .news,
      News::kInvalidDepend);
  EXPECT_TRUE(desk_.Hear(10, "nonsense", kNow).empty());
}

TEST_F(NewsDeskTest, AnArrayIsToldOfAsAWhole) {
  const std::string more = R"(,"array_job":5,"notices":["mail-type=BEGIN,END"])";
  EXPECT_EQ(desk_.Hear(1, Event("muster.job.started", more), kNow).size(), 1U);
  EXPECT_TRUE(desk_.Hear(2, Event("muster.job.started", more), kNow).empty());
  live_.resize(1);
  EXPECT_TRUE(
      desk_.Hear(3, Event("muster.job.ended", R"(,"state":"COMPLETED")" + more), kNow).empty());
  live_.clear();
  ended_.resize(3);
  ended_[0].state = ended_[1].state = "COMPLETED";
  ended_[2].state = "FAILED";
  ended_[2].label = "5_2";
  const auto told =
      desk_.Hear(4, Event("muster.job.ended", R"(,"state":"COMPLETED")" + more), kNow);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].subject, HasSubstr("2 COMPLETED, 1 FAILED"));
  EXPECT_THAT(told[0].text, HasSubstr("5_2"));
  EXPECT_EQ(state_.arrays, (std::set<std::string>{"5 END"})) << "and is not told again";
  const std::string each =
      R"(,"array_job":5,"state":"COMPLETED","notices":["mail-type=END,ARRAY_TASKS"])";
  EXPECT_EQ(desk_.Hear(5, Event("muster.job.ended", each), kNow).size(), 1U);
}

TEST_F(NewsDeskTest, SharesOfTheTimeLimitAreToldOnce) {
  desk_.Hear(1,
             Event("muster.job.started", R"(,"notices":["mail-type=TIME_LIMIT_50,TIME_LIMIT_80"])"),
             kNow);
  detail_.job.label = "7";
  detail_.job.start_time = kNow;
  detail_.job.time_limit = std::chrono::minutes(10);
  detail_.recorded = {"mail-type=TIME_LIMIT_50,TIME_LIMIT_80"};
  EXPECT_TRUE(desk_.LookAtClocks(kNow + std::chrono::minutes(4)).empty());
  EXPECT_EQ(desk_.LookAtClocks(kNow + std::chrono::minutes(6)).at(0).news, News::kTimeLimit50);
  EXPECT_TRUE(desk_.LookAtClocks(kNow + std::chrono::minutes(7)).empty());
  EXPECT_EQ(desk_.LookAtClocks(kNow + std::chrono::minutes(9)).at(0).news, News::kTimeLimit80);
  desk_.Hear(
      2, Event("muster.job.ended", R"(,"state":"COMPLETED","notices":["mail-type=TIME_LIMIT_50"])"),
      kNow);
  EXPECT_TRUE(state_.watched.empty());
}

TEST_F(NewsDeskTest, SharesOfTheTimeLimitAreToldOnceOfAWholeArray) {
  for (int element = 1; element <= 2; ++element) {
    const std::string kinds =
        R"(,"array_job":5,"notices":["mail-type=TIME_LIMIT_50"],"job":)" + std::to_string(element);
    desk_.Hear(static_cast<std::uint64_t>(element), Event("muster.job.started", kinds), kNow);
  }
  detail_.job.label = "5_1";
  detail_.job.array_job_id = JobId(5);
  detail_.job.array_task_id = "1";
  detail_.job.start_time = kNow;
  detail_.job.time_limit = std::chrono::minutes(10);
  detail_.recorded = {"mail-type=TIME_LIMIT_50"};
  EXPECT_EQ(desk_.LookAtClocks(kNow + std::chrono::minutes(6)).size(), 1U);
  detail_.recorded = {"mail-type=TIME_LIMIT_50,ARRAY_TASKS"};
  state_.watched.clear();
  state_.watched[1] = {};
  state_.watched[2] = {};
  EXPECT_EQ(desk_.LookAtClocks(kNow + std::chrono::minutes(7)).size(), 2U);
}

TEST_F(NewsDeskTest, ADependencyThatCanNeverBeMetIsToldOnceWhileTheJobWaits) {
  const std::string kinds = R"(,"notices":["mail-type=INVALID_DEPEND"])";
  EXPECT_TRUE(desk_.LookAtDependencies().empty());
  EXPECT_TRUE(desk_.Hear(1, Event("muster.job.submitted", kinds), kNow).empty());
  live_.resize(1);
  live_[0].id = live_[0].array_job_id = JobId(7);
  live_[0].label = "7";
  live_[0].reason.kind = "Dependency";
  detail_.recorded = {"mail-type=INVALID_DEPEND"};
  EXPECT_TRUE(desk_.LookAtDependencies().empty());
  EXPECT_EQ(asked_, std::vector{JobId(7)});
  live_[0].reason = {"DependencyNeverSatisfied", "afterok:6 never", true};
  const auto told = desk_.LookAtDependencies();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].news, News::kInvalidDepend);
  EXPECT_THAT(told[0].text, HasSubstr("afterok:6 never"));
  EXPECT_TRUE(desk_.LookAtDependencies().empty()) << "it is told once";
  live_.clear();
  EXPECT_TRUE(desk_.LookAtDependencies().empty());
  const std::string end = R"(,"state":"CANCELLED","text":"its dependency can no longer be met")";
  EXPECT_TRUE(desk_.Hear(2, Event("muster.job.ended", end + kinds), kNow).empty())
      << "nor at its end";
  EXPECT_TRUE(desk_.LookAtDependencies().empty());
  EXPECT_TRUE(state_.waits.empty());
}

TEST_F(NewsDeskTest, NoDependencyIsWatchedOfAJobThatWaitsNoMoreOrDidNotAsk) {
  desk_.Hear(1, Event("muster.job.submitted", R"(,"notices":["mail-type=END"])"), kNow);
  EXPECT_TRUE(state_.waits.empty());
  desk_.Hear(1, Event("muster.job.submitted", R"(,"notices":["mail-type=ALL"])"), kNow);
  EXPECT_EQ(state_.waits.size(), 1U);
  EXPECT_TRUE(desk_.LookAtDependencies().empty());
  EXPECT_TRUE(state_.waits.empty());
}

TEST(MailTest, NoNameMakesAHeader) {
  const std::string text =
      MailText({"muster", "ada", "job \nBcc: eve\xff ü🙂", "body\n.\n", "here.1"}, kNow);
  const std::string head = text.substr(0, text.find("\n\n"));
  EXPECT_THAT(head, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(head, HasSubstr("Subject: =?UTF-8?B?"));
  EXPECT_THAT(head, HasSubstr("Message-ID: <here.1@muster>"));
  for (const char letter : text) {
    EXPECT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~'));
  }
}

TEST(MailTest, TheMachinesSendmailGetsItOnItsInput) {
  const TempDirectory directory;
  const std::string program = directory / "sendmail";
  std::ofstream(program) << "#!/bin/sh\necho \"$@\" >" << (directory / "args") << "\ncat >"
                         << (directory / "mail") << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Mail mail{"muster", "ada@example.org", "hello", "text", "id"};
  ASSERT_TRUE(SendMail(program, mail, kNow, std::chrono::seconds(20)).ok());
  std::ifstream args(directory / "args");
  std::string line;
  std::getline(args, line);
  EXPECT_EQ(line, "-i -f muster -- ada@example.org");
  IgnoreBrokenPipes();  // as the notifier does: these end without reading
  std::ofstream(program) << "#!/bin/sh\nexit 75\n";
  EXPECT_TRUE(absl::IsUnavailable(SendMail(program, mail, kNow, std::chrono::seconds(20))));
  std::ofstream(program) << "#!/bin/sh\nexit 67\n";
  EXPECT_TRUE(absl::IsInvalidArgument(SendMail(program, mail, kNow, std::chrono::seconds(20))));
}

TEST(MailTest, WhatRefusesALongMessageUnreadIsAskedWhy) {
  const TempDirectory directory;
  const std::string program = directory / "sendmail";
  std::ofstream(program) << "#!/bin/sh\nexec <&-\nexit 67\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  IgnoreBrokenPipes();
  constexpr std::size_t kMoreThanAPipeHolds = 1 << 20;
  const Mail mail{"muster", "ada@example.org", "hello", std::string(kMoreThanAPipeHolds, 'x'),
                  "id"};
  EXPECT_TRUE(absl::IsInvalidArgument(SendMail(program, mail, kNow, std::chrono::seconds(20))));
  std::ofstream(program) << "#!/bin/sh\nexec <&-\nexit 0\n";
  EXPECT_FALSE(SendMail(program, mail, kNow, std::chrono::seconds(20)).ok());
}

TEST(HttpPostTest, PrivateNetworksAreKnown) {
  for (const char* address :
       {"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(IsPrivateAddress(address)) << address;
  }
  for (const char* address :
       {"8.8.8.8", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:8.8.8.8"}) {
    EXPECT_FALSE(IsPrivateAddress(address)) << address;
  }
  StartHttp();
  EXPECT_TRUE(absl::IsInvalidArgument(
      Post({"http://127.0.0.1:9/", "text/plain", "x"}, std::chrono::seconds(5))));
}

TEST(HttpPostTest, EachUsersWebhooksHaveAKeyOfTheirOwn) {
  EXPECT_NE(WebhookKeyOf("site", "ada"), WebhookKeyOf("site", "bob"));
  const auto headers = WebhookHeaders("id", kNow, "body", "key");
  EXPECT_EQ(headers[0].second, "id");
  EXPECT_EQ(headers[1].second, "1800000000");
  EXPECT_THAT(headers[2].second, ::testing::StartsWith("v1,"));
}

TEST(DeliveriesTest, WhatFailsIsTriedAgainAndWhatNeverWorksIsGivenUp) {
  const SystemClock clock;
  const Logger log(clock, STDERR_FILENO, LogLevel::kError, false);
  Deliveries deliveries(log, {std::chrono::milliseconds(1), std::chrono::milliseconds(1)});
  std::atomic<int> late = 0;
  std::atomic<int> never = 0;
  std::atomic<int> wrong = 0;
  deliveries.Add({5, "late", "x", [&late] {
                    return ++late < 3 ? absl::UnavailableError("no") : absl::OkStatus();
                  }});
  deliveries.Add({6, "never", "x", [&never] {
                    ++never;
                    return absl::UnavailableError("no");
                  }});
  deliveries.Add({7, "wrong", "x", [&wrong] {
                    ++wrong;
                    return absl::InvalidArgumentError("no");
                  }});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (deliveries.Oldest().has_value() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(deliveries.Oldest().has_value());
  EXPECT_EQ(late, 3);
  EXPECT_EQ(never, 3);
  EXPECT_EQ(wrong, 1);
}

TEST(NotifierStateTest, IsReadAsItWasWritten) {
  const TempDirectory directory;
  EXPECT_EQ(ReadNotifierState(directory / "none").value(), NotifierState());
  const NotifierState state{
      7, {{3, {50, 80}}, {4, {}}}, {"10 BEGIN"}, {{8, NotifierState::Wait::kTold}}};
  ASSERT_TRUE(WriteNotifierState(directory / "state", state).ok());
  EXPECT_EQ(ReadNotifierState(directory / "state").value(), state);
  std::ofstream(directory / "state") << R"({"next":1,"waits":[[8,3]]})";
  EXPECT_FALSE(ReadNotifierState(directory / "state").ok());
  std::ofstream(directory / "state") << "{";
  EXPECT_FALSE(ReadNotifierState(directory / "state").ok());
}

TEST(NotifierTest, AlertsAreWhatAlertmanagerTakes) {
  Alert alert;
  alert.rule = "NodeSilent";
  alert.severity = "critical";
  alert.subject = alert.node = "n1";
  alert.since = kNow;
  EXPECT_EQ(nlohmann::json::parse(AlertsJson({{alert, kNow}}, "here")), nlohmann::json::parse(R"([{
    "labels":{"alertname":"NodeSilent","severity":"critical","cluster":"here","subject":"n1","node":"n1"},
    "annotations":{"summary":""},"startsAt":"2027-01-15T08:00:00.000Z","endsAt":"2027-01-15T08:00:00.000Z"}])"));
}

TEST(NotifierConfigTest, WantsADirectoryAndNothingThatItDoesNotKnow) {
  const char* none[] = {"muster-notifier"};
  EXPECT_FALSE(ParseNotifierConfig(1, none).ok());
  const char* some[] = {"muster-notifier", "--state", "/x", "--controller", "unix:/c"};
  EXPECT_EQ(ParseNotifierConfig(5, some)->controller, "unix:/c");
}

}  // namespace
}  // namespace muster::cli
