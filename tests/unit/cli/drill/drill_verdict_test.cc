#include "cli/drill/drill_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "cli/drill/drill_page.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Time kLetGo = Time(std::chrono::hours(500'000));

GenerationPrint Print(std::uint32_t ranks, std::uint64_t checksum) {
  GenerationPrint print;
  print.generation = 35;
  print.ranks = ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    print.regions.push_back({rank, "place", 64, 7});
    print.regions.push_back({rank, "cells", 4096, checksum + rank});
  }
  return print;
}

// A drill that came back and made a checkpoint that equals the original's.
DrillFacts Good() {
  DrillFacts facts;
  facts.original = "12";
  facts.drill = "15";
  facts.name = "heat";
  facts.directory = "/data/muster-12.checkpoint";
  facts.generation = 34;
  facts.written = kLetGo - seconds(20);
  facts.ranks = 2;
  facts.bytes = 8192;
  facts.submitted = kLetGo;
  facts.started = kLetGo + seconds(3);
  facts.restart = milliseconds(1'500);
  facts.first_checkpoint = kLetGo + seconds(30);
  facts.timeout = std::chrono::hours(1);
  facts.lost = seconds(20);
  facts.states = CompareStates(Print(2, 100), Print(2, 100));
  return facts;
}

DrillOutcome OutcomeOf(const DrillFacts& facts) {
  return JudgeDrill(facts, false).outcome;
}

TEST(DrillVerdict, EqualStatesAreARecovery) {
  const DrillVerdict verdict = JudgeDrill(Good(), true);
  EXPECT_EQ(verdict.outcome, DrillOutcome::kRecovered);
  EXPECT_EQ(verdict.text,
            "job 12 goes on from generation 34, and its state is the same at generation 35");
  EXPECT_EQ(StateText(Good()), "equal at generation 35: 4 regions of 2 ranks");
  EXPECT_EQ(TimeToWork(Good()), milliseconds(4'500));
}

TEST(DrillVerdict, AStateThatDiffersFailsOnlyWhereItMustBeExact) {
  DrillFacts facts = Good();
  facts.states = CompareStates(Print(2, 100), Print(2, 101));
  EXPECT_EQ(JudgeDrill(facts, false).outcome, DrillOutcome::kRecovered);
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("differs at generation 35"));
  EXPECT_EQ(JudgeDrill(facts, true).outcome, DrillOutcome::kFailed);
  EXPECT_EQ(StateText(facts),
            "differs at generation 35: 2 of 4 regions, the first is cells of rank 0");
}

TEST(DrillVerdict, OtherNumbersOfRanksAreNotCompared) {
  DrillFacts facts = Good();
  facts.states = CompareStates(Print(2, 100), Print(4, 100));
  EXPECT_EQ(facts.states.match, StateMatch::kOtherRanks);
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kRecovered);
  EXPECT_EQ(StateText(facts),
            "not compared at generation 35: 2 ranks wrote the original's, 4 the drill's");
  EXPECT_EQ(JudgeDrill(facts, true).outcome, DrillOutcome::kFailed);
}

TEST(DrillVerdict, ARegionThatOneOfThemLacksDiffers) {
  GenerationPrint more = Print(1, 100);
  more.regions.push_back({0, "seed", 8, 1});
  EXPECT_EQ(CompareStates(Print(1, 100), more).differing.size(), 1U);
  EXPECT_EQ(CompareStates(more, Print(1, 100)).differing.front().name, "seed");
}

TEST(DrillVerdict, ADamagedCheckpointFailsAndSaysWhereARestartWouldGo) {
  DrillFacts facts = Good();
  facts.fault = "gen-0000000034: shard-000000: does not match its checksum";
  facts.fallback = 33;
  const DrillVerdict verdict = JudgeDrill(facts, false);
  EXPECT_EQ(verdict.outcome, DrillOutcome::kFailed);
  EXPECT_THAT(verdict.text, StartsWith("generation 34 is damaged: gen-0000000034"));
  EXPECT_THAT(verdict.text, HasSubstr("would go back to generation 33"));
  facts.fallback.reset();
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("from the beginning"));
}

TEST(DrillVerdict, WhoStartsFromTheBeginningHasNotRecovered) {
  DrillFacts facts = Good();
  facts.restart = Duration(0);
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kFailed);
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("from the beginning"));
  EXPECT_EQ(TimeToWork(facts), std::nullopt);
}

