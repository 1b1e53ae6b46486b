#include "cli/frame/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/frame/completion.h"
#include "cli/frame/json_output.h"
#include "cli/frame/verbs.h"
#include "cli/up/up_plan.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Environment kEnvironment({"HOME=/nonexistent"});

absl::StatusOr<Invocation> Parse(const Verb& verb, const std::vector<std::string>& words) {
  static const std::vector<Verb> none;
  return ParseVerb(verb, none, kEnvironment, words);
}

TEST(CommandLine, OptionsEndAtTheScript) {
  const Invocation invocation =
      Parse(SubmitVerb(), {"-n", "2", "--mem=4G", "-Hc3", "job.sh", "-n", "--odd", "--", "[a,b]"})
          .value();
  EXPECT_EQ(invocation.Value("ntasks"), "2");
  EXPECT_EQ(invocation.Value("mem"), "4G");
  EXPECT_EQ(invocation.Value("cpus-per-task"), "3");
  EXPECT_TRUE(invocation.Has("hold"));
  EXPECT_THAT(invocation.arguments, ElementsAre("job.sh", "-n", "--odd", "--", "[a,b]"));
}

TEST(CommandLine, AColonBetweenOptionsBeginsTheNextComponent) {
  const Invocation invocation =
      Parse(SubmitVerb(), {"-n4", ":", "-n", "1", "-G1", "job.sh", "a", ":", "b"}).value();
  EXPECT_EQ(invocation.Value("ntasks"), "4");
  ASSERT_EQ(invocation.components.size(), 1U);
  EXPECT_EQ(invocation.components[0].values.at("ntasks"), "1");
  EXPECT_EQ(invocation.components[0].values.at("gpus"), "1");
  EXPECT_THAT(invocation.arguments, ElementsAre("job.sh", "a", ":", "b"));
}

TEST(CommandLine, EachComponentOfARunHasItsOwnCommand) {
  const Invocation invocation =
      Parse(RunVerb(), {"-n4", "./a", "x", ":", "-n1", "./b", ":", "./c"}).value();
  EXPECT_THAT(invocation.arguments, ElementsAre("./a", "x"));
  ASSERT_EQ(invocation.components.size(), 2U);
  EXPECT_EQ(invocation.components[0].values.at("ntasks"), "1");
  EXPECT_THAT(invocation.components[0].arguments, ElementsAre("./b"));
  EXPECT_THAT(invocation.components[1].arguments, ElementsAre("./c"));
  EXPECT_FALSE(Parse(RunVerb(), {"./a", ":"}).ok());
}

TEST(CommandLine, ADoubleDashEndsOptions) {
  const Invocation invocation = Parse(RunVerb(), {"-n2", "--", "-weird", "--help"}).value();
  EXPECT_EQ(invocation.Value("ntasks"), "2");
  EXPECT_THAT(invocation.arguments, ElementsAre("-weird", "--help"));
}

TEST(CommandLine, OtherVerbsTakeOptionsAnywhere) {
  const Invocation invocation = Parse(CancelVerb(), {"12", "--state", "/s", "13_[1-2]"}).value();
  EXPECT_THAT(invocation.arguments, ElementsAre("12", "13_[1-2]"));
  EXPECT_EQ(invocation.Value("state"), "/s");
}

TEST(CommandLine, TheLastOfARepeatedOptionCounts) {
  EXPECT_EQ(Parse(SubmitVerb(), {"-n", "1", "-n", "2", "x"}).value().Value("ntasks"), "2");
}

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

Result Invoke(const std::vector<std::string>& words) {
  const std::vector<Verb> verbs = {SubmitVerb(), RunVerb(), CancelVerb(), UpVerb()};
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommandLine(verbs, kEnvironment, words, {.out = out, .err = err});
  return {.code = code, .out = out.str(), .err = err.str()};
}

TEST(CommandLine, BadUsageIsOneLineAndExitCode2) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"frobnicate"},
      {"submit"},
      {"submit", "--frobnicate", "x"},
      {"submit", "-n"},
      {"submit", "-n", "0", "--wrap", "x"},
      {"submit", "-n", "-1", "--wrap", "x"},
      {"submit", "--mem=10Q", "--wrap", "x"},
      {"submit", "--mem=", "--wrap", "x"},
      {"submit", "-t", "99:99:99:99", "--wrap", "x"},
      {"submit", "-G", "9223372036854775808", "--wrap", "x"},
      {"submit", "-J", std::string(1 << 20, 'j'), "--wrap", "x"},
      {"submit", "--exclusive=user", "--wrap", "x"},
      {"submit", "--wrap", "x", "script"},
      {"submit", "--wrap", ""},
      {"run"},
      {"run", "--array", "1-2", "true"},
      {"cancel"},
      {"cancel", "--all", "12"},
      {"cancel", "12", "1x"},
      {"up", "--nodes", "0"},
      {"up", "extra"},
      {"up", "--topology", "core:2,core:2", "--nodes", "3", "--state", "/s"},
  };
  for (const std::vector<std::string>& words : bad) {
    const Result result = Invoke(words);
    EXPECT_EQ(result.code, 2) << ::testing::PrintToString(words) << result.err;
    EXPECT_THAT(result.err, ::testing::MatchesRegex("muster[^\n]*: [^\n]*\n"));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(Invoke({"submit", "--mem=10Q", "x"}).err.substr(0, 44),
            "muster submit: --mem: \"10Q\" is not a size: u");
}

