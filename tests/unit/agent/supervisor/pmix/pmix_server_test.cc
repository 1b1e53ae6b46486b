// Starts real MPI ranks against the PMIx module: worlds, aborts, kills, several steps at a time,
// and refusals.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/pmix/pmix_loader.h"

// libpmix keeps some of what it allocates; a leak sanitizer is to look at ours only.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpmix\n";
}

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr unsigned kDeadlineSeconds = 120;

struct Abort {
  uint32_t rank = 0;
  int status = 0;
};

// What the handlers of a step were told, from libpmix's thread.
class Heard {
 public:
  PmixHandlers Handlers() {
    PmixHandlers handlers;
    handlers.on_connected = [this](uint32_t rank) { Note(connected_, rank); };
    handlers.on_finalized = [this](uint32_t rank) { Note(finalized_, rank); };
    handlers.on_abort = [this](uint32_t rank, int status, const std::string&) {
      const std::lock_guard<std::mutex> lock(mutex_);
      aborts_.push_back({rank, status});
    };
    return handlers;
  }
  std::set<uint32_t> connected() { return Read(connected_); }
  std::set<uint32_t> finalized() { return Read(finalized_); }
  std::vector<Abort> aborts() { return Read(aborts_); }

 private:
  void Note(std::set<uint32_t>& ranks, uint32_t rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ranks.insert(rank);
  }
  template <typename T>
  T Read(const T& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value;
  }

  std::mutex mutex_;
  std::set<uint32_t> connected_;
  std::set<uint32_t> finalized_;
  std::vector<Abort> aborts_;
};

// The test's environment without what an outer MPI launch may have left in it.
std::vector<std::string> PlainEnvironment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.substr(0, 5) != "PMIX_" && text.substr(0, 5) != "OMPI_" &&
        text.substr(0, 4) != "JSM_") {
      kept.emplace_back(text);
    }
  }
  return kept;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Starts a process bound to `cpu` (or anywhere, when negative), its output in `output`; it dies
