// The program's keys verb: what it makes, refuses and says.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cluster/key_store.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class KeysTest : public ::testing::Test {
 protected:
  ProgramEnd Keys(std::vector<std::string> words) const {
    words.insert(words.begin(), "keys");
    words.insert(words.end(), {"--keys", place_});
    return RunMuster(words);
  }
  // Runs it, and it has to exit 0.
  void Must(const std::vector<std::string>& words) const {
    const ProgramEnd end = Keys(words);
    EXPECT_EQ(end.code, 0) << end.err;
  }
  CertificateFacts Facts(const std::string& file) const {
    return ReadCertificate(ReadFile(place_ + "/" + file).value()).value();
  }
  // The status that `list --json` gives a name.
  std::string StatusOf(const std::string& role, const std::string& name) const {
    const json document = json::parse(Keys({"list", "--json"}).out);
    for (const json& row : document["certificates"]) {
      if (row["role"] == role && row["name"] == name) {
        return row["state"];
      }
    }
    return "not there";
  }
  mode_t ModeOf(const std::string& file) const {
    struct stat info = {};
    EXPECT_EQ(stat((place_ + "/" + file).c_str(), &info), 0) << file;
    return info.st_mode & 07777;
  }

  const TempDirectory temp_;
  const std::string place_ = temp_ / "keys";
};

TEST_F(KeysTest, EachRoleHasItsKeyThatNobodyElseMayRead) {
  Must({"init"});
  Must({"agent", "n1"});
  Must({"client", "ada"});
  EXPECT_EQ(ModeOf(""), 0700U);
  EXPECT_EQ(ModeOf("agents/n1"), 0700U);
  for (const char* key :
       {"ca.key", "controller.key", "agents/n1/agent.key", "clients/ada/client.key"}) {
    EXPECT_EQ(ModeOf(key), 0600U) << key;
  }
  EXPECT_EQ(Facts("controller.pem").subject.role, CertificateRole::kController);
  EXPECT_EQ(Facts("agents/n1/agent.pem").subject,
            (CertificateSubject{CertificateRole::kAgent, "n1"}));
  EXPECT_EQ(Facts("clients/ada/client.pem").subject,
            (CertificateSubject{CertificateRole::kClient, "ada"}));
  EXPECT_EQ(ReadFile(place_ + "/agents/n1/ca.pem").value(), ReadFile(place_ + "/ca.pem").value());
}

TEST_F(KeysTest, NothingIsOverwrittenUnasked) {
  EXPECT_THAT(Keys({"agent", "n1"}).err, HasSubstr("muster keys init"));
  Must({"init"});
  EXPECT_EQ(Keys({"init"}).code, 1);
  Must({"agent", "n1"});
  const std::string serial = Facts("agents/n1/agent.pem").serial;
  const ProgramEnd again = Keys({"agent", "n1"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, MatchesRegex("muster keys: agent n1: .*--renew\n"));
  EXPECT_EQ(Facts("agents/n1/agent.pem").serial, serial);
  Must({"agent", "n1", "--renew"});
  EXPECT_NE(Facts("agents/n1/agent.pem").serial, serial);
}

TEST_F(KeysTest, ACertificateThatEndsWithinAMonthIsListedAsThat) {
  Must({"init"});
  Must({"agent", "n1"});
  EXPECT_EQ(StatusOf("agent", "n1"), "good");
  Must({"agent", "n1", "--renew", "--days", "20"});
  EXPECT_EQ(StatusOf("agent", "n1"), "ends soon");
}

TEST_F(KeysTest, ARotationKeepsTrustInBothUntilItIsFinished) {
  Must({"init"});
  Must({"agent", "n1"});
  Must({"client", "ada"});
  const std::string old_trust = ReadFile(place_ + "/ca.pem").value();
  const std::string old_controller = Facts("controller.pem").serial;
  Must({"rotate"});
  EXPECT_THAT(ReadFile(place_ + "/ca.pem").value(), ::testing::EndsWith(old_trust));
  EXPECT_EQ(ReadFile(place_ + "/agents/n1/ca.pem").value(), ReadFile(place_ + "/ca.pem").value());
  EXPECT_EQ(Facts("controller.pem").serial, old_controller);
  EXPECT_EQ(StatusOf("agent", "n1"), "old authority");
  EXPECT_EQ(Keys({"rotate"}).code, 1) << "the first one is not finished";
  const ProgramEnd early = Keys({"rotate", "--finish"});
  EXPECT_EQ(early.code, 1);
  EXPECT_THAT(early.err, HasSubstr("agent n1, client ada"));
  Must({"agent", "n1"});
  Must({"revoke", "client", "ada"});
  Must({"rotate", "--finish"});
  EXPECT_THAT(ReadFile(place_ + "/ca.pem").value(), ::testing::Not(HasSubstr(old_trust)));
  EXPECT_NE(Facts("controller.pem").serial, old_controller);
  EXPECT_EQ(StatusOf("controller", ""), "good");
  EXPECT_EQ(StatusOf("agent", "n1"), "good");
  Must({"rotate"});
}

TEST_F(KeysTest, ARevokedCertificateIsOnTheListAndCanBeMadeAgain) {
  Must({"init"});
  Must({"agent", "n1"});
  Must({"revoke", "agent", "n1"});
  Must({"revoke", "agent", "n1"});
  EXPECT_EQ(StatusOf("agent", "n1"), "revoked");
  EXPECT_TRUE(IsRevoked(ReadFile(place_ + "/revoked").value(), Facts("agents/n1/agent.pem")));
  Must({"agent", "n1"});
  EXPECT_EQ(StatusOf("agent", "n1"), "good");
  EXPECT_EQ(Keys({"revoke", "agent", "n2"}).code, 1);
}

TEST_F(KeysTest, BadUsageIsOneLine) {
  Must({"init"});
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"agent"},
                                             {"agent", "a", "b"},
                                             {"nothing"},
                                             {"revoke", "controller", "x"},
                                             {"revoke", "agent"},
                                             {"agent", "../n1"},
                                             {"agent", "n1,URI:muster:controller"},
                                             {"client", "a b"},
                                             {"agent", ""},
                                             {"agent", "n1", "--days", "0"}}) {
    const ProgramEnd end = Keys(words);
    EXPECT_EQ(end.code, 2) << words.front();
    EXPECT_THAT(end.err, MatchesRegex("muster keys: [^\n]+\n")) << words.front();
  }
  EXPECT_FALSE(std::filesystem::exists(place_ + "/n1"));
}

TEST_F(KeysTest, AnAuthorityWhoseKeyOthersMayReadIsNotUsed) {
  Must({"init"});
  ASSERT_EQ(chmod((place_ + "/ca.key").c_str(), 0640), 0);
  const ProgramEnd end = Keys({"agent", "n1"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace muster::cli
