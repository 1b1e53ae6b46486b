#include "daemon/access/rights/access_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "daemon/access/access.h"
#include "daemon/access/rights/local_accounts.h"

namespace muster::daemon {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint8_t BitsOf(std::initializer_list<Private> all) {
  std::uint8_t bits = 0;
  for (const Private each : all) {
    bits |= static_cast<std::uint8_t>(each);
  }
  return bits;
}

absl::StatusOr<AccessSettings> Read(const std::string& text) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "muster.toml");
  AccessSettings settings;
  absl::Status read = file.ok() ? ReadAccess(*file, settings) : file.status();
  read = read.ok() ? file->RefuseUnknownKeys() : read;
  return read.ok() ? absl::StatusOr<AccessSettings>(settings) : read;
}

std::string Problem(const std::string& text) {
  return std::string(Read(text).status().message());
}

class AccessRulesTest : public ::testing::Test {
 protected:
  Powers Of(const std::string& user) {
    const std::uint32_t uid = numbers_.emplace(user, 1000 + numbers_.size()).first->second;
    return rules_.Of(User{uid, uid, user});
  }
  void Use(const std::string& text) { rules_.Use(Read(text).value()); }

  ManualClock clock_{Time(seconds(1'000'000))};
  std::map<std::string, std::uint32_t> numbers_;
  std::map<std::string, std::set<std::string>> groups_;
  int asked_ = 0;
  AccessRules rules_{clock_, {}, [this](const User& user) {
                       ++asked_;
                       return groups_[user.name];
                     }};
};

TEST_F(AccessRulesTest, WithoutATableNothingIsPrivateAndNobodyIsMore) {
  EXPECT_EQ(Of("ada"), Powers());
  EXPECT_EQ(asked_, 0);
}

TEST_F(AccessRulesTest, UsersAreNamedByThemselvesOrByAGroup) {
  groups_["bob"] = {"bob", "admins"};
  groups_["eve"] = {"eve", "physics"};
  Use("[access]\nprivate = [\"jobs\", \"usage\"]\noperators = [\"ada\", \"@admins\"]\n"
      "viewers = [\"carol\"]\n[access.coordinators]\nphysics = [\"@physics\", \"carol\"]\n");
  EXPECT_EQ(Of("ada"), (Powers{true, 0, {}}));
  EXPECT_EQ(Of("bob"), (Powers{true, 0, {}}));
  EXPECT_EQ(Of("carol"), (Powers{false, 0, {"physics"}}));
  EXPECT_EQ(Of("eve"), (Powers{false, BitsOf({Private::kJobs, Private::kUsage}), {"physics"}}));
  EXPECT_EQ(Of("admins").operates, false) << "a user with the name of a group";
}

TEST_F(AccessRulesTest, AGroupsMembersAreLookedAtAgainAfterAMinuteAndSettingsAtOnce) {
  groups_["bob"] = {"admins"};
  Use("[access]\noperators = [\"@admins\"]\n");
  EXPECT_TRUE(Of("bob").operates);
  groups_["bob"] = {};
  clock_.Advance(seconds(59));
  EXPECT_TRUE(Of("bob").operates);
  EXPECT_EQ(asked_, 1);
  clock_.Advance(seconds(1));
  EXPECT_FALSE(Of("bob").operates);
  Use("[access]\noperators = [\"bob\"]\n");
  EXPECT_TRUE(Of("bob").operates);
}

TEST(AccessSettingsTest, AFileSaysWhatIsPrivateAndWhoIsMore) {
  const absl::StatusOr<AccessSettings> read =
      Read("[access]\nprivate = [\"history\", \"nodes\"]\n[access.coordinators]\na = [\"x\"]\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->hidden, BitsOf({Private::kHistory, Private::kNodes}));
  EXPECT_THAT(read->operators, IsEmpty());
  EXPECT_THAT(read->coordinators.at("a"), ElementsAre("x"));
}

TEST(AccessSettingsTest, NonsenseIsRefusedInOneLineThatSaysWhere) {
  EXPECT_EQ(Problem("[access]\nprivate = [\"job\"]\n"),
            "muster.toml:2: access.private: job: can be \"jobs\", \"history\", \"usage\" and "
            "\"nodes\"");
  EXPECT_THAT(Problem("[access]\noperators = \"ada\"\n"), HasSubstr("muster.toml:2"));
  EXPECT_THAT(Problem("[access]\noperators = [\"ada, bob\"]\n"),
              HasSubstr("muster.toml:2: access.operators: \"ada, bob\": write a user as \"ada\""));
  EXPECT_THAT(Problem("[access]\nviewers = [\"@\"]\n"), HasSubstr("access.viewers"));
  EXPECT_THAT(Problem("[access]\ncoordinators = [\"ada\"]\n"), HasSubstr("is a table"));
  EXPECT_THAT(Problem("[access]\noperator = [\"ada\"]\n"), HasSubstr("access.operator"));
}

TEST(AccessPowersTest, AnOperatorOfTheSiteSeesEverythingAndAViewerWhatIsPrivate) {
  Caller al{Role::kUser, User{geteuid() + 1, 1, "al"}};
  al.powers.hidden = BitsOf({Private::kJobs});
  EXPECT_TRUE(Hides(al, Private::kJobs));
  EXPECT_FALSE(Hides(al, Private::kNodes));
  EXPECT_FALSE(MaySee(al, "alice"));
  EXPECT_EQ(NotTheirs(al, "7", "alice").message(), "job 7: is not yours");
  EXPECT_FALSE(ActorOf(al).told_owners);
  al.powers = {true, 0, {}};
  EXPECT_TRUE(IsOperator(al));
  EXPECT_TRUE(ActorOf(al).told_owners && ActorOf(al).operates);
  EXPECT_EQ(NotTheirs(al, "7", "alice").message(), "job 7: belongs to alice");
  EXPECT_TRUE(MaySee(al, "alice"));
  EXPECT_FALSE(Hides(al, Private::kJobs));
  EXPECT_FALSE(
      Hides({Role::kOwner, UserOf(geteuid()), {}, {}, {}, {false, 15, {}}}, Private::kJobs))
      << "nothing is private to who runs the controller";
}

TEST(AccessPowersTest, GroupsOfAnAccountAreThoseOfTheMachine) {
  EXPECT_TRUE(GroupNamesOf(UserOf(0)).contains("root"));
  EXPECT_THAT(GroupNamesOf(User{3'999'999'999, 3'999'999'999, "no-such-account"}), IsEmpty());
}

}  // namespace
}  // namespace muster::daemon