TEST(DrillVerdict, ABadEndFailsUnlessTheOriginalEndedSo) {
  DrillFacts facts = Good();
  facts.first_checkpoint = kNoTime;
  facts.states = {};
  facts.end = {"FAILED", {2, 0}};
  EXPECT_EQ(JudgeDrill(facts, false).text,
            "the drill ended FAILED (exit code 2) after it had restored generation 34");
  facts.restart = Duration(0);
  EXPECT_EQ(JudgeDrill(facts, false).text,
            "the drill ended FAILED (exit code 2) without having restored generation 34");
  facts.restart = seconds(1);
  facts.original_end = {"FAILED", {2, 0}};
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kRecovered);
  EXPECT_THAT(StateText(facts), HasSubstr("job 12 has no later checkpoint"));
  facts.end = {"COMPLETED", {}};
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kRecovered);
}

TEST(DrillVerdict, WhatDidNotGetFarEnoughIsNotProven) {
  DrillFacts facts = Good();
  facts.first_checkpoint = kNoTime;
  facts.states = {};
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kNotProven);
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("made no checkpoint within"));
  facts.started = kNoTime;
  facts.restart = Duration(0);
  facts.waits_for = "no node is free";
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("did not start within"));
  EXPECT_THAT(JudgeDrill(facts, false).text, HasSubstr("no node is free"));
  facts.interrupted = true;
  EXPECT_EQ(JudgeDrill(facts, false).text, "the drill was interrupted");
}

TEST(DrillVerdict, AnOriginalThatWasWrittenToIsAFailure) {
  DrillFacts facts = Good();
  facts.touched = true;
  EXPECT_EQ(OutcomeOf(facts), DrillOutcome::kFailed);
}

TEST(DrillVerdict, ReportedNumbersStandSideBySideAsOfTheirCheckpoints) {
  const auto curve = [](double first, double last) {
    JobCurve job;
    job.reported.push_back({"loss",
                            last,
                            kLetGo + seconds(9),
                            {{kLetGo, seconds(1), first, first, first},
                             {kLetGo + seconds(9), seconds(1), last, last, last}}});
    job.reported.push_back({"step", last, kLetGo, {}});
    return job;
  };
  JobCurve drill = curve(0.5, 0.1);
  drill.reported.pop_back();
  const std::vector<DrillValue> values =
      ValuesBeside(curve(0.4, 0.2), kLetGo + seconds(4), drill, kNoTime);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].name, "loss");
  EXPECT_EQ(values[0].original, 0.4);
  EXPECT_EQ(values[0].drill, 0.1);
}

TEST(DrillPage, SaysWhatTheDocumentSays) {
  DrillFacts facts = Good();
  facts.values = {{"loss", 0.31, 0.31}};
  const DrillVerdict verdict = JudgeDrill(facts, false);
  const std::string page = DrillPage(facts, verdict, {});
  for (const char* text : {"12 (heat)", "generation 34 of ", "2 ranks", "job 15", "waited 0:03.00",
                           "back at work 0:04.50 after", "first checkpoint 0:30.00 after",
                           "0:20.00 of work since generation 34", "equal at generation 35", "loss",
                           "0.31", "\nrecovered: job 12 goes on"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  const Json document = DrillDocument(facts, verdict);
  EXPECT_EQ(document["verdict"], "recovered");
  EXPECT_EQ(document["recovered"], true);
  EXPECT_EQ(document["drill_job"], "15");
  EXPECT_EQ(document["back_at_work_s"], 4.5);
  EXPECT_EQ(document["would_be_lost_s"], 20.0);
  EXPECT_EQ(document["state"]["match"], "equal");
  EXPECT_EQ(document["checkpoint"]["fallback"], nullptr);
}

TEST(DrillPage, ShowsTheLastLinesOfADrillThatFailed) {
  DrillFacts facts = Good();
  facts.last_lines = {"heat2d: no such plate\x1b"};
  EXPECT_THAT(DrillPage(facts, JudgeDrill(facts, false), {}), Not(HasSubstr("no such plate")));
  facts.restart = Duration(0);
  EXPECT_THAT(DrillPage(facts, JudgeDrill(facts, false), {}),
              HasSubstr("\n  heat2d: no such plate\\x1b\n"));
}

}  // namespace
}  // namespace muster::cli
