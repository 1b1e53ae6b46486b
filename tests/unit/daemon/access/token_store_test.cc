#include "daemon/access/token_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_split.h"
#include "daemon/access/access.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::hours kHour{1};

class TokenStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/tmp/muster-tokens.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    store_ = Open("here");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<TokenStore> Open(const std::string& cluster) {
    return TokenStore::Open(directory_, cluster, clock_).value();
  }

  ManualClock clock_{SystemClock().Now()};
  const User self_ = UserOf(geteuid());
  std::string directory_;
  std::unique_ptr<TokenStore> store_;
};

TEST_F(TokenStoreTest, ATokenSpeaksForItsUserUntilItEnds) {
  const TokenStore::Minted made = store_->Mint(self_, kHour, true).value();
  const TokenGrant grant = store_->Judge(made.token).value();
  EXPECT_EQ(grant.user.uid, self_.uid);
  EXPECT_EQ(grant.user.name, self_.name);
  EXPECT_TRUE(grant.read_only);
  clock_.Advance(kHour - std::chrono::milliseconds(1));
  EXPECT_TRUE(store_->Judge(made.token).ok());
  EXPECT_TRUE(store_->StillGood(made.grant.id).ok());
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(absl::IsUnauthenticated(store_->Judge(made.token).status()));
  EXPECT_FALSE(store_->StillGood(made.grant.id).ok());
  EXPECT_TRUE(store_->List(std::nullopt).empty());
}

TEST_F(TokenStoreTest, ARevokedTokenIsNobodysAtOnce) {
  const TokenStore::Minted kept = store_->Mint(self_, kHour, false).value();
  const TokenStore::Minted ended = store_->Mint(self_, kHour, false).value();
  EXPECT_TRUE(absl::IsNotFound(store_->Revoke(ended.grant.id, self_.uid + 1)))
      << "another's is not one's own";
  EXPECT_TRUE(store_->Judge(ended.token).ok());
  ASSERT_TRUE(store_->Revoke(ended.grant.id, self_.uid).ok());
  EXPECT_FALSE(store_->Judge(ended.token).ok());
  EXPECT_TRUE(store_->Judge(kept.token).ok());
  EXPECT_TRUE(absl::IsNotFound(store_->Revoke(ended.grant.id, std::nullopt)));
}

TEST_F(TokenStoreTest, TokensOutliveTheControllerAndDoNotComeBack) {
  const TokenStore::Minted kept = store_->Mint(self_, kHour, false).value();
  const TokenStore::Minted ended = store_->Mint(self_, kHour, false).value();
  ASSERT_TRUE(store_->Revoke(ended.grant.id, std::nullopt).ok());
  store_ = Open("here");
  EXPECT_TRUE(store_->Judge(kept.token).ok());
  EXPECT_FALSE(store_->Judge(ended.token).ok());
  EXPECT_FALSE(Open("elsewhere")->Judge(kept.token).ok()) << "another cluster's";
  std::filesystem::remove(directory_ + "/tokens.json");
  EXPECT_FALSE(Open("here")->Judge(kept.token).ok()) << "a lost store lets nobody in";
}

TEST_F(TokenStoreTest, AKeyThatFollowsFromTheSecretIsGoodWhereverTheStoreGoes) {
  const std::string here = directory_ + "/here";
  const std::string there = directory_ + "/there";
  ASSERT_TRUE(std::filesystem::create_directory(here) && std::filesystem::create_directory(there));
  const auto first = TokenStore::Open(here, "here", clock_, {"secret"}).value();
  const TokenStore::Minted made = first->Mint(self_, kHour, false).value();
  EXPECT_FALSE(std::filesystem::exists(here + "/token.key"));
  std::filesystem::copy(here + "/tokens.json", there + "/tokens.json");
  EXPECT_TRUE(TokenStore::Open(there, "here", clock_, {"secret"}).value()->Judge(made.token).ok());
  EXPECT_FALSE(TokenStore::Open(there, "here", clock_, {"other"}).value()->Judge(made.token).ok());
}

TEST_F(TokenStoreTest, AKeyThatAnOlderVersionMadeStillCounts) {
  const TokenStore::Minted made = store_->Mint(self_, kHour, false).value();
  EXPECT_TRUE(
      TokenStore::Open(directory_, "here", clock_, {"secret"}).value()->Judge(made.token).ok());
}