// with the test.
pid_t StartProcess(std::vector<std::string> arguments, std::vector<std::string> environment,
                   int cpu, const std::string& output) {
  std::vector<char*> argv = Pointers(arguments);
  std::vector<char*> envp = Pointers(environment);
  const pid_t pid = fork();
  if (pid != 0) {
    return pid;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    sched_setaffinity(0, sizeof(set), &set);
  }
  const int fd = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(fd, STDOUT_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

int ExitCode(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// The cpus this test may use.
std::vector<int> OwnCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

class PmixServerTest : public ::testing::Test {
 protected:
  // One server for the whole suite: libpmix can be started once per process.
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-pmix-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    TheSuite().root = name;
    std::filesystem::create_directory(Server());
    std::filesystem::create_directory(Segments());
    alarm(kDeadlineSeconds);
    auto loader = PmixLoader::Load({"/nonexistent", MUSTER_PMIX_DIRECTORY}, Config());
    ASSERT_TRUE(loader.ok()) << loader.status();
    TheSuite().loader = std::move(*loader);
    alarm(0);
  }

  static void TearDownTestSuite() {
    alarm(kDeadlineSeconds);
    TheSuite().loader.reset();
    WaitForAtMost(0, Server());
    WaitForAtMost(0, Segments());
    EXPECT_THAT(FilesBelow(Server()), IsEmpty()) << "a closed server leaves no files";
    const auto again = PmixLoader::Load({MUSTER_PMIX_DIRECTORY}, Config());
    EXPECT_THAT(std::string(again.status().message()), HasSubstr("once per process"));
    std::error_code gone;  // what the children still remove may go under our hands
    std::filesystem::remove_all(TheSuite().root, gone);
    alarm(0);
  }

  void SetUp() override {
    alarm(kDeadlineSeconds);
    root_ = absl::StrCat(TheSuite().root, "/",
                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(root_);
  }

  void TearDown() override {
    for (const pid_t pid : alive_) {
      kill(pid, SIGKILL);
      ExitCode(pid);
    }
    alarm(0);
  }

  static const PmixLoader& Loader() { return *TheSuite().loader; }

  static std::string Server() { return TheSuite().root + "/server"; }

  static std::string Segments() { return TheSuite().root + "/shm"; }

  static PmixServerConfig Config() { return {Server(), "localhost", Segments()}; }

  // The namespace of the test's step number `step`: a name is used once.
  static std::string Name(int step) {
    return absl::StrCat("muster.", ::testing::UnitTest::GetInstance()->current_test_info()->name(),
                        ".", step);
  }

  // A step of `size` ranks on this machine, one cpu each when there are enough.
  static PmixStepConfig StepOf(const std::string& nspace, uint32_t size) {
    PmixStepConfig config;
    config.nspace = nspace;
    config.nodes = {"localhost"};
    config.node_of_rank.assign(size, 0);
    config.universe_size = size;
    const std::vector<int> cpus = OwnCpus();
    config.cores_shared = cpus.size() < size;
    for (uint32_t rank = 0; rank < size; ++rank) {
      config.local_cpusets.push_back(config.cores_shared ? "" : std::to_string(cpus[rank]));
    }
    return config;
  }

  std::string Output(const std::string& nspace, size_t rank) const {
    return absl::StrCat(root_, "/", nspace, ".", rank);
  }

  // Starts every rank of `step` as `mpi_ring arguments…`.
  std::vector<pid_t> StartRanks(const PmixStep& step, const PmixStepConfig& config,
                                const std::vector<std::string>& arguments) {
    std::vector<pid_t> pids;
    for (uint32_t rank = 0; rank < config.node_of_rank.size(); ++rank) {
      const auto added = step.RankEnv(rank);
      EXPECT_TRUE(added.ok()) << added.status();
      std::vector<std::string> environment = PlainEnvironment();
      environment.insert(environment.end(), added->begin(), added->end());
      std::vector<std::string> command = {MUSTER_MPI_RING};
      command.insert(command.end(), arguments.begin(), arguments.end());
      const std::string& cpu = config.local_cpusets[rank];
      pids.push_back(StartProcess(std::move(command), std::move(environment),
                                  cpu.empty() ? -1 : std::stoi(cpu), Output(config.nspace, rank)));
      alive_.insert(pids.back());
    }
    return pids;
  }

  int Await(pid_t pid) {
    alive_.erase(pid);
    return ExitCode(pid);
  }

  void ExpectRightSums(const PmixStepConfig& config, const std::vector<pid_t>& pids) {
    const size_t size = pids.size();
    for (size_t rank = 0; rank < size; ++rank) {
      EXPECT_EQ(Await(pids[rank]), 0);
      EXPECT_EQ(ReadFile(Output(config.nspace, rank)),
                absl::StrCat("rank ", rank, " size ", size, " sum ", size * (size - 1) / 2,
                             " ring ", size, " local ", rank, " of ", size, "\n"));
    }
  }

  void RunStep(const std::string& nspace, uint32_t size) {
    const PmixStepConfig config = StepOf(nspace, size);
    auto step = Loader().StartStep(config, {});
    ASSERT_TRUE(step.ok()) << step.status();
    ExpectRightSums(config, StartRanks(**step, config, {}));
    (*step)->AllExited();
  }

  // Waits until every rank of the step has printed its line.
  bool AllSpoke(const PmixStepConfig& config) const {
    return Eventually([&] {
      for (size_t rank = 0; rank < config.node_of_rank.size(); ++rank) {
        if (ReadFile(Output(config.nspace, rank)).find('\n') == std::string::npos) {
          return false;
        }
      }
      return true;
    });
  }

  static std::vector<std::string> FilesBelow(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code gone;  // what is being removed may go under the iterator
    std::filesystem::recursive_directory_iterator entry(directory, gone);
    for (; !gone && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(gone)) {
      files.push_back(entry->path());
    }
    return files;
  }

  // A child of the step's user removes them, beside us: ten seconds at most.
  static void WaitForAtMost(std::size_t files, const std::string& directory) {
    for (int tries = 0; tries < 500 && FilesBelow(directory).size() > files; ++tries) {
      usleep(20'000);
    }
  }

  struct Suite {
    std::string root;
    std::unique_ptr<PmixLoader> loader;
  };
  static Suite& TheSuite() {
    static Suite suite;
    return suite;
  }

  std::string root_;
  std::set<pid_t> alive_;
};

TEST_F(PmixServerTest, TwoRanksFormOneWorld) {
  RunStep(Name(0), 2);
}

TEST_F(PmixServerTest, FourRanksFormOneWorld) {
  RunStep(Name(0), 4);
}

TEST_F(PmixServerTest, OneRankIsAWorldOfItsOwn) {
  RunStep(Name(0), 1);
}

TEST_F(PmixServerTest, EveryRankIsHeardToConnectAndToFinalize) {
  Heard heard;
  const PmixStepConfig config = StepOf(Name(0), 2);
  auto step = Loader().StartStep(config, heard.Handlers());
  ASSERT_TRUE(step.ok()) << step.status();
  ExpectRightSums(config, StartRanks(**step, config, {}));
  EXPECT_EQ(heard.connected(), (std::set<uint32_t>{0, 1}));
  EXPECT_EQ(heard.finalized(), (std::set<uint32_t>{0, 1}));
  EXPECT_THAT(heard.aborts(), IsEmpty());
}

TEST_F(PmixServerTest, AnAbortArrivesWithItsStatus) {
  Heard heard;
  const PmixStepConfig config = StepOf(Name(0), 2);
  auto step = Loader().StartStep(config, heard.Handlers());
  ASSERT_TRUE(step.ok()) << step.status();
  const std::vector<pid_t> pids = StartRanks(**step, config, {"--abort", "7"});
  ASSERT_TRUE(Eventually([&] { return !heard.aborts().empty(); }));
  EXPECT_EQ(heard.aborts().front().rank, 0U);
  EXPECT_EQ(heard.aborts().front().status, 7);
  EXPECT_EQ(Await(pids[0]), 7);
  EXPECT_EQ(kill(pids[1], 0), 0) << "the other rank waits for the supervisor";
  kill(pids[1], SIGKILL);
  Await(pids[1]);
  EXPECT_THAT(heard.finalized(), IsEmpty());
}

TEST_F(PmixServerTest, AKilledRankDoesNotHangTheEnd) {
  Heard heard;
  const PmixStepConfig config = StepOf(Name(0), 2);
  auto step = Loader().StartStep(config, heard.Handlers());
  ASSERT_TRUE(step.ok()) << step.status();
  const std::vector<pid_t> pids = StartRanks(**step, config, {"--hang"});
  ASSERT_TRUE(AllSpoke(config));
  EXPECT_THAT(FilesBelow(Segments()), Contains(HasSubstr("vader_segment")));
  kill(pids[1], SIGKILL);
  EXPECT_EQ(Await(pids[1]), 128 + SIGKILL);
  EXPECT_EQ(kill(pids[0], 0), 0);
  // The other rank is alive and connected while the step ends.
  step->reset();
  kill(pids[0], SIGKILL);
  EXPECT_EQ(Await(pids[0]), 128 + SIGKILL);
  EXPECT_THAT(heard.finalized(), Not(Contains(1U)));
  WaitForAtMost(0, Segments());
  EXPECT_THAT(FilesBelow(Segments()), IsEmpty()) << "killed ranks leave no shared segments";
  RunStep(Name(1), 2);
}

TEST_F(PmixServerTest, RanksKilledWhileTheyConnectDoNotHangTheEnd) {
  for (int round = 0; round < 16; ++round) {
    const PmixStepConfig config = StepOf(Name(round), 2);
    auto step = Loader().StartStep(config, {});
    ASSERT_TRUE(step.ok()) << step.status();
    const std::vector<pid_t> pids = StartRanks(**step, config, {"--hang"});
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * round));
    for (const pid_t pid : pids) {
      kill(pid, SIGKILL);
      Await(pid);
    }
  }
  RunStep(Name(100), 2);
}

TEST_F(PmixServerTest, TwoStepsRunAtTheSameTime) {
  Heard heard_a;
  Heard heard_b;
  const PmixStepConfig a = StepOf(Name(0), 2);
  const PmixStepConfig b = StepOf(Name(1), 1);
  auto step_a = Loader().StartStep(a, heard_a.Handlers());
  auto step_b = Loader().StartStep(b, heard_b.Handlers());
  ASSERT_TRUE(step_a.ok()) << step_a.status();
  ASSERT_TRUE(step_b.ok()) << step_b.status();
  const std::vector<pid_t> pids_a = StartRanks(**step_a, a, {"--hang"});
  ASSERT_TRUE(AllSpoke(a));
  ExpectRightSums(b, StartRanks(**step_b, b, {}));
  EXPECT_EQ(heard_b.finalized(), (std::set<uint32_t>{0}));
  EXPECT_THAT(heard_a.finalized(), IsEmpty());
  step_b->reset();
  for (const pid_t pid : pids_a) {
    EXPECT_EQ(kill(pid, 0), 0);
  }
}

TEST_F(PmixServerTest, TwentyStepsInARowWorkAlike) {
  const size_t before = FilesBelow(Server()).size();
  for (int round = 0; round < 20; ++round) {
    RunStep(Name(round), 2);
  }
  WaitForAtMost(before, Server());
  EXPECT_LE(FilesBelow(Server()).size(), before);
}

TEST_F(PmixServerTest, MoreProcessesAreRefusedNotAwaited) {
  const PmixStepConfig config = StepOf(Name(0), 1);
  auto step = Loader().StartStep(config, {});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(Await(StartRanks(**step, config, {"--spawn"})[0]), 0);
  EXPECT_THAT(ReadFile(Output(config.nspace, 0)), HasSubstr("spawn refused"));
}

TEST_F(PmixServerTest, RanksThatShareCoresYield) {
  PmixStepConfig config = StepOf(Name(0), 2);
  config.cores_shared = true;
  auto step = Loader().StartStep(config, {});
  ASSERT_TRUE(step.ok()) << step.status();
  const auto shared = (*step)->RankEnv(1);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_THAT(*shared, Contains("OMPI_MCA_mpi_yield_when_idle=1"));
  EXPECT_THAT(*shared, Contains("JSM_JSRUN_PORT=1"));
  EXPECT_THAT(*shared, Contains("OMPI_COMM_WORLD_RANK=1"));
  EXPECT_THAT(*shared, Contains("OMPI_COMM_WORLD_SIZE=2"));
  EXPECT_THAT(*shared, Contains("PMIX_RANK=1"));
  EXPECT_THAT(*shared, Contains("PMIX_GDS_MODULE=hash")) << "a store of mutexes hangs on a kill";
  step->reset();
  config.cores_shared = false;
  config.nspace = Name(1);
  step = Loader().StartStep(config, {});
  ASSERT_TRUE(step.ok()) << step.status();
  const auto alone = (*step)->RankEnv(1);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_THAT(*alone, Not(Contains(StartsWith("OMPI_MCA_mpi_yield_when_idle"))));
}

TEST_F(PmixServerTest, NoThreadOfTheServerTakesTheSupervisorsSignals) {
  size_t others = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(getpid())) {
      continue;
    }
    ++others;
    const std::string status = ReadFile((task.path() / "status").string());
    const size_t at = status.find("SigBlk:");
    ASSERT_NE(at, std::string::npos);
    const uint64_t blocked = std::stoull(status.substr(at + 7), nullptr, 16);
    for (const int number : {SIGTERM, SIGCHLD, SIGINT, SIGALRM}) {
      EXPECT_NE(blocked & (uint64_t{1} << (number - 1)), 0U) << "signal " << number;
    }
  }
  EXPECT_GT(others, 0U);
}

