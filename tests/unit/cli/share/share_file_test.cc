#include "cli/share/share_file.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/core/share/decay.h"

namespace muster::cli {
namespace {

// The message behind "f: ", or "" for a good file.
std::string Fault(const std::string& text) {
  const absl::StatusOr<AccountTree> tree = ParseShareFile(text, "f");
  if (tree.ok()) {
    return "";
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(tree.status()));
  EXPECT_EQ(tree.status().message().find('\n'), std::string::npos);
  return std::string(tree.status().message());
}

std::string FaultOfUser(const std::string& members) {
  return Fault(absl::StrCat(R"({"accounts":[],"users":[{)", members, "}]}"));
}

std::string FaultOfAccount(const std::string& members) {
  return Fault(absl::StrCat(R"({"users":[],"accounts":[{)", members, "}]}"));
}

DecayedUsage UsageFrom(const std::string& number) {
  return ParseShareFile(absl::StrCat(R"({"accounts":[],"users":[{"name":"u","account":"root",)",
                                     R"("shares":1,"usage":)", number, "}]}"),
                        "f")
      ->associations.at(0)
      .usage;
}

TEST(ShareFile, ATreeIsReadInItsOrder) {
  const absl::StatusOr<AccountTree> tree = ParseShareFile(
      R"({"users":[{"usage":1.5,"name":"ann","shares":"parent","account":"lab"},
                   {"name":"bob","account":"root","shares":7,"usage":0}],
          "accounts":[{"name":"lab","shares":3,"usage":2},{"name":"sub","parent":"lab","shares":0},
                      {"name":"root","parent":""},{"name":"top","parent":null,"shares":1}]})",
      "f");
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_EQ(tree->accounts.size(), 4U);
  EXPECT_EQ(tree->accounts[0], (Account{.name = "lab",
                                        .parent = "root",
                                        .shares = ShareCount(3),
                                        .usage = core::UsageOf(2'000'000'000'000)}));
  EXPECT_EQ(tree->accounts[1].parent, "lab");
  EXPECT_EQ(tree->accounts[3].parent, "root");
  ASSERT_EQ(tree->associations.size(), 2U);
  EXPECT_EQ(tree->associations[0], (Association{.user = "ann",
                                                .account = "lab",
                                                .shares = kParentShares,
                                                .usage = core::UsageOf(1'500'000'000'000)}));
  EXPECT_EQ(tree->associations[1].shares, ShareCount(7));
  EXPECT_EQ(Fault(R"({"accounts":[],"users":[]})"), "");
}