TEST_F(TokenStoreTest, NoTokenIsKeptInAFileAndTheFilesAreOurs) {
  const TokenStore::Minted made = store_->Mint(self_, kHour, false).value();
  const std::vector<std::string> parts = absl::StrSplit(made.token, '.');
  for (const char* name : {"/tokens.json", "/token.key"}) {
    struct stat info = {};
    ASSERT_EQ(stat((directory_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U) << name;
    EXPECT_THAT(ReadFile(directory_ + name).value(), Not(HasSubstr(parts[2]))) << name;
  }
}

TEST_F(TokenStoreTest, AUserWhoHasBecomeSomebodyElseLosesTheirTokens) {
  const TokenStore::Minted made =
      store_->Mint(User{self_.uid, self_.gid, "somebody-who-left"}, kHour, false).value();
  EXPECT_THAT(store_->Judge(made.token).status().message(), HasSubstr("its user is not there"));
}

// Two controllers, of which one may write.
TEST_F(TokenStoreTest, WhatOneControllerMadeIsGoodAtAnotherThatSharesItsShelf) {
  std::string shelf;
  int writer = 1;
  const auto open = [&](int self) {
    return TokenStore::Open(directory_ + "/" + std::to_string(self), "here", clock_,
                            {"secret", [&shelf] { return shelf; },
                             [&shelf, &writer, self](const std::string& store) -> absl::Status {
                               if (writer != self) {
                                 return absl::UnavailableError("does not lead");
                               }
                               shelf = store;
                               return absl::OkStatus();
                             }})
        .value();
  };
  const auto first = open(1);
  const auto second = open(2);
  const TokenStore::Minted one = first->Mint(self_, kHour, false).value();
  EXPECT_TRUE(absl::IsUnavailable(second->Mint(self_, kHour, false).status()));
  ASSERT_TRUE(second->Refresh().ok());
  EXPECT_TRUE(second->Judge(one.token).ok());
  writer = 2;
  const TokenStore::Minted two = second->Mint(self_, kHour, false).value();
  ASSERT_TRUE(second->Revoke(one.grant.id, self_.uid).ok());
  EXPECT_TRUE(absl::IsUnavailable(first->Mint(self_, kHour, false).status()));
  EXPECT_TRUE(first->Refresh().ok());
  EXPECT_FALSE(first->Judge(one.token).ok());
  EXPECT_TRUE(first->Judge(two.token).ok());
  EXPECT_FALSE(store_->Judge(two.token).ok()) << "the key follows from the secret";
}

TEST_F(TokenStoreTest, ALeaderKeepsWhatTheOneBeforeItWroteLast) {
  std::string shelf;
  const auto open = [&] {
    return TokenStore::Open(directory_, "here", clock_,
                            {"secret", [&shelf] { return shelf; },
                             [&shelf](const std::string& store) {
                               shelf = store;
                               return absl::OkStatus();
                             }})
        .value();
  };
  const auto first = open();
  const auto second = open();
  const TokenStore::Minted one = first->Mint(self_, kHour, false).value();
  ASSERT_TRUE(second->Mint(self_, kHour, false).ok());
  EXPECT_EQ(second->List(std::nullopt).size(), 2U);
  EXPECT_TRUE(second->Judge(one.token).ok());
}

TEST_F(TokenStoreTest, LifetimesAndNumbersAreBounded) {
  for (const std::chrono::milliseconds lifetime :
       {std::chrono::milliseconds(0), std::chrono::milliseconds(-1), std::chrono::milliseconds(999),
        TokenStore::kLifetimeMax + std::chrono::milliseconds(1),
        std::chrono::milliseconds(INT64_MAX)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_->Mint(self_, lifetime, false).status()))
        << lifetime.count();
  }
  for (std::size_t i = 0; i < TokenStore::kTokensMax; ++i) {
    ASSERT_TRUE(store_->Mint(self_, kHour, false).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(store_->Mint(self_, kHour, false).status()));
  EXPECT_TRUE(store_->Mint(User{self_.uid + 1, 0, "other"}, kHour, false).ok());
  clock_.Advance(kHour);
  EXPECT_TRUE(store_->Mint(self_, kHour, false).ok()) << "those that ended do not count";
}

TEST_F(TokenStoreTest, ABookThatIsNoneIsAnErrorAndNotAnEmptyBook) {
  for (const char* text : {"", "{}", "[1]", R"([{"id":7}])", "[{]"}) {
    ASSERT_TRUE(WriteFileAtomically(directory_ + "/tokens.json", text).ok());
    const auto opened = TokenStore::Open(directory_, "here", clock_);
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << text;
    EXPECT_THAT(opened.status().message(), HasSubstr("tokens.json")) << text;
  }
}

}  // namespace
}  // namespace muster::daemon