TEST_F(PmixServerTest, RanksThatKeepToHostMemoryFormOneWorld) {
  PmixStepConfig config = StepOf(Name(0), 2);
  config.host_memory_only = true;
  auto step = Loader().StartStep(config, {});
  ASSERT_TRUE(step.ok()) << step.status();
  const auto environment = (*step)->RankEnv(0);
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_THAT(*environment, Contains("OMPI_MCA_pml=ob1"));
  ExpectRightSums(config, StartRanks(**step, config, {}));
}

TEST_F(PmixServerTest, ANameIsFreeAgainWhenItsRanksExitedUnconnected) {
  {
    auto step = Loader().StartStep(StepOf(Name(0), 1), {});
    ASSERT_TRUE(step.ok()) << step.status();
    (*step)->AllExited();
  }
  {
    const auto again = Loader().StartStep(StepOf(Name(0), 1), {});
    EXPECT_TRUE(again.ok()) << again.status();
  }
  // That one ended without a word about its ranks: one may have died in its handshake.
  const auto third = Loader().StartStep(StepOf(Name(0), 1), {});
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("was used"));
}

// The archive for other distributions has it, too, and Debian's static absl cannot stand in it.
TEST_F(PmixServerTest, TheModuleNeedsLibpmixAndTheLanguagesLibrariesAlone) {
  const std::string list = root_ + "/needed";
  const std::string command = absl::StrCat("readelf -d ", MUSTER_PMIX_DIRECTORY,
                                           "/libmuster-pmix.so | grep NEEDED > ", list);
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
  std::ifstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(line.find('[') + 1);
    EXPECT_THAT(
        name, MatchesRegex(
                  "(libpmix|libasan|libubsan|libc|libstdc\\+\\+|libgcc_s|libm|ld-linux.*)\\.so.*"))
        << "link it to nothing of absl's or ours";
  }
}

