#include "daemon/serve/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "daemon/serve/config.h"
#include "scheduler/model/policy/policy_text.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

class SilentDoor : public AgentGateway {
 public:
  void Send(NodeId, const Order&) override {}
  void CloseAll() override {}
  std::vector<LoseAgent> TakeExpired() override { return {}; }
};

class PolicyFileTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void TearDown() override { controller_.reset(); }

  void Open() {
    controller_.reset();
    store_.reset();
    auto store = JobStore::Open(directory_.path() + "/state");
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    controller_ = std::make_unique<Controller>(*store_, door_, clock_, log_,
                                               Controller::Setting{SchedulerConfig(), "test", {}});
    const absl::Status started = controller_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  // Makes the text the configuration; what the controller says to it.
  std::string Apply(const std::string& text) {
    const std::string path = directory_ / "m.toml";
    std::ofstream(path) << text;
    const absl::Status status = ApplyPolicyFile(path, *controller_, User{0, 0, "root"});
    const std::string said(status.message());
    return said.rfind(directory_.path(), 0) == 0 ? said.substr(directory_.path().size() + 1) : said;
  }
  SitePolicy Book() {
    std::promise<SitePolicy> promise;
    controller_->Look([&](const StateView& snapshot) -> Controller::Reply {
      return [&promise, site = snapshot.state().policy().site()](const absl::Status&) {
        promise.set_value(site);
      };
    });
    return promise.get_future().get();
  }

  TempDirectory directory_;
  SilentDoor door_;
  SystemClock clock_;
  Logger log_ = Logger::ToStandardError(clock_);
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<Controller> controller_;
};

constexpr const char* kGood = R"(
[qos.high]
priority = 100
max_tres_per_user = "cpu=64,gres/gpu=2"
[partition.debug]
nodes = "n[1-2]"
default = true
max_time = "1h"
allow_qos = ["high", "normal"]
[account.physics]
fairshare = 10
[account.theory]
parent = "physics"
[user.ada]
accounts = ["physics", "theory"]
default_account = "theory"
max_jobs = 20
[reservation.upgrade]
duration = "4h"
start_time = "2030-01-31T08:00:00Z"
nodes = "ALL"
flags = ["MAINT", "IGNORE_JOBS"]
)";

TEST_F(PolicyFileTest, EveryTableBecomesAnObjectAndStaysAfterARestart) {
  ASSERT_EQ(Apply(kGood), "");
  const SitePolicy site = Book();
  EXPECT_EQ(FindQos(site, "high")->priority, 100U);
  EXPECT_TRUE(FindPartition(site, "debug")->is_default);
  EXPECT_EQ(FindAccount(site, "theory")->parent, "physics");
  EXPECT_TRUE(FindAssociation(site, "theory", "ada")->is_default);
  EXPECT_EQ(FindAssociation(site, "physics", "ada")->limits.max_jobs, 20U);
  EXPECT_EQ(FindReservation(site, "upgrade")->end - FindReservation(site, "upgrade")->start,
            std::chrono::hours(4));
  Open();
  EXPECT_EQ(Book(), site);
  const auto history = store_->ReadPolicyHistory(100);
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->size(), 7U);
  ASSERT_EQ(Apply(kGood), "");
  EXPECT_EQ(store_->ReadPolicyHistory(100)->size(), 7U) << "the same again changes nothing";
}

