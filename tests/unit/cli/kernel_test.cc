// muster kernel, the program itself, with kernels that are scripts and with the bundled ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "cli/kernel/kernel_catalogue.h"
#include "cli/kernel/kernel_process.h"
#include "cli/kernel/kernel_scale.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

// A directory of kernels that tell how they were called.
class KernelVerbTest : public ::testing::Test {
 protected:
  void Script(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  }

  ProgramEnd Kernel(std::vector<std::string> words) {
    words.insert(words.begin(), "kernel");
    return RunMuster(words, {"MUSTER_KERNELS=" + directory_.path()});
  }

  TempDirectory directory_;
};

TEST_F(KernelVerbTest, TheListTellsWhichKernelsAreHere) {
  Script("stream", "exit 0");
  const ProgramEnd end = Kernel({"list", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  std::set<std::string> here;
  const Json document = Json::parse(end.out);
  for (const Json& kernel : document["kernels"]) {
    EXPECT_NE(kernel["measures"], "");
    if (kernel["here"].get<bool>()) {
      here.insert(kernel["name"]);
    }
  }
  EXPECT_EQ(here, std::set<std::string>{"stream"});
  EXPECT_THAT(Kernel({"list"}).out, HasSubstr("stream"));
}

TEST_F(KernelVerbTest, RunBecomesTheKernelWithItsWordsUntouched) {
  Script("saxpy", "echo \"$@\"; exit 1");
  const ProgramEnd end = Kernel({"run", "saxpy", "--n", "4M", "--json", "--ranks=7"});
  EXPECT_EQ(end.out, "--n 4M --json --ranks=7\n");
  EXPECT_EQ(end.code, 1);
}

TEST_F(KernelVerbTest, TuneTellsWhatTheKernelFoundAndThatNobodyElseHasIt) {
  Script("gemm",
         "echo \"$@\" >&2; echo '{\"tuning\":{\"kernel\":\"gemm\",\"shape\":\"8x8x8\",\"choice\":"
         "{\"rows\":66},\"seconds\":1,\"seconds_by_rule\":1.5,\"tried\":9,\"rejected\":0}}'");
  const ProgramEnd end = Kernel({"tune", "gemm", "--n", "8", "--budget", "2s"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("--json --tune 2 --n 8"));
  EXPECT_THAT(end.out, HasSubstr("gemm 8x8x8: {\"rows\":66}, 1.50 times as fast as by rule; 9 "
                                 "tried, 0 wrong\nkept here only: "));
  const ProgramEnd json = Kernel({"tune", "gemm", "--json"});
  EXPECT_EQ(Json::parse(json.out)["shared"], false);
}

TEST_F(KernelVerbTest, TheTileOfAGpuIsSearchedAlike) {
  Script("gpu",
         "echo \"$@\" >&2; echo '{\"tuning\":{\"kernel\":\"gpu-gemm\",\"shape\":\"8x8x8\"}}'");
  const ProgramEnd end = Kernel({"tune", "gpu-gemm", "--side", "8", "--budget", "2s", "--json"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("--json --tune 2 --only gemm --side 8"));
  EXPECT_EQ(Json::parse(end.out)["kernel"], "gpu-gemm");
  EXPECT_THAT(Kernel({"tune", "gpu-vectors"}).err, HasSubstr("has no block sizes to search"));
}

TEST_F(KernelVerbTest, APartOfAProgramIsAskedForByName) {
  Script("gpu", "echo \"$@\"");
  EXPECT_EQ(Kernel({"run", "gpu-gemm", "--side", "64"}).out, "--only gemm --side 64\n");
}

TEST_F(KernelVerbTest, MistakesAreOneLine) {
  Script("stream", "exit 0");
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> cases = {
      {{"walk"}, 2, "\"walk\" is not a kernel command: use list, run, scale, timeline or tune"},
      {{"run"}, 2, "run: name a kernel: see muster kernel list"},
      {{"tune", "saxpy"}, 2, "tune: saxpy has no block sizes to search: gemm and gpu-gemm have"},
      {{"tune", "gemm", "--budget", "soon"}, 2, "--budget: \"soon\" is not a time"},
      {{"run", "nothing"}, 2, "\"nothing\" is not a kernel: see muster kernel list"},
      {{"run", "gemm"}, 1, "gemm: not there: install muster's kernels beside it"},
      {{"run", "gpu"}, 1, "gpu: not there: build with CUDA or HIP"},
      {{"list", "stream"}, 2, "list: \"stream\": takes --json and nothing else"},
      {{"run", "gemm", "--compare-binding"}, 2, "only stream measures what a binding is worth"},
      {{"scale", "pointer-chase"}, 2, "pointer-chase: has no work to share among ranks"},
      {{"scale", "stream", "--ranks", "2,1"}, 2, "--ranks: \"2,1\" is no ascending list"},
      {{"scale", "stream", "--ranks", "0"}, 2, "--ranks: \"0\" is no ascending list"},
      {{"scale", "stream", "--ranks"}, 2, "--ranks: needs a value"},
      {{"scale", "stream", "--weak=1"}, 2, "--weak: takes no value"},
      {{"scale", "stream", "--n"}, 2, "--n: needs a value"},
      {{"scale", "health"}, 2, "health: has no work to share among ranks: scale one of stream, "},
      {{"scale", "gpu-gemm"}, 2, "gpu-gemm: has no work to share among ranks"},
      {{"scale", "allreduce", "--ranks", "1,2"}, 2, "--ranks: allreduce needs at least 2 ranks"},
      {{"timeline", "all.json"}, 2, "timeline: name the file to write, and those of the ranks"},
      {{"timeline", "all.json", "1.json", "--svg"}, 2, "takes files and --json alone"},
      {{"timeline", "all.json", "/nowhere/1.json"}, 1, "/nowhere/1.json: cannot be read"},
  };
  for (const auto& [words, code, message] : cases) {
    const ProgramEnd end = Kernel(words);
    EXPECT_EQ(end.code, code) << message;
    EXPECT_THAT(end.err, HasSubstr(message));
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

TEST_F(KernelVerbTest, ScaleRunsOnceForEachNumberOfThreads) {
  // A repeat takes 8 seconds over the number of threads, by its own account.
  Script("gemm",
         "echo \"$OMP_NUM_THREADS $@\" >>\"$0.calls\"\n"
         "echo \"{\\\"operations\\\":[{\\\"seconds\\\":{\\\"median\\\":"
         "$((8 / OMP_NUM_THREADS))}}]}\"");
  const std::string picture = directory_ / "picture.svg";
  const ProgramEnd end = Kernel(
      {"scale", "gemm", "--ranks", "1,2,8", "--n", "2K", "--svg", picture, "--json", "--verify"});
  ASSERT_EQ(end.code, 0) << end.err;
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["scaling"], "strong");
  EXPECT_EQ(document["pays_up_to"], 8);
  EXPECT_EQ(document["points"][2]["ranks"], 8);
  EXPECT_DOUBLE_EQ(document["points"][2]["speedup"].get<double>(), 8);
  EXPECT_EQ(document["points"][0]["communication_share"], nullptr);
  EXPECT_EQ(ReadFile(directory_ / "gemm.calls").value(),
            "1 --verify --n 2048 --json\n2 --verify --n 2048 --json\n8 --verify --n 2048 --json\n");
  EXPECT_THAT(ReadFile(picture).value(), HasSubstr("gemm, strong scaling"));
}

TEST_F(KernelVerbTest, RanksAreStartedByTheLauncher) {
  Script("launch", "shift; ranks=$1; shift; RANKS=$ranks exec \"$@\"");
  Script("heat2d",
         "echo \"{\\\"seconds\\\":{\\\"median\\\":2},\\\"wait_seconds\\\":{\\\"median\\\":0.5}}\"");
  const ProgramEnd end = Kernel({"scale", "heat2d", "--weak", "--ranks=1,4", "--json", "--launcher",
                                 (directory_ / "launch") + " -n"});
  ASSERT_EQ(end.code, 0) << end.err;
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["scaling"], "weak");
  EXPECT_DOUBLE_EQ(document["points"][1]["efficiency"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(document["points"][1]["communication_share"].get<double>(), 0.25);
}

TEST_F(KernelVerbTest, ACollectiveScalesByWhatARankMoves) {
  // Twice the ranks, each with three quarters of the bytes in the same time.
  Script("launch", "shift; export RANKS=$1; shift; exec \"$@\"");
  Script(
      "allreduce",
      "echo \"$RANKS $OMP_NUM_THREADS $@\" >>\"$0.calls\"\n"
      "case $RANKS in 2) b=4000;; *) b=3000;; esac\n"
      "echo \"{\\\"operations\\\":[{\\\"name\\\":\\\"ring\\\",\\\"seconds\\\":{\\\"median\\\":9}},"
      "{\\\"name\\\":\\\"library\\\",\\\"bytes\\\":$b,\\\"seconds\\\":{\\\"median\\\":2}}]}\"");
  const std::string launcher = (directory_ / "launch") + " -n";
  const ProgramEnd end =
      Kernel({"scale", "allreduce", "--n", "1K", "--json", "--launcher", launcher});
  ASSERT_EQ(end.code, 0) << end.err;
  const Json points = Json::parse(end.out)["points"];
  EXPECT_DOUBLE_EQ(points[0]["seconds"].get<double>(), 2) << "the library's alone";
  EXPECT_DOUBLE_EQ(points[1]["efficiency"].get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(points[1]["communication_share"].get<double>(), 1);
  EXPECT_EQ(ReadFile(directory_ / "allreduce.calls").value(),
            "2 1 --n 512 --json\n4 1 --n 256 --json\n");
}

TEST_F(KernelVerbTest, TimelinesOfRanksBecomeOne) {
  const std::string all = directory_ / "all.json";
  std::ofstream(directory_ / "0.json") << "[\n{\"name\":\"a\",\"pid\":0}\n]\n";
  std::ofstream(directory_ / "1.json")
      << "[\n{\"name\":\"b\",\"pid\":1},{\"name\":\"c\",\"pid\":1}\n]\n";
  const ProgramEnd end = Kernel({"timeline", all, directory_ / "0.json", directory_ / "1.json"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, all + ": 3 events of 2 ranks\n");
  const Json events = Json::parse(ReadFile(all).value());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[2]["name"], "c");
  std::ofstream(directory_ / "2.json") << "{\"no\":1}";
  const ProgramEnd other = Kernel({"timeline", all, directory_ / "2.json"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("2.json: is no list of trace events"));
  std::ofstream(directory_ / "3.json") << std::string(200'000, '[') << std::string(200'000, ']');
  const ProgramEnd deep = Kernel({"timeline", all, directory_ / "3.json"});
  EXPECT_EQ(deep.code, 2);
  EXPECT_THAT(deep.err, HasSubstr("3.json: is nested more deeply than any trace"));
  EXPECT_EQ(Json::parse(ReadFile(all).value()), events) << "what was there stays";
}

TEST_F(KernelVerbTest, ACompressedTraceOfPyTorchsStandsAmongThoseOfMarkers) {
  const std::string all = directory_ / "all.json";
  std::ofstream(directory_ / "0.json")
      << R"([{"name":"step","ph":"X","ts":1764000000000010.5,"dur":1,"pid":0}])";
  std::ofstream(directory_ / "torch.json")
      << R"({"schemaVersion":1,"deviceProperties":[],"distributedInfo":{"rank":0},)"
      << R"("baseTimeNanoseconds":1764000000000000000,"traceEvents":[)"
      << R"({"name":"gemm","ph":"X","ts":20.001,"dur":3.5,"pid":0,"tid":7}]})";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread
  ASSERT_EQ(std::system(("gzip " + (directory_ / "torch.json")).c_str()), 0);
  const ProgramEnd end =
      Kernel({"timeline", all, directory_ / "0.json", directory_ / "torch.json.gz"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, all + ": 3 events of 1 rank\n" +
                         "RANK        TIME  COMPUTE  COMMUNICATION  COPIES  IDLE  HIDDEN  MOST\n"
                         "   0  0.000005 s        -              -       -     -       -  "
                         "gemm 78 %, step 22 %\n")
      << "two, and the place of a process";
  const Json document = Json::parse(ReadFile(all).value());
  EXPECT_EQ(document["baseTimeNanoseconds"], 1'764'000'000'000'000'000);
  EXPECT_EQ(document["traceEvents"][0]["ts"], 10.5);
  EXPECT_EQ(document["traceEvents"][1]["ts"], 20.001);
  EXPECT_NE(document["traceEvents"][1]["pid"], 0) << "the marker's is 0";
}

// Of one process on the GPU of that number, whose clock is `later` nanoseconds ahead.
std::string NsysExport(int gpu, std::int64_t later) {
  const auto moment = [later](std::int64_t at) { return "\"" + std::to_string(at + later) + "\""; };
  const auto kernel = [&](int name, std::int64_t begin, std::int64_t end) {
    return R"({"Type":79,"CudaEvent":{"startNs":)" + moment(begin) + R"(,"endNs":)" + moment(end) +
           R"(,"deviceId":)" + std::to_string(gpu) + R"(,"streamId":"7","kernel":{"shortName":")" +
           std::to_string(name) + "\"}}}\n";
  };
  return R"({"data":["gemm","ncclDevKernel_AllReduce_Sum_f32_RING_LL"]})"
         "\n" +
         kernel(0, 1'000'000, 7'000'000) + kernel(1, 7'000'000, 11'000'000);
}

TEST_F(KernelVerbTest, ExportsOfNsysAreReadAlignedAndAccountedFor) {
  const std::string all = directory_ / "all.json";
  std::ofstream(directory_ / "0.json") << NsysExport(0, 0);
  std::ofstream(directory_ / "1.json") << NsysExport(1, 123'456'000);
  const ProgramEnd end =
      Kernel({"timeline", all, directory_ / "0.json", directory_ / "1.json", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["unaligned"], Json::array());
  EXPECT_EQ(document["awaited"], nullptr);
  ASSERT_EQ(document["ranks"].size(), 2U);
  EXPECT_DOUBLE_EQ(document["ranks"][1]["compute"].get<double>(), 0.006);
  EXPECT_DOUBLE_EQ(document["ranks"][1]["communication"].get<double>(), 0.004);
  const Json events = Json::parse(ReadFile(all).value());
  EXPECT_EQ(events[0]["name"], "gemm");
  EXPECT_DOUBLE_EQ(events[0]["ts"].get<double>(), 124'456) << "from the earliest begin";
  std::set<double> begins;
  for (const Json& event : events) {
    if (event["name"] == "gemm") {
      begins.insert(event["ts"].get<double>());
    }
  }
  EXPECT_EQ(begins.size(), 1U) << "the two clocks are put one above the other";
  EXPECT_THAT(
      Kernel({"timeline", all, directory_ / "0.json", directory_ / "1.json"}).out,
      HasSubstr("   1  0.010000 s     60 %           40 %     0 %   0 %     0 %  gemm 60 %, "
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL 40 %\n"));
}

TEST_F(KernelVerbTest, EachCommandExplainsItself) {
  for (const char* command : {"list", "run", "scale", "timeline", "tune"}) {
    const ProgramEnd end = Kernel({command, "--help"});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("muster kernel timeline all.json torch-12.1.*.json"));
  }
}

TEST_F(KernelVerbTest, AKernelThatFailsEndsTheSeries) {
  Script("gemm", "echo '{\"failure\":\"product: error 3, tolerance 1\"}'; exit 1");
  const ProgramEnd wrong = Kernel({"scale", "gemm"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("its result is wrong: product: error 3, tolerance 1"));
  Script("gemm", "exit 3");
  EXPECT_THAT(Kernel({"scale", "gemm"}).err, HasSubstr("failed with exit code 3"));
  Script("gemm", "echo hello");
  EXPECT_THAT(Kernel({"scale", "gemm"}).err, HasSubstr("printed no document"));
}

TEST_F(KernelVerbTest, BindingsAreComparedWithTheBoundOne) {
  Script("stream",
         "case \"$OMP_PROC_BIND,$OMP_PLACES\" in close,cores) r=20;; false,) r=15;; *) r=5;; esac\n"
         "echo \"{\\\"gb_per_s\\\":{\\\"best\\\":$r,\\\"median\\\":$r},\\\"migrations\\\":0,"
         "\\\"cpus\\\":\\\"0\\\"}\"");
  const ProgramEnd end = Kernel({"run", "stream", "--compare-binding", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const Json document = Json::parse(end.out);
  EXPECT_EQ(document["bindings"][0]["binding"], "bound");
  EXPECT_DOUBLE_EQ(document["bindings"][1]["ratio"].get<double>(), 0.75);
  EXPECT_EQ(document["bindings"][2]["binding"], "wrong");
  EXPECT_DOUBLE_EQ(document["bindings"][2]["ratio"].get<double>(), 0.25);
  EXPECT_THAT(Kernel({"run", "stream", "--compare-binding"}).out, HasSubstr("RATIO"));
}

TEST(BundledKernelsTest, TheBuiltProgramsAreThoseOfTheCatalogue) {
  std::set<std::string> programs;
  for (const BundledKernel& kernel : BundledKernels()) {
    programs.insert(kernel.program);
  }
  const std::filesystem::path bin = std::filesystem::path(MUSTER_BINARY).parent_path();
  for (const auto& entry :
       std::filesystem::directory_iterator(bin.parent_path() / "libexec/muster/kernels")) {
    EXPECT_EQ(programs.count(entry.path().filename()), 1U) << entry.path();
  }
}

TEST(ReplacedTest, VariablesAreSetRemovedAndLeft) {
  const Environment environment({"A=1", "B=2", "C=3"});
  EXPECT_EQ(Replaced(environment, {"B=5", "C"}), (std::vector<std::string>{"A=1", "B=5"}));
}

TEST(SizeForTest, WeakWorkGrowsAsTheRanksDo) {
  EXPECT_EQ(SizeFor(1000, 8, 1, 0, true), 8000);
  EXPECT_EQ(SizeFor(1000, 4, 2, 0, true), 2000);
  EXPECT_EQ(SizeFor(1000, 8, 3, 0, true), 2000);
  EXPECT_EQ(SizeFor(1000, 8, 3, 0, false), 1000);
}

TEST(SizeForTest, WhatEachRankHasShrinksWhereAllOfTheWorkStays) {
  EXPECT_EQ(SizeFor(1000, 4, 2, 1, false), 500) << "a tile of a plate";
  EXPECT_EQ(SizeFor(1000, 4, 2, 1, true), 1000);
  EXPECT_EQ(SizeFor(1000, 4, 1, 1, false), 250) << "a rank's part";
  EXPECT_EQ(SizeFor(1000, 4, 1, 2, false), 63) << "a part of each for each";
  EXPECT_EQ(SizeFor(1000, 4, 1, 2, true), 250);
  EXPECT_EQ(SizeFor(3, 4096, 1, 2, false), 1) << "never nothing";
}

}  // namespace
}  // namespace muster::cli