TEST_F(PmixServerTest, AMissingModuleIsNamedWithItsMend) {
  const auto loader = PmixLoader::Load({"/nonexistent", root_}, Config());
  ASSERT_EQ(loader.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(loader.status().message(),
            absl::StrCat("libmuster-pmix.so not found in /nonexistent, ", root_,
                         ": install muster-agent's pmix module or use --mpi=none"));
}

TEST_F(PmixServerTest, AFileThatIsNoModuleIsRefused) {
  std::ofstream(root_ + "/libmuster-pmix.so") << "not a library";
  const auto loader = PmixLoader::Load({root_}, Config());
  EXPECT_THAT(std::string(loader.status().message()), StartsWith("cannot load " + root_));
}

TEST_F(PmixServerTest, ASecondServerIsRefused) {
  const auto second = PmixLoader::Load({MUSTER_PMIX_DIRECTORY}, Config());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("once per process"));
}

TEST_F(PmixServerTest, StepsThatCannotBeAreRefused) {
  const auto refusal = [](const PmixStepConfig& config) {
    return std::string(Loader().StartStep(config, {}).status().message());
  };
  auto first = Loader().StartStep(StepOf(Name(0), 1), {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(refusal(StepOf(Name(0), 1)), HasSubstr("was used"));
  EXPECT_THAT(refusal(StepOf("", 1)), HasSubstr("namespace"));
  EXPECT_THAT(refusal(StepOf("../up", 1)), HasSubstr("no slash"));
  EXPECT_THAT(refusal(StepOf(std::string(300, 'a'), 1)), HasSubstr("255"));
  EXPECT_THAT(refusal(StepOf(Name(1), 0)), HasSubstr("0 ranks"));
  PmixStepConfig away = StepOf(Name(1), 2);
  away.node_of_rank[1] = 1;
  EXPECT_THAT(refusal(away), HasSubstr("not listed"));
  away.nodes.emplace_back("other");
  away.local_cpusets.pop_back();
  away.nodes.back() = "a,b";
  EXPECT_THAT(refusal(away), HasSubstr("node 'a,b'"));
  away.nodes.back() = "localhost";
  EXPECT_THAT(refusal(away), HasSubstr("names of their own"));
  away.nodes.emplace_back("idle");
  EXPECT_THAT(refusal(away), HasSubstr("a node without ranks"));
  EXPECT_FALSE((*first)->RankEnv(1).ok());
  // What was refused left nothing behind: the name is free.
  RunStep(Name(1), 1);
}

}  // namespace
}  // namespace muster::agent