TEST_F(PolicyFileTest, NonsenseIsRefusedWithItsLineAndTheOldStaysInForce) {
  ASSERT_EQ(Apply("[qos.high]\npriority = 7\n"), "");
  const SitePolicy before = Book();
  const std::vector<std::pair<std::string, std::string>> nonsense = {
      {"[qos.high]\npriority = -1\n", "m.toml:2: qos.high.priority: \"-1\" is not a whole number"},
      {"[qos.high]\npreempt = [\"lwo\"]\n", "m.toml:2: qos.high.preempt: there is no QOS lwo"},
      {"[partition.p]\n\nqos = \"none\"\n", "m.toml:3: partition.p.qos: there is no QOS none"},
      {"[account.a]\nparent = \"b\"\n[account.b]\nparent = \"a\"\n",
       "m.toml:2: account.a.parent: account a would be above itself"},
      {"[partition.a]\nnodes = \"n[1-4]\"\n[partition.b]\nnodes = \"n[4-8]\"\nexclusive = true\n",
       "m.toml:5: partition.b.exclusive: contradicts partition a, which has n4 too"},
      {"[partition.a]\nmin_nodes = 4\nmax_nodes = 2\n",
       "m.toml:2: partition.a.min_nodes: 4 is more than MaxNodes=2"},
      {"[partition.a]\nmax_tiem = \"1h\"\n", "m.toml:2: partition.a.max_tiem: no such key"},
      {"[user.ada]\naccounts = [\"nowhere\"]\n",
       "m.toml:2: user.ada.accounts: there is no account nowhere"},
      {"[qos.high]\ngrp_tres = \"cpu=-4\"\n", "m.toml:2: qos.high.grp_tres: \"cpu=-4\""},
      {"[qos.high\n", "m.toml:1: "}};
  for (const auto& [text, said] : nonsense) {
    EXPECT_THAT(Apply(text), ::testing::StartsWith(said)) << text;
    EXPECT_EQ(Book(), before) << text;
  }
}

TEST_F(PolicyFileTest, WhatWasBudgetedAndSpentStaysAfterARestart) {
  ASSERT_EQ(Apply("[account.physics]\ngrp_tres_mins = \"cpu=100\"\n"), "");
  Batch batch;
  Spent spent;
  spent.scope = UsageScope::kAccount;
  spent.name = "physics";
  spent.cpu_seconds = 6000;
  const Version last = store_->Load()->version;
  controller_.reset();
  batch.entries.push_back({last.Next(), JobHeld{JobId(1), true, Time(Duration(1))}});
  batch.spent.push_back(spent);
  ASSERT_TRUE(store_->Commit({&batch, 1}).ok());
  EXPECT_EQ(store_->Load()->spent, std::vector<Spent>{spent});
}

TEST_F(PolicyFileTest, KeysAreLookedAtWhenTheSettingsAreRead) {
  const std::string path = directory_ / "m.toml";
  std::ofstream(path) << "[policy]\nkill_grace = \"5s\"\n[qos.q]\nmax_wall = \"soon\"\n";
  DaemonConfig config;
  EXPECT_THAT(std::string(ReadConfigFile(path, config).message()),
              HasSubstr("m.toml:4: qos.q.max_wall: \"soon\" is not a time"));
}

TEST_F(PolicyFileTest, TheGraceThatAJobMayAskForHasAMaximum) {
  EXPECT_EQ(Apply(""), "");
  EXPECT_EQ(controller_->policy()->kill_grace_max, std::chrono::minutes(10));
  EXPECT_EQ(Apply("[policy]\nkill_grace_max = \"2m\"\n"), "");
  EXPECT_EQ(controller_->policy()->kill_grace_max, std::chrono::minutes(2));
  EXPECT_EQ(Apply("[policy]\nkill_grace = \"20m\"\n"), "");
  EXPECT_EQ(controller_->policy()->kill_grace_max, std::chrono::minutes(20));
  EXPECT_THAT(Apply("[policy]\nkill_grace = \"1m\"\nkill_grace_max = \"30s\"\n"),
              HasSubstr(":3: policy.kill_grace_max: is less than kill_grace, 0:01:00"));
}

TEST_F(PolicyFileTest, TheOrderCalledPromptHasItsSlackAndPatience) {
  EXPECT_EQ(
      Apply("[policy]\norder = \"prompt\"\nslack = \"6h\"\npatience = \"2h\"\npromises = 50\n"),
      "");
  EXPECT_EQ(controller_->policy()->priority.order, QueueRule::kPrompt);
  EXPECT_EQ(controller_->policy()->prompt.slack, std::chrono::hours(6));
  EXPECT_EQ(controller_->policy()->prompt.patience, std::chrono::hours(2));
  EXPECT_EQ(controller_->policy()->prompt.promises, 50U);
  EXPECT_EQ(Apply("[policy]\norder = \"priority\"\n"), "");
  EXPECT_EQ(controller_->policy()->priority.order, QueueRule::kPriority);
  EXPECT_THAT(Apply("[policy]\norder = \"fair\"\n"),
              HasSubstr("policy.order: \"fair\" is not one of priority, drf, prompt"));
  EXPECT_THAT(Apply("[policy]\norder = \"prompt\"\n[priority]\norder = \"drf\"\n"),
              HasSubstr("priority.order: is the older name of policy.order: write one of them"));
  EXPECT_THAT(Apply("[policy]\nslack = \"-1h\"\n"), HasSubstr("policy.slack"));
}

