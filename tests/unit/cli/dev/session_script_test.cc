#include "cli/dev/session_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SessionScriptTest : public ::testing::Test {
 protected:
  SessionScriptTest() : environment_({"XDG_CONFIG_HOME=" + directory_.path()}) {}

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(directory_.path() + "/muster/dev");
    std::ofstream(directory_.path() + "/muster/dev/" + name) << text;
  }
  // What /bin/sh prints of the script.
  std::string Run(const std::string& script) const {
    const std::string path = directory_.path() + "/script";
    std::ofstream(path) << script;
    FILE* pipe = popen(("/bin/sh " + path).c_str(), "r");
    std::string out;
    std::array<char, 4096> piece{};
    for (std::size_t got = 0; (got = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
      out.append(piece.data(), got);
    }
    EXPECT_EQ(pclose(pipe), 0);
    return out;
  }

  const TempDirectory directory_;
  const Environment environment_;
};

TEST_F(SessionScriptTest, TheKeeperReadsTheTemplateAsItIs) {
  const SessionTemplate session = {
      "mine", "#!/usr/bin/env python3\n#MUSTER --mem=8G\nprint('$HOME `x` \\\\')\nEND_OF_SESSION\n",
      ""};
  EXPECT_EQ(Run(ScriptOf(session, {"/bin/cat", "-"})), session.text);
  EXPECT_EQ(Run(ScriptOf({"shell", "", ""}, {"/bin/cat"})), "");
  EXPECT_EQ(Run(ScriptOf({"whole", "#!/bin/sh\nexit", ""}, {"/bin/cat"})), "#!/bin/sh\nexit\n");
}

TEST_F(SessionScriptTest, DirectivesOfTheTemplatesHeadAreTheScripts) {
  const std::string script = ScriptOf(
      {"mine", "#!/bin/sh\n# url: /\n#MUSTER --mem=8G\n#SBATCH -n 2\nserve\n#MUSTER --gpus=9\n",
       ""},
      {"keeper"});
  EXPECT_THAT(script, StartsWith("#!/bin/sh\n"));
  const std::string head = script.substr(0, script.find("exec "));
  EXPECT_THAT(head, HasSubstr("#MUSTER --mem=8G\n#SBATCH -n 2\n"));
  EXPECT_THAT(head, ::testing::Not(HasSubstr("--gpus")));
}

TEST_F(SessionScriptTest, AUsersTemplateGoesBeforeTheProgramsOwn) {
  const absl::StatusOr<SessionTemplate> own = FindTemplate("jupyter", environment_);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(HeadOf(*own, "url"), "/?token={token}");
  EXPECT_EQ(own->from, "");
  Write("jupyter", "#!/bin/sh\n# purpose: ours\nexec ours\n# url: /late\n");
  const absl::StatusOr<SessionTemplate> ours = FindTemplate("jupyter", environment_);
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_EQ(HeadOf(*ours, "purpose"), "ours");
  EXPECT_EQ(HeadOf(*ours, "url"), "");
  EXPECT_EQ(ours->from, directory_.path() + "/muster/dev/jupyter");
}

TEST_F(SessionScriptTest, AFileIsNamedByAPath) {
  Write("mine", "#!/bin/sh\nexec mine\n");
  const std::string path = directory_.path() + "/muster/dev/mine";
  EXPECT_EQ(FindTemplate(path, environment_)->name, "mine");
  EXPECT_EQ(FindTemplate(path, Environment())->text, "#!/bin/sh\nexec mine\n");
  EXPECT_FALSE(FindTemplate(path + "s", environment_).ok());
}

TEST_F(SessionScriptTest, AnUnknownNameIsToldWhatThereIs) {
  Write("mine", "#!/bin/sh\nexec mine\n");
  const absl::Status status = FindTemplate("yours", environment_).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("jupyter, mine, shell"));
}

TEST_F(SessionScriptTest, ATemplateThatIsNoScriptIsRefusedWhenItIsAskedFor) {
  Write("notes", "buy milk\n");
  EXPECT_EQ(ListTemplates(environment_).size(), 3U);
  EXPECT_FALSE(FindTemplate("notes", environment_).ok());
  EXPECT_TRUE(FindTemplate("jupyter", environment_).ok());
}

}  // namespace
}  // namespace muster::cli
