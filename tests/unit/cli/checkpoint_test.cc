// muster checkpoint, the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checkpoint/session/session.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

ProgramEnd Interval(std::vector<std::string> options) {
  std::vector<std::string> words = {"checkpoint", "interval"};
  words.insert(words.end(), options.begin(), options.end());
  return RunMuster(words);
}

Json IntervalDocument(std::vector<std::string> options) {
  options.emplace_back("--json");
  const ProgramEnd end = Interval(options);
  EXPECT_EQ(end.code, 0) << end.err;
  return Json::parse(end.out);
}

TEST(CheckpointInterval, TheDocumentHasTheDigitsOfTheReferenceTable) {
  struct Row {
    const char* cost;
    const char* mtbf;
    const char* restart;
    double young, daly1, daly, exact, ratio;  // seconds, and T/Ts at Daly's higher order
    double digit;                             // half of the last one printed, in seconds
  };
  for (const Row& row : std::vector<Row>{
           {"5m", "24h", "10m", 7200, 7224.96, 7001.4, 7001.4, 1.09576, 0.0301},
           {"5m", "15m", "10m", 734.82, 948.66, 548.46, 550.02, 5.00833, 0.0301},
           {"60s", "1d", "120s", 3219.938, 3222.173, 3180.062, 3180.063, 1.03966, 0.000501},
           {"10", "3:00:00", "10:00", 3600, 3698.648, 3211.111, 3211.614, 1.50453, 0.000501},
           {"30s", "7h54m", "1m", 1306.292, 1307.670, 1286.369, 1286.369, 1.04959, 0.000501},
           {"1m40s", "180s", "0.5m", 189.737, 204.939, 128.926, 129.781, 4.23440, 0.000501}}) {
    SCOPED_TRACE(row.cost);
    const Json document =
        IntervalDocument({"--cost", row.cost, "--mtbf", row.mtbf, "--restart", row.restart});
    EXPECT_NEAR(document["young_s"].get<double>(), row.young, row.digit);
    EXPECT_NEAR(document["daly1_s"].get<double>(), row.daly1, row.digit);
    EXPECT_NEAR(document["daly_s"].get<double>(), row.daly, row.digit);
    EXPECT_NEAR(document["exact_s"].get<double>(), row.exact, row.digit);
    EXPECT_NEAR(document["overhead"].get<double>(), row.ratio - 1, 5.01e-6);
    EXPECT_EQ(document["advice"], "every");
  }
}

TEST(CheckpointInterval, TheTableIsForPeople) {
  const ProgramEnd end = Interval({"--cost", "5m", "--mtbf", "24h", "--restart", "10m"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out,
            "FORMULA             WORK BETWEEN   SECONDS  OVERHEAD\n"
            "Young                    2:00:00  7200.000   9.580 %\n"
            "Daly, first order        2:00:24  7224.957   9.581 %\n"
            "Daly, higher order       1:56:41  7001.389   9.576 %\n"
            "exact optimum            1:56:41  7001.404   9.576 %\n"
            "\n"
            "checkpoint after each 1:56:41 of work\n");
}

TEST(CheckpointInterval, LevelsHaveTheDigitsOfTheReferenceTable) {
  const std::vector<std::string> reference = {"--level", "2s/8h",   "--level",
                                              "8s/24h",  "--level", "120s/168h"};
  EXPECT_EQ(Interval(reference).out,
            "LEVEL     COST        MTBF  SECONDS  OVERHEAD   NESTED  SECONDS  OVERHEAD\n"
            "    1  0:02.00     8:00:00    339.4  1.1785 %        -    339.4  1.1785 %\n"
            "    2  0:08.00  1-00:00:00   1175.8  1.3608 %   1 of 3   1018.2  1.3749 %\n"
            "    3     2:00  7-00:00:00  12047.9  1.9920 %  1 of 10  10182.3  2.0203 %\n"
            "\n"
            "each by itself 4.531 % of the time, nested 4.574 %\n");
  const Json document = IntervalDocument(reference);
  ASSERT_EQ(document["levels"].size(), 3U);
  const std::vector<double> intervals = {339.4, 1175.8, 12047.9};
  const std::vector<double> overheads = {0.011785, 0.013608, 0.019920};
  const std::vector<int> multiples = {1, 3, 10};
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Json& level = document["levels"][i];
    EXPECT_NEAR(level["interval_s"].get<double>(), intervals[i], 0.05);
    EXPECT_NEAR(level["overhead"].get<double>(), overheads[i], 5e-7);
    EXPECT_EQ(level["multiple"], multiples[i]);
  }
  EXPECT_NEAR(document["overhead"].get<double>(), 0.04531, 5e-6);
  EXPECT_GE(document["nested_overhead"].get<double>(), document["overhead"].get<double>());
}