TEST_F(PolicyFileTest, HealthIsOffUnlessItHasAnInterval) {
  EXPECT_EQ(controller_->policy()->health.interval, Duration(0));
  EXPECT_EQ(Apply("[health]\ninterval = \"24h\"\nrecheck = \"5m\"\nmad = 4\ndrain = false\n"), "");
  const HealthPolicy health = controller_->policy()->health;
  EXPECT_EQ(health.interval, std::chrono::hours(24));
  EXPECT_EQ(health.recheck, std::chrono::minutes(5));
  EXPECT_EQ(health.mad, 4U);
  EXPECT_FALSE(health.drain);
  EXPECT_TRUE(health.at_boot);
  EXPECT_THAT(Apply("[health]\nconfirm = 0\n"), HasSubstr("m.toml:2: health.confirm: "));
  EXPECT_THAT(Apply("[health]\nintervall = \"1h\"\n"), HasSubstr("m.toml:2: "));
}

TEST_F(PolicyFileTest, WhoMayRunLongerIsRead) {
  EXPECT_EQ(controller_->policy()->checkpoint.extension, ExtensionRule::kGpu);
  EXPECT_FALSE(controller_->policy()->checkpoint.owners_extend);
  EXPECT_EQ(Apply("[checkpoint]\nextension = \"all\"\nowners_extend = true\n"), "");
  EXPECT_EQ(controller_->policy()->checkpoint.extension, ExtensionRule::kAll);
  EXPECT_TRUE(controller_->policy()->checkpoint.owners_extend);
  EXPECT_EQ(Apply("[checkpoint]\nextension = \"none\"\n"), "");
  EXPECT_EQ(controller_->policy()->checkpoint.extension, ExtensionRule::kNone);
  EXPECT_THAT(Apply("[checkpoint]\nextension = \"cpu\"\n"),
              HasSubstr("m.toml:2: checkpoint.extension: \"cpu\" is not none, gpu or all"));
}

TEST_F(PolicyFileTest, AQuotaOfCheckpointsIsReadAndNoneIsNone) {
  EXPECT_FALSE(controller_->policy()->checkpoint.quota.given());
  EXPECT_EQ(Apply("[checkpoint]\nquota = \"500G\"\nquota_count = 100\n"), "");
  EXPECT_EQ(controller_->policy()->checkpoint.quota,
            (CheckpointQuota{.bytes = Bytes(std::uint64_t{500} << 30), .count = 100}));
  EXPECT_EQ(Apply("[checkpoint]\nwriters = 4\n"), "");
  EXPECT_FALSE(controller_->policy()->checkpoint.quota.given());
}

TEST_F(PolicyFileTest, AReloadHandsOverWhatElseMayChangeAndNothingOfAFileWithAMistake) {
  std::vector<std::pair<std::int64_t, std::string>> taken;
  const TakeSettings take = [&taken](const DaemonConfig& read) {
    taken.emplace_back(read.idle.everywhere.percent, read.site.issuer);
  };
  const std::string path = directory_ / "m.toml";
  const std::string good =
      "[idle]\ngpu_below = \"5%\"\n[oidc]\nissuer = \"https://login.example.org\"\n"
      "audience = \"muster\"\njwks = \"/etc/muster/jwks.json\"\n";
  std::ofstream(path) << good;
  ReloadPolicy(path, "", *controller_, log_, take);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0], std::pair(std::int64_t{5}, std::string("https://login.example.org")));
  std::ofstream(path) << good << "[qos.high]\npriority = -1\n";
  ReloadPolicy(path, "", *controller_, log_, take);
  EXPECT_EQ(taken.size(), 1U);
}

}  // namespace
}  // namespace muster::daemon
