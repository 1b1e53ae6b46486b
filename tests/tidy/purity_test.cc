#include "tests/tidy/purity.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

size_t Impurities(const std::string& text) {
  return CheckPurity(MakeSource("scheduler/core/a.cc", text)).size();
}

size_t Iterations(const std::string& text) {
  const Source source = MakeSource("scheduler/core/a.cc", text);
  return CheckUnorderedIteration(source, UnorderedNames(source)).size();
}

TEST(Purity, HoldsForTheThreeLowestFloors) {
  EXPECT_TRUE(IsPure(MakeSource("scheduler/base/a.h", "")));
  EXPECT_TRUE(IsPure(MakeSource("scheduler/model/a.h", "")));
  EXPECT_TRUE(IsPure(MakeSource("scheduler/core/a.cc", "")));
  EXPECT_FALSE(IsPure(MakeSource("scheduler/runtime/a.cc", "")));
  EXPECT_FALSE(IsPure(MakeSource("scheduler/core/README.md", "")));
}

TEST(Purity, ClocksThreadsFilesSocketsAndChanceAreFound) {
  for (const char* text : {"auto t = std::chrono::system_clock::now();",
                           "auto t = steady_clock::now();",
                           "auto t = time(nullptr);",
                           "auto t = std::time(&out);",
                           "clock_gettime(CLOCK_REALTIME, &t);",
                           "#include <thread>\n",
                           "#include <mutex>\n",
                           "std::jthread t(f);",
                           "#include <absl/synchronization/mutex.h>\n",
                           "#include <fstream>\n",
                           "#include <filesystem>\n",
                           "FILE* f = fopen(path, mode);",
                           "return ::open(path, 0);",
                           "const int fd = socket(a, b, c);",
                           "#include <sys/socket.h>\n",
                           "#include <random>\n",
                           "return rand();",
                           "std::mt19937 g;",
                           "#include <sqlite3.h>\n",
                           "#include <grpcpp/grpcpp.h>\n",
                           "#include \"proto/job.pb.h\"\n"}) {
    EXPECT_EQ(Impurities(text), 1U) << text;
  }
}

TEST(Purity, NamesThatOnlyLookAlikeAreFine) {
  for (const char* text :
       {"// calls system_clock::now() nowhere\n", "std::string s = \"time(nullptr)\";",
        "const Time begin = job.time();", "using Time = std::chrono::sys_time<milliseconds>;",
        "door.open(1);", "bool open(int door);", "int operand = brand(1);", "window->kill(3);",
        "#include \"scheduler/model/value/time.h\"\n", "Job::kill(3);", "int random_order = 1;"}) {
    EXPECT_EQ(Impurities(text), 0U) << text;
  }
}

TEST(Purity, TheFindingSaysWhatToDoInstead) {
  const auto findings = CheckPurity(MakeSource("scheduler/core/a.cc", "\nrand();"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 2U);
  EXPECT_NE(findings[0].message.find("written rule"), std::string::npos);
}

TEST(UnorderedIteration, IsFoundInEveryForm) {
  const std::string member = "std::unordered_map<JobId, std::vector<int>> jobs_;\n";
  EXPECT_EQ(Iterations(member + "for (const auto& [id, job] : jobs_) {}"), 1U);
  EXPECT_EQ(Iterations(member + "for (const auto& job : state.jobs_) {}"), 1U);
  EXPECT_EQ(Iterations(member + "for (auto i = jobs_.begin(); i != jobs_.end(); ++i) {}"), 1U);
  EXPECT_EQ(Iterations(member + "auto copy = std::vector<Job>(jobs_.cbegin(), jobs_.cend());"), 1U);
  EXPECT_EQ(Iterations("void F(const std::unordered_set<int>& ids) { for (int id : ids) {} }"), 1U);
  EXPECT_EQ(Iterations("const absl::flat_hash_map<int, int>& jobs() const;\n"
                       "for (const auto& job : state.jobs()) {}"),
            1U);
  EXPECT_EQ(Iterations("using Index = std::unordered_map<int, int>;\nIndex index;\n"
                       "for (const auto& entry : index) {}"),
            1U);
}

TEST(UnorderedIteration, ALookupAndAnOrderedLoopAreFine) {
  const std::string members = "std::unordered_map<int, int> index_;\nstd::vector<int> order_;\n";
  EXPECT_EQ(Iterations(members + "auto i = index_.find(3); if (i != index_.end()) {}"), 0U);
  EXPECT_EQ(Iterations(members + "for (int id : order_) { Use(index_.at(id)); }"), 0U);
  EXPECT_EQ(Iterations(members + "for (size_t i = 0; i < index_.size(); ++i) {}"), 0U);
}

}  // namespace
}  // namespace muster::tidy