TEST(CommandLine, HelpHasAPurposeAndExamples) {
  for (const Verb& verb : {SubmitVerb(), RunVerb(), CancelVerb(), UpVerb()}) {
    const Result result = Invoke({verb.name, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr(verb.purpose));
    EXPECT_THAT(result.out, HasSubstr("muster " + verb.name));
    EXPECT_FALSE(verb.examples.empty());
  }
  EXPECT_THAT(Invoke({"submit", "--help"}).out, HasSubstr("never on this cluster"));
  EXPECT_THAT(Invoke({"submit", "--help"}).out, ::testing::Not(HasSubstr("--contiguous")));
}

TEST(Completion, OffersVerbsAndShownOptions) {
  const std::string script = BashCompletion({SubmitVerb(), CancelVerb()});
  EXPECT_THAT(script, HasSubstr("compgen -W 'submit cancel'"));
  EXPECT_THAT(script,
              HasSubstr("cancel) words='--help --all --signal --batch --full --me --user --account "
                        "--partition --qos --name --nodelist --reservation --states --controller "
                        "--state'"));
  EXPECT_THAT(script, HasSubstr(" --ntasks-per-node "));
  EXPECT_THAT(script, ::testing::Not(HasSubstr("--contiguous")));
}

TEST(Up, TopologiesAreSplitOutsideParentheses) {
  const std::vector<Verb> none;
  const Invocation invocation{
      .environment = kEnvironment,
      .verbs = none,
      .values = {{"state", "/s"}, {"topology", "numa:2(memory=1,x=2) core:2,core:4"}},
      .arguments = {}};
  const UpOptions options = ReadUpOptions(invocation).value();
  EXPECT_THAT(options.topologies, ElementsAre("numa:2(memory=1,x=2) core:2", "core:4"));
  EXPECT_EQ(options.nodes, 2U);
  EXPECT_EQ(options.state, "/s");
}

TEST(Up, NodesAreCalledAsTheNetworkCallsThem) {
  const std::vector<Verb> none;
  const std::string tree = std::string(MUSTER_FIXTURES) + "/network/tree.topology.conf";
  const auto read = [&](std::map<std::string, std::string> values) {
    values.insert({{"state", "/s"}, {"network", tree}});
    return ReadUpOptions(
        Invocation{.environment = kEnvironment, .verbs = none, .values = values, .arguments = {}});
  };
  EXPECT_EQ(read({})->nodes, 16U);
  EXPECT_EQ(read({})->names.back(), "n16");
  EXPECT_THAT(read({{"nodes", "2"}})->names, ElementsAre("n01", "n02"));
  EXPECT_THAT(std::string(read({{"nodes", "17"}}).status().message()),
              HasSubstr("--network has 16 nodes, not 17"));
  EXPECT_THAT(std::string(read({{"network", "/nowhere.conf"}}).status().message()),
              ::testing::StartsWith("--network: "));
}

TEST(Up, TheReadyLineCountsAll) {
  NodeView node;
  node.cores = 1;
  node.memory = kGibibyte * 11 + kMebibyte * 700;
  EXPECT_EQ(ReadyLine({node, node}),
            "ready: 2 nodes, 2 cores, 23 GiB — submit with: muster submit --wrap hostname");
  node.gpus = 1;
  EXPECT_THAT(ReadyLine({node}), HasSubstr("1 node, 1 core, 1 GPU, 11 GiB"));
}

TEST(Json, FollowsTheFieldsOfValues) {
  JobView view;
  view.id = JobId(7);
  view.memory = Bytes(1024);
  view.submit_time = Time(std::chrono::milliseconds(1'773'480'413'589));
  view.time_limit = std::chrono::milliseconds(1500);
  view.nodes = {"node1"};
  const Json json = ToJson(view);
  EXPECT_EQ(json["id"], 7);
  EXPECT_EQ(json["memory"], 1024);
  EXPECT_EQ(json["submit_time"], "2026-03-14T09:26:53.589Z");
  EXPECT_TRUE(json["start_time"].is_null());
  EXPECT_EQ(json["time_limit"], 1.5);
  EXPECT_EQ(json["nodes"], Json::parse(R"(["node1"])"));
  EXPECT_EQ(json["reason"]["never"], false);
  EXPECT_EQ(json.items().begin().key(), "id") << "the order is Fields()'s";
}

TEST(Json, IndexSetsAreListsAndBadTextIsRepaired) {
  RankPlacement rank;
  rank.cpus = CpuSet::Of({0, 1, 2, 8});
  EXPECT_EQ(ToJson(rank)["cpus"], "0-2,8");
  EXPECT_THAT(PrintJson(Json("\xff")), HasSubstr("\xef\xbf\xbd"));
  const std::optional<ArraySpec> none;
  EXPECT_TRUE(ToJson(none).is_null());
}

}  // namespace
}  // namespace muster::cli