TEST(CheckpointInterval, ALevelThatIsNoneIsBadUsage) {
  for (const char* bad : {"2s", "2s/8h/3", "/8h", "0s/8h", "2s/0s", "2s/often"}) {
    const ProgramEnd end = Interval({"--level", bad});
    EXPECT_EQ(end.code, 2) << bad;
    EXPECT_THAT(end.err, HasSubstr(": use COST/MTBF, like --level 2s/8h\n"));
  }
  EXPECT_THAT(Interval({"--level", "9s/8h", "--level", "2s/8h"}).err,
              HasSubstr("--level 2s/8h: costs less than the one before"));
  EXPECT_THAT(Interval({"--level", "2s/8h", "--cost", "2s"}).err,
              HasSubstr("--cost: is for one level: leave it out beside --level"));
}

TEST(CheckpointInterval, AFreeCheckpointIsClampedToTheShortestInterval) {
  const Json document = IntervalDocument({"--cost", "0s", "--mtbf", "1h", "--min-interval", "30s"});
  EXPECT_EQ(document["exact_s"], 0.0);
  EXPECT_EQ(document["interval_s"], 30.0);
  EXPECT_EQ(document["clamped"], true);
  // e^(30/3600) - 1 over 30/3600, minus 1.
  EXPECT_NEAR(document["overhead"].get<double>(), 0.0041783, 1e-6);
}

TEST(CheckpointInterval, WithoutFailuresThereIsNoInterval) {
  const Json document = IntervalDocument({"--cost", "5m", "--mtbf", "infinite"});
  EXPECT_TRUE(document["young_s"].is_null());
  EXPECT_TRUE(document["mtbf_s"].is_null());
  EXPECT_EQ(document["overhead"], 0.0);
  EXPECT_EQ(document["advice"], "at-end-only");
  EXPECT_THAT(Interval({"--cost", "5m", "--mtbf", "infinite"}).out,
              HasSubstr("nothing ever fails: checkpoint at the end only\n"));
}

TEST(CheckpointInterval, ACheckpointLongerThanTheTimeBetweenFailuresIsAnswered) {
  const Json document = IntervalDocument({"--cost", "5m", "--mtbf", "2m"});
  EXPECT_EQ(document["daly_s"], 120.0);
  EXPECT_GT(document["overhead"].get<double>(), 10);
  // No number holds what this would take.
  EXPECT_TRUE(IntervalDocument({"--cost", "10d", "--mtbf", "1s"})["overhead"].is_null());
}

TEST(CheckpointInterval, AJobNearItsEndSkipsTheCheckpointUnlessItsLimitEndsIt) {
  const std::vector<std::string> near = {"--cost", "5m", "--mtbf", "24h", "--remaining", "1h"};
  EXPECT_EQ(IntervalDocument(near)["advice"], "skip");
  EXPECT_TRUE(IntervalDocument(near)["interval_s"].is_null());
  std::vector<std::string> limit = near;
  limit.emplace_back("--at-limit");
  EXPECT_EQ(IntervalDocument(limit)["advice"], "every");
  EXPECT_EQ(IntervalDocument(limit)["interval_s"], 3300.0);
}

