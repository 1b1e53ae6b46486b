#include "tests/tidy/floors.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

size_t Found(const std::string& path, const std::string& text) {
  return CheckIncludes(MakeSource(path, text)).size();
}

TEST(Floors, AnIncludeDownIsFine) {
  EXPECT_EQ(Found("scheduler/core/a.cc", "#include \"scheduler/model/b.h\"\n"), 0U);
  EXPECT_EQ(Found("daemon/a.cc", "#include \"daemon/store/b.h\"\n#include <grpcpp/grpcpp.h>\n"),
            0U);
  EXPECT_EQ(Found("daemon/store/a.cc", "#include \"proto/convert/b.h\"\n#include <sqlite3.h>\n"),
            0U);
  EXPECT_EQ(Found("cli/a.cc", "#include \"cli/b.h\"\n#include <vector>\n"), 0U);
}

TEST(Floors, TheGatewayReadsValuesAsTheCommandLineDoesAndMayIncludeNothingElseOfIt) {
  EXPECT_EQ(Found("daemon/gateway/slurm/a.cc", "#include \"cli/parse/request/b.h\"\n"), 0U);
  EXPECT_EQ(Found("daemon/gateway/slurm/a.cc", "#include \"daemon/door/b.h\"\n"), 0U);
  EXPECT_EQ(Found("daemon/gateway/slurm/a.cc", "#include \"cli/request/b.h\"\n"), 1U);
  EXPECT_EQ(Found("daemon/client/a.cc", "#include \"cli/parse/b.h\"\n"), 1U);
  EXPECT_EQ(Found("cli/parse/a.cc", "#include \"cli/request/b.h\"\n"), 1U);
  EXPECT_EQ(Found("cli/jobs/a.cc", "#include \"cli/parse/b.h\"\n"), 0U);
}

TEST(Floors, AnIncludeUpOrSidewaysIsFound) {
  EXPECT_EQ(Found("scheduler/model/a.h", "#include \"scheduler/core/b.h\"\n"), 1U);
  EXPECT_EQ(Found("scheduler/core/a.h", "#include \"scheduler/runtime/clock.h\"\n"), 1U);
  EXPECT_EQ(Found("scheduler/runtime/a.h", "#include \"scheduler/model/job/job.h\"\n"), 1U);
  EXPECT_EQ(Found("daemon/store/a.h", "#include \"daemon/controller/controller.h\"\n"), 1U);
  EXPECT_EQ(Found("agent/a.h", "#include \"daemon/controller/controller.h\"\n"), 1U);
  EXPECT_EQ(Found("cli/a.h", "#include \"agent/launch.h\"\n"), 1U);
  EXPECT_EQ(Found("checkpoint/a.h", "#include \"scheduler/base/status.h\"\n"), 1U);
  EXPECT_EQ(Found("agent/kernels/cpu/a.cc", "#include \"agent/launch.h\"\n"), 1U);
  EXPECT_EQ(Found("scheduler/core/a.h", "#include \"proto/job.pb.h\"\n"), 1U);
}

TEST(Floors, ALibraryOfAnotherFloorIsFound) {
  EXPECT_EQ(Found("scheduler/core/a.h", "#include <grpcpp/grpcpp.h>\n"), 1U);
  EXPECT_EQ(Found("scheduler/core/a.h", "#include <hwloc.h>\n"), 1U);
  EXPECT_EQ(Found("daemon/a.h", "#include <sqlite3.h>\n"), 1U);
  EXPECT_EQ(Found("agent/a.h", "#include <hwloc.h>\n"), 1U);
  EXPECT_EQ(Found("proto/convert/a.h", "#include \"proto/agent.grpc.pb.h\"\n"), 1U);
  EXPECT_EQ(Found("cli/a.cc", "#include <gtest/gtest.h>\n"), 1U);
}

TEST(Floors, WhatACommentOrAStringMentionsIsNotAnInclude) {
  EXPECT_EQ(Found("scheduler/core/a.h", "// #include \"daemon/b.h\"\n"), 0U);
  EXPECT_EQ(Found("scheduler/core/a.h", "/*\n#include \"daemon/b.h\"\n*/\n"), 0U);
  EXPECT_EQ(Found("scheduler/core/a.h", "const char* a = R\"(\n#include <grpcpp/a.h>\n)\";\n"), 0U);
}

TEST(Floors, TheFindingNamesTheLineAndTheMend) {
  const auto findings =
      CheckIncludes(MakeSource("scheduler/core/a.h", "\n\n#include \"daemon/b.h\"\n"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 3U);
  EXPECT_NE(findings[0].message.find("Pass the value in"), std::string::npos);
}

TEST(Floors, TestsMayIncludeAnything) {
  EXPECT_EQ(Found("tests/unit/a_test.cc", "#include \"daemon/b.h\"\n#include <gtest/gtest.h>\n"),
            0U);
}

size_t Misplaced(const std::string& path, const std::string& text) {
  return CheckNamespaces(MakeSource(path, text)).size();
}

TEST(Floors, AWingsFilesOpenItsNamespace) {
  EXPECT_EQ(Misplaced("scheduler/core/a.h", "namespace muster::core {\nstruct A {};\n}\n"), 0U);
  EXPECT_EQ(Misplaced("scheduler/core/a.h", "namespace muster {\nstruct A {};\n}\n"), 1U);
  EXPECT_EQ(Misplaced("scheduler/core/a.h", "namespace muster::coral {\nstruct A {};\n}\n"), 1U);
  EXPECT_EQ(Misplaced("daemon/store/a.cc", "namespace muster::core {\nint a;\n}\n"), 1U);
  EXPECT_EQ(Misplaced("topology/gpu/nvml.h", "namespace muster::topology::nvml {\nint a;\n}\n"),
            0U);
  EXPECT_EQ(Misplaced("cli/slurm/a.cc", "namespace muster::cli {\nint a;\n}\n"), 1U);
  EXPECT_EQ(Misplaced("cli/main.cc", "int main() {}\n"), 0U);
}

TEST(Floors, AWingsTestsStandInItsNamespace) {
  const std::string core = "namespace muster::core {\nint a;\n}\n";
  EXPECT_EQ(Misplaced("tests/unit/scheduler/core/a_test.cc", core), 0U);
  EXPECT_EQ(Misplaced("tests/unit/daemon/a_test.cc", core), 1U);
}

TEST(Floors, WhatIsSharedStandsInNoWingsNamespace) {
  EXPECT_EQ(Misplaced("scheduler/model/job/a.h", "namespace muster {\nint a;\n}\n"), 0U);
  EXPECT_EQ(Misplaced("proto/convert/a.h", "namespace muster::convert {\nint a;\n}\n"), 0U);
  EXPECT_EQ(Misplaced("scheduler/model/job/a.h", "namespace muster::core {\nint a;\n}\n"), 1U);
  EXPECT_EQ(Misplaced("agent/kernels/a.h", "namespace muster {\nint a;\n}\n"), 0U);
  EXPECT_EQ(Misplaced("agent/kernels/a.h", "namespace muster::agent {\nint a;\n}\n"), 1U);
}

TEST(Floors, ADeclarationNamesAnotherWingsType) {
  EXPECT_EQ(Misplaced("cli/a.h", "namespace muster::topology {\nclass A;\nstruct B;\n}\n"), 0U);
  EXPECT_EQ(Misplaced("cli/a.h", "namespace muster::topology {\nclass A;\nvoid B();\n}\n"), 1U);
}

}  // namespace
}  // namespace muster::tidy
