// The script of sbatch.

#include "cli/slurm/submit/batch_script.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli::slurm {
namespace {

std::string ErrorOf(const std::string& content) {
  const TempDirectory directory;
  std::ofstream(directory / "job.sh") << content;
  return std::string(ReadBatchScript(directory / "job.sh").status().message());
}

TEST(BatchScript, AFileNeedNotBeExecutable) {
  const TempDirectory directory;
  std::ofstream(directory / "job.sh") << "#!/bin/sh\ntrue\n";
  EXPECT_EQ(ReadBatchScript(directory / "job.sh").value().text, "#!/bin/sh\ntrue\n");
}

TEST(BatchScript, MistakesAreToldInSlurmsWords) {
  EXPECT_EQ(ReadBatchScript("/not/there").status().message(),
            "error: Unable to open file /not/there");
  EXPECT_EQ(ErrorOf("echo\n").rfind("error: This does not look like a batch script.", 0), 0U);
  EXPECT_EQ(ErrorOf("#!/bin/sh\r\n").rfind("error: Batch script contains DOS line breaks", 0), 0U);
  EXPECT_EQ(ReadBatchScript("/tmp").status().message(), "error: Batch script is empty!");
}

TEST(BatchScript, ACommandIsWrappedForTheShell) {
  const Script script = WrapBatchCommand("hostname").value();
  EXPECT_EQ(script.text.rfind("#!/bin/sh\n", 0), 0U);
  EXPECT_EQ(script.name, "wrap");
}

}  // namespace
}  // namespace muster::cli::slurm