TEST(CheckpointInterval, BadUsageIsOneLine) {
  const auto refused = [](std::vector<std::string> options) {
    const ProgramEnd end = Interval(std::move(options));
    EXPECT_EQ(end.code, 2);
    EXPECT_EQ(end.out, "");
    return end.err;
  };
  EXPECT_EQ(refused({"--mtbf", "24h"}), "muster checkpoint: --cost: name it, like --cost 5m\n");
  EXPECT_EQ(refused({"--cost", "5m"}), "muster checkpoint: --mtbf: name it, like --mtbf 24h\n");
  EXPECT_THAT(refused({"--cost", "nan", "--mtbf", "24h"}),
              HasSubstr("muster checkpoint: --cost: \"nan\" is not a duration: use 90s, 5m"));
  EXPECT_THAT(refused({"--cost", "5m", "--mtbf", "-1h"}), HasSubstr("--mtbf: \"-1h\" is not"));
  EXPECT_THAT(refused({"--cost", "infinite", "--mtbf", "1h"}), HasSubstr("--cost: \"infinite\""));
  EXPECT_THAT(
      refused({"--cost", "5m", "--mtbf", "1h", "--min-interval", "2h", "--max-interval", "1h"}),
      HasSubstr("--min-interval: use more than 0"));
  EXPECT_THAT(refused({"--cost", "5m", "--mtbf", "1h", "--at-limit"}), HasSubstr("--remaining D"));
  EXPECT_EQ(RunMuster({"checkpoint", "often"}).code, 2);
  EXPECT_EQ(RunMuster({"checkpoint"}).code, 2);
}

TEST(CheckpointInterval, FailuresWithoutPauseAreRefused) {
  const ProgramEnd end = Interval({"--cost", "5m", "--mtbf", "0s"});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.err,
            "muster checkpoint: --mtbf 0s: failures come too fast for any work to be done: use "
            "fewer or better nodes\n");
}

// --- The generations of a directory ---

// Writes a generation of job7, one rank, through the library.
void SaveGeneration(const std::string& directory, int value) {
  checkpoint::SessionOptions options;
  options.directory = directory;
  options.job = "job7";
  options.keep = 9;
  auto session = checkpoint::Session::Open(options);
  ASSERT_TRUE(session.ok()) << session.error.text;
  ASSERT_FALSE(session.value->Protect("value", &value, sizeof value).failed());
  const checkpoint::Error error = session.value->Save();
  ASSERT_FALSE(error.failed()) << error.text;
}

TEST(CheckpointDirectory, ListShowsTheNewestFirst) {
  const TempDirectory directory;
  SaveGeneration(directory.path(), 1);
  SaveGeneration(directory.path(), 2);
  const ProgramEnd end = RunMuster({"checkpoint", "list", directory.path(), "--json"});
  EXPECT_EQ(end.code, 0) << end.err;
  const Json generations = Json::parse(end.out)["generations"];
  ASSERT_EQ(generations.size(), 2U);
  EXPECT_EQ(generations[0]["generation"], 2);
  EXPECT_EQ(generations[0]["state"], "complete");
  EXPECT_EQ(generations[0]["job"], "job7");
  EXPECT_EQ(generations[0]["ranks"], 1);
  EXPECT_TRUE(generations[0]["fault"].is_null());
  EXPECT_THAT(RunMuster({"checkpoint", "list", directory.path()}).out,
              ::testing::StartsWith("GENERATION  STATE"));
}

TEST(CheckpointDirectory, VerifyNamesWhatIsBroken) {
  const TempDirectory directory;
  SaveGeneration(directory.path(), 1);
  SaveGeneration(directory.path(), 2);
  EXPECT_EQ(RunMuster({"checkpoint", "verify", directory.path()}).code, 0);
  const std::string shard = directory / "gen-0000000002/shard-000000";
  std::string bytes = ReadFile(shard).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(WriteFileAtomically(shard, bytes).ok());
  const ProgramEnd end = RunMuster({"checkpoint", "verify", directory.path()});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.out, HasSubstr("gen-0000000002: shard-000000: does not match its checksum"));
  // The newest is broken: nothing older goes.
  const ProgramEnd prune = RunMuster({"checkpoint", "prune", directory.path(), "--keep", "1"});
  EXPECT_EQ(prune.code, 1);
  EXPECT_EQ(prune.err,
            "muster checkpoint: gen-0000000002: shard-000000: does not match its checksum\n");
  EXPECT_EQ(RunMuster({"checkpoint", "verify", directory.path()}).out, end.out);
}

TEST(CheckpointDirectory, PruneKeepsTheNewest) {
  const TempDirectory directory;
  for (int i = 0; i < 4; ++i) {
    SaveGeneration(directory.path(), i);
  }
  EXPECT_EQ(RunMuster({"checkpoint", "prune", directory.path()}).out,
            "removed 2 generations, kept 2\n");
  EXPECT_EQ(RunMuster({"checkpoint", "prune", directory.path(), "--keep", "1"}).out,
            "removed 1 generation, kept 1\n");
  const Json left = Json::parse(
      RunMuster({"checkpoint", "verify", directory.path(), "--json"}).out)["generations"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["generation"], 4);
}

