#include "daemon/access/token_book.h"

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

class TokenBookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/tmp/muster-tokens.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    book_ = Open("here");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<TokenBook> Open(const std::string& cluster) {
    return TokenBook::Open(directory_, cluster, clock_).value();
  }

  ManualClock clock_{SystemClock().Now()};
  const User self_ = UserOf(geteuid());
  std::string directory_;
  std::unique_ptr<TokenBook> book_;
};

TEST_F(TokenBookTest, ATokenSpeaksForItsUserUntilItEnds) {
  const TokenBook::Minted made = book_->Mint(self_, kHour, true).value();
  const TokenGrant grant = book_->Judge(made.token).value();
  EXPECT_EQ(grant.user.uid, self_.uid);
  EXPECT_EQ(grant.user.name, self_.name);
  EXPECT_TRUE(grant.read_only);
  clock_.Advance(kHour - std::chrono::milliseconds(1));
  EXPECT_TRUE(book_->Judge(made.token).ok());
  EXPECT_TRUE(book_->StillGood(made.grant.id).ok());
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(absl::IsUnauthenticated(book_->Judge(made.token).status()));
  EXPECT_FALSE(book_->StillGood(made.grant.id).ok());
  EXPECT_TRUE(book_->List(std::nullopt).empty());
}

TEST_F(TokenBookTest, ARevokedTokenIsNobodysAtOnce) {
  const TokenBook::Minted kept = book_->Mint(self_, kHour, false).value();
  const TokenBook::Minted ended = book_->Mint(self_, kHour, false).value();
  EXPECT_TRUE(absl::IsNotFound(book_->Revoke(ended.grant.id, self_.uid + 1)))
      << "another's is not one's own";
  EXPECT_TRUE(book_->Judge(ended.token).ok());
  ASSERT_TRUE(book_->Revoke(ended.grant.id, self_.uid).ok());
  EXPECT_FALSE(book_->Judge(ended.token).ok());
  EXPECT_TRUE(book_->Judge(kept.token).ok());
  EXPECT_TRUE(absl::IsNotFound(book_->Revoke(ended.grant.id, std::nullopt)));
}

TEST_F(TokenBookTest, TokensOutliveTheControllerAndDoNotComeBack) {
  const TokenBook::Minted kept = book_->Mint(self_, kHour, false).value();
  const TokenBook::Minted ended = book_->Mint(self_, kHour, false).value();
  ASSERT_TRUE(book_->Revoke(ended.grant.id, std::nullopt).ok());
  book_ = Open("here");
  EXPECT_TRUE(book_->Judge(kept.token).ok());
  EXPECT_FALSE(book_->Judge(ended.token).ok());
  EXPECT_FALSE(Open("elsewhere")->Judge(kept.token).ok()) << "another cluster's";
  std::filesystem::remove(directory_ + "/tokens.json");
  EXPECT_FALSE(Open("here")->Judge(kept.token).ok()) << "a lost book lets nobody in";
}

TEST_F(TokenBookTest, NoTokenIsKeptInAFileAndTheFilesAreOurs) {
  const TokenBook::Minted made = book_->Mint(self_, kHour, false).value();
  const std::vector<std::string> parts = absl::StrSplit(made.token, '.');
  for (const char* name : {"/tokens.json", "/token.key"}) {
    struct stat info = {};
    ASSERT_EQ(stat((directory_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U) << name;
    EXPECT_THAT(ReadFile(directory_ + name).value(), Not(HasSubstr(parts[2]))) << name;
  }
}

TEST_F(TokenBookTest, AUserWhoHasBecomeSomebodyElseLosesTheirTokens) {
  const TokenBook::Minted made =
      book_->Mint(User{self_.uid, self_.gid, "somebody-who-left"}, kHour, false).value();
  EXPECT_THAT(book_->Judge(made.token).status().message(), HasSubstr("its user is not there"));
}

TEST_F(TokenBookTest, LifetimesAndNumbersAreBounded) {
  for (const std::chrono::milliseconds lifetime :
       {std::chrono::milliseconds(0), std::chrono::milliseconds(-1), std::chrono::milliseconds(999),
        TokenBook::kLifetimeMax + std::chrono::milliseconds(1),
        std::chrono::milliseconds(INT64_MAX)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(book_->Mint(self_, lifetime, false).status()))
        << lifetime.count();
  }
  for (std::size_t i = 0; i < TokenBook::kTokensMax; ++i) {
    ASSERT_TRUE(book_->Mint(self_, kHour, false).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(book_->Mint(self_, kHour, false).status()));
  EXPECT_TRUE(book_->Mint(User{self_.uid + 1, 0, "other"}, kHour, false).ok());
  clock_.Advance(kHour);
  EXPECT_TRUE(book_->Mint(self_, kHour, false).ok()) << "those that ended do not count";
}

TEST_F(TokenBookTest, ABookThatIsNoneIsAnErrorAndNotAnEmptyBook) {
  for (const char* text : {"", "{}", "[1]", R"([{"id":7}])", "[{]"}) {
    ASSERT_TRUE(WriteFileAtomically(directory_ + "/tokens.json", text).ok());
    const auto opened = TokenBook::Open(directory_, "here", clock_);
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << text;
    EXPECT_THAT(opened.status().message(), HasSubstr("tokens.json")) << text;
  }
}

}  // namespace
}  // namespace muster::daemon
