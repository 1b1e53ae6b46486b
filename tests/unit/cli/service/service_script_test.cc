#include "cli/service/service_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What /bin/sh prints of the script with an argument.
std::string RunScript(const std::string& script) {
  const TempDirectory directory;
  const std::string path = directory / "script";
  std::ofstream(path) << script;
  FILE* pipe = popen(("/bin/sh " + path + " 'a b'").c_str(), "r");
  std::string out;
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    out.append(piece.data(), got);
  }
  EXPECT_EQ(pclose(pipe), 0);
  return out;
}

// Says its words and its input.
const std::vector<std::string> kEcho = {"/bin/sh", "-c", "shift; echo \"$#:$1\"; cat", "--port=a"};

TEST(ServiceScriptTest, TheUsersScriptIsHandedOverAsItIsWithItsWords) {
  const std::string text = "#!/bin/sh\necho '$HOME' \"`id`\" \\\nEND_OF_SCRIPT\n'quoted'\n";
  EXPECT_EQ(RunScript(ReplicaScript(kEcho, text)), "1:a b\n" + text);
  EXPECT_EQ(RunScript(ReplicaScript(kEcho, "#!/bin/sh\necho")), "1:a b\n#!/bin/sh\necho\n");
}

TEST(ServiceScriptTest, LinesOfOptionsStayWhereTheyAre) {
  EXPECT_THAT(ReplicaScript(kEcho,
                            "#!/bin/bash\n# mine\n#MUSTER -c 2\n\n#SBATCH -n 1\necho\n"
                            "#MUSTER -c 9\n"),
              StartsWith("#!/bin/sh\n# mine\n#MUSTER -c 2\n\n#SBATCH -n 1\n# Made by"));
}

TEST(ServiceScriptTest, AnotherScriptTakesThePlaceOfTheUsers) {
  const std::string before = ReplicaScript(kEcho, "#!/bin/sh\n#MUSTER -c 2\nold\n");
  const auto after = WithUserScript(before, "#!/bin/sh\nnew\nEND_OF_SCRIPT\n");
  ASSERT_TRUE(after.ok());
  EXPECT_THAT(*after, StartsWith("#!/bin/sh\n#MUSTER -c 2\n"));
  EXPECT_EQ(RunScript(*after), "1:a b\n#!/bin/sh\nnew\nEND_OF_SCRIPT\n");
  EXPECT_FALSE(WithUserScript("#!/bin/sh\necho\n", "#!/bin/sh\n").ok());
}

}  // namespace
}  // namespace muster::cli