TEST(CheckpointDirectory, PruneKeepsMilestonesAndBoundsAgeAndSize) {
  const TempDirectory directory;
  for (int i = 0; i < 7; ++i) {
    SaveGeneration(directory.path(), i);
  }
  const auto prune = [&](const char* keep, const char* option, const char* value) {
    return RunMuster({"checkpoint", "prune", directory.path(), "--keep", keep, option, value}).out;
  };
  EXPECT_EQ(prune("1", "--milestone", "3"), "removed 4 generations, kept 3\n");  // 7, 6 and 3
  EXPECT_EQ(prune("9", "--max-age", "1h"), "removed 0 generations, kept 3\n");
  EXPECT_EQ(prune("9", "--max-age", "1ms"), "removed 2 generations, kept 1\n");
  for (int i = 0; i < 5; ++i) {
    SaveGeneration(directory.path(), i);
  }
  // Each has 172 bytes: head, one region's line, and four bytes.
  EXPECT_EQ(prune("9", "--max-size", "1K"), "removed 1 generation, kept 5\n");
  for (const auto& [option, value] :
       {std::pair("--max-age", "0"), std::pair("--max-age", "soon"), std::pair("--milestone", "0"),
        std::pair("--max-size", "much")}) {
    const ProgramEnd end = RunMuster({"checkpoint", "prune", directory.path(), option, value});
    EXPECT_EQ(end.code, 2);
    EXPECT_THAT(end.err, ::testing::StartsWith(std::string("muster checkpoint: ") + option + ": "));
  }
}

TEST(CheckpointDirectory, AQuotaOfSeveralDirectoriesTakesTheOldestOfAll) {
  const TempDirectory older;
  const TempDirectory newer;
  for (int i = 0; i < 3; ++i) {
    SaveGeneration(older.path(), i);
  }
  for (int i = 0; i < 3; ++i) {
    SaveGeneration(newer.path(), i);
  }
  const auto prune = [&](const char* quota) {
    return RunMuster(
        {"checkpoint", "prune", older.path(), newer.path(), "--keep", "9", "--quota", quota});
  };
  const auto left = [](const TempDirectory& directory) {
    return Json::parse(
               RunMuster({"checkpoint", "list", directory.path(), "--json"}).out)["generations"]
        .size();
  };
  EXPECT_EQ(prune("1M").out, "removed 0 generations, kept 6\n");
  EXPECT_EQ(prune("1K").out, "removed 1 generation, kept 5\n");  // of 172 bytes each
  EXPECT_EQ(left(older), 2U);
  EXPECT_EQ(left(newer), 3U);
  EXPECT_EQ(prune("soon").code, 2);
}

TEST(CheckpointDirectory, NoQuotaTakesTheNewestOfADirectory) {
  std::vector<TempDirectory> directories(7);
  std::vector<std::string> command = {"checkpoint", "prune", "--quota", "1K"};
  for (const TempDirectory& directory : directories) {
    SaveGeneration(directory.path(), 1);
    SaveGeneration(directory.path(), 2);
    command.push_back(directory.path());
  }
  const ProgramEnd end = RunMuster(command);
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.out, "removed 7 generations, kept 7\n");
  EXPECT_EQ(end.err,
            "muster checkpoint: --quota: the newest generations alone take 1.2 KiB, more than 1 "
            "KiB\n");
}

TEST(CheckpointDirectory, WhatIsWrongIsOneLine) {
  const ProgramEnd missing = RunMuster({"checkpoint", "list", "/nowhere"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err,
            "muster checkpoint: /nowhere: No such file or directory: name a directory of "
            "checkpoints that is yours\n");
  EXPECT_EQ(RunMuster({"checkpoint", "list"}).err,
            "muster checkpoint: list: name one directory: muster checkpoint list DIR\n");
  EXPECT_EQ(RunMuster({"checkpoint", "interval", "x"}).code, 2);
  const TempDirectory directory;
  EXPECT_EQ(RunMuster({"checkpoint", "prune", directory.path(), "--keep", "0"}).code, 2);
  EXPECT_EQ(RunMuster({"checkpoint", "prune", directory.path()}).out,
            "removed 0 generations, kept 0\n");
}

}  // namespace
}  // namespace muster::cli