TEST(ShareFile, UsageIsDecimal) {
  EXPECT_EQ(UsageFrom("0.1"), core::UsageOf(100'000'000'000));
  EXPECT_EQ(UsageFrom("3e-12"), core::UsageOf(3));
  EXPECT_EQ(UsageFrom("1e-13"), core::UsageOf(0));
  EXPECT_EQ(UsageFrom("1000000000000000"),
            core::UsageOf(absl::uint128(1'000'000'000'000'000) * 1'000'000'000'000));
  EXPECT_EQ(UsageFrom("-0"), core::UsageOf(0));
}

TEST(ShareFile, WhatIsNoJsonIsNamedByLineAndColumn) {
  EXPECT_EQ(Fault(""), "f:1:1: not JSON from here on: mend it");
  EXPECT_EQ(Fault("{\"accounts\":[],\n\"users\":[}"), "f:2:10: not JSON from here on: mend it");
  EXPECT_EQ(Fault("{\"accounts\":[],\"users\":[]} x"), "f:1:28: not JSON from here on: mend it");
  EXPECT_EQ(Fault("{\"\xff\":1}"), "f:1:3: not JSON from here on: mend it");
  EXPECT_EQ(FaultOfUser("\"usage\":NaN"), "f:1:34: not JSON from here on: mend it");
  EXPECT_EQ(FaultOfUser("\"usage\":1e999"),
            "f:1:38: \"1e999\" is larger than any number here: use 1000000000000000 at most");
}

TEST(ShareFile, WhatIsOfTheWrongShapeIsNamed) {
  EXPECT_EQ(Fault("[]"),
            "f: a list where the tree should be: use {\"accounts\":[…],\"users\":[…]}");
  EXPECT_EQ(Fault("7"), "f: 7 where the tree should be: use {\"accounts\":[…],\"users\":[…]}");
  EXPECT_EQ(Fault("{}"), "f: has no \"accounts\": add it, if only as []");
  EXPECT_EQ(Fault("{\"accounts\":[]}"), "f: has no \"users\": add it, if only as []");
  EXPECT_EQ(Fault("{\"nodes\":[]}"), "f: no key \"nodes\" is known: use accounts and users");
  EXPECT_EQ(Fault("{\"users\":[],\"users\":[]}"), "f: /users: is there twice: make it one list");
  EXPECT_EQ(Fault("{\"users\":{}}"), "f: /users: an object where a list should be: use [{…},{…}]");
  EXPECT_EQ(Fault("{\"users\":null}"), "f: /users: null where a list should be: use [{…},{…}]");
  EXPECT_EQ(Fault("{\"users\":[\"u\"]}"),
            "f: /users/0: \"u\" where a user should be: use {\"name\":…}");
  EXPECT_EQ(FaultOfUser("\"name\":{\"a\":1}"),
            "f: /users/0/name: an object where one value should be: use a number or a text");
  EXPECT_EQ(Fault("{\"users\":" + std::string(100'000, '[')),
            "f: /users/0: a list where a user should be: use {\"name\":…}");
}

TEST(ShareFile, WhatIsMissingUnknownOrDoubleIsNamed) {
  EXPECT_EQ(FaultOfUser(R"("account":"root","shares":1,"usage":0)"),
            "f: /users/0: has no \"name\": add it");
  EXPECT_EQ(FaultOfUser(R"("name":"u","shares":1,"usage":0)"),
            "f: /users/0: has no \"account\": add it");
  EXPECT_EQ(FaultOfUser(R"("name":"u","account":"root","usage":0)"),
            "f: /users/0: has no \"shares\": add it");
  EXPECT_EQ(FaultOfUser(R"("name":"u","account":"root","shares":1)"),
            "f: /users/0: has no \"usage\": add it");
  EXPECT_EQ(FaultOfAccount(R"("name":"a")"), "f: /accounts/0: has no \"shares\": add it");
  EXPECT_EQ(FaultOfAccount(R"("name":"a","shares":1,"parnt":"b")"),
            "f: /accounts/0: an account has no key \"parnt\": use name, parent, shares and usage");
  EXPECT_EQ(FaultOfUser(R"("name":"u","name":"v")"),
            "f: /users/0/name: is there twice: leave one of them out");
}

TEST(ShareFile, ValuesThatCannotBeAreNamed) {
  for (const char* shares : {"-1", "1.5", "2147483647", "1e10", "\"all\"", "null", "true"}) {
    EXPECT_EQ(FaultOfAccount(absl::StrCat("\"name\":\"a\",\"shares\":", shares)),
              absl::StrCat("f: /accounts/0/shares: ", shares,
                           " is not a number of shares: use a whole number from 0 to 2147483646, "
                           "or \"parent\""));
  }
  for (const char* usage : {"-1", "-0.5", "1000000000000000.5", "1e16", "\"1\"", "null", "false"}) {
    EXPECT_EQ(FaultOfUser(absl::StrCat("\"usage\":", usage)),
              absl::StrCat("f: /users/0/usage: ", usage,
                           " is not an amount of usage: use a number from 0 to 1000000000000000"));
  }
  EXPECT_EQ(FaultOfUser(R"("name":"")"),
            "f: /users/0/name: \"\" is not a name: use a text that is not empty");
  EXPECT_EQ(FaultOfUser(R"("account":null)"),
            "f: /users/0/account: null is not a name: use a text that is not empty");
  EXPECT_EQ(FaultOfAccount(R"("name":"a\u0007")"),
            "f: /accounts/0/name: \"a\\x07\" holds a control character: leave it out");
  EXPECT_EQ(FaultOfAccount("\"name\":\"" + std::string(300, 'a') + "\"").substr(0, 21),
            "f: /accounts/0/name: ");
}

TEST(ShareFile, WhatIsWrongWithTheTreeIsNamedByItsPlace) {
  EXPECT_EQ(Fault(R"({"accounts":[{"name":"a","parent":"b","shares":1}],"users":[]})"),
            "f: /accounts/0/parent: no account \"b\": add it, or name another parent");
  EXPECT_EQ(Fault(R"({"accounts":[{"name":"a","parent":"b","shares":1},
                                  {"name":"b","parent":"a","shares":1}],"users":[]})"),
            "f: /accounts/0/parent: account \"a\" is below itself: name a parent that is not below "
            "it");
  EXPECT_EQ(FaultOfUser(R"("name":"u","account":"x","shares":1,"usage":0)"),
            "f: /users/0/account: no account \"x\": add it, or name another");
  const std::string user = R"({"name":"u","account":"root","shares":1,"usage":0})";
  EXPECT_EQ(Fault(absl::StrCat(R"({"accounts":[],"users":[)", user, ",", user, "]}")),
            "f: /users/1/name: user \"u\" is in account \"root\" twice: leave one of them out");
}

}  // namespace
}  // namespace muster::cli
