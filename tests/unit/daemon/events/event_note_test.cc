#include "daemon/events/event_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/events/cloud_event.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const NoteValue* Find(const EventNote& note, const std::string& key) {
  for (const auto& [name, value] : note.data) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

TEST(EventNoteTest, ASubmissionSaysWhoseItIsAndNothingOfItsProgram) {
  JobSubmitted event;
  event.first = JobId(7);
  event.count = 3;
  event.token = "secret-token";
  event.spec.name = "train";
  event.spec.user = User{1000, 1000, "ada"};
  event.spec.recorded = {"mail-type=END", "hint=nomultithread", "notify=https://x/"};
  event.program.script = "secret-script";
  const auto note = NoteOf(event);
  ASSERT_TRUE(note.has_value());
  EXPECT_STREQ(note->type, "muster.job.submitted");
  EXPECT_TRUE(note->knows_job());
  EXPECT_EQ(note->facts.user, "ada");
  EXPECT_THAT(note->facts.notices, ElementsAre("mail-type=END", "notify=https://x/"));
  for (const auto& [name, value] : note->data) {
    const auto* text = std::get_if<std::string>(&value);
    EXPECT_TRUE(text == nullptr || text->find("secret") == std::string::npos) << name;
  }
}

// Before a restart and after it, and whether it has ended by then or not.
TEST(EventNoteTest, AJobIsInTheImpliedPartitionWhereItNamedNone) {
  JobSubmitted event;
  event.first = JobId(7);
  event.count = 1;
  const std::string implied = NoteOf(event)->facts.partition;
  EXPECT_FALSE(implied.empty());
  Job job;
  job.id = event.first;
  job.submission = event.first;
  job.spec = std::make_shared<const JobSpec>();
  EXPECT_EQ(FactsOf(job).partition, implied);
  job.attempt.emplace();
  EXPECT_EQ(FactsOf(job).partition, implied);
}

TEST(EventNoteTest, AnEndSaysHow) {
  JobEnded event;
  event.job = JobId(8);
  event.state = JobState::kFailed;
  event.status = ExitStatus{3, 0};
  event.more = 4;
  const auto note = NoteOf(event);
  ASSERT_TRUE(note.has_value());
  EXPECT_FALSE(note->knows_job()) << "whose it is, the state says";
  EXPECT_EQ(*Find(*note, "state"), NoteValue(std::string("FAILED")));
  EXPECT_EQ(*Find(*note, "exit_code"), NoteValue(std::int64_t{3}));
  EXPECT_EQ(*Find(*note, "count"), NoteValue(std::int64_t{5}));
}

TEST(EventNoteTest, AnAlertOfAJobIsItsUsersAndOneOfANodeEverybodys) {
  Alert alert;
  alert.rule = "JobOutOfMemory";
  alert.severity = "warning";
  alert.subject = "job 7";
  alert.job = JobId(7);
  alert.label = "7";
  alert.user = "ada";
  alert.text = "job 7 ran out of memory";
  const EventNote began = *NoteOf(Event(AlertBegan{alert, Time(Duration(1000))}));
  EXPECT_EQ(std::string(began.type), "muster.alert.began");
  const CloudEvent of_job = MakeCloudEvent(began, "here");
  EXPECT_EQ(of_job.user, "ada");
  EXPECT_THAT(of_job.json, HasSubstr(R"("rule":"JobOutOfMemory")"));
  EXPECT_THAT(of_job.json, HasSubstr(R"("subject":"job/7")"));
  alert = Alert();
  alert.rule = "NodeSilent";
  alert.subject = alert.node = "n1";
  const CloudEvent of_node =
      MakeCloudEvent(*NoteOf(Event(AlertEnded{alert, Time(Duration(1000))})), "here");
  EXPECT_EQ(std::string(of_node.type), "muster.alert.ended");
  EXPECT_EQ(of_node.user, "");
  EXPECT_THAT(of_node.json, HasSubstr(R"("subject":"node/n1")"));
}

TEST(EventNoteTest, ANarrowLinkSaysBetweenWhatAndWhoSaidSo) {
  const NarrowLink link{"leaf1", "leaf2", "one of two cables", "ada", Time(Duration(1000))};
  const CloudEvent narrowed =
      MakeCloudEvent(*NoteOf(LinkNarrowed{link, true, Time(Duration(1000))}), "here");
  EXPECT_THAT(narrowed.json, HasSubstr(R"("type":"muster.link.narrowed")"));
  EXPECT_THAT(narrowed.json, HasSubstr(R"("switches":"leaf1,leaf2")"));
  EXPECT_THAT(narrowed.json, HasSubstr(R"("by":"ada")"));
  const EventNote resumed = *NoteOf(LinkNarrowed{link, false, Time(Duration(2000))});
  EXPECT_EQ(std::string(resumed.type), "muster.link.resumed");
}

TEST(EventNoteTest, GpusThatOthersUseAreCountedAndOneUserIsNamed) {
  const GpuOccupant alice{1, 4711, "alice", "python", Bytes()};
  const CloudEvent used = MakeCloudEvent(
      *NoteOf(GpusOccupied{NodeId(1), {alice, alice}, Time(Duration(1000))}), "here");
  EXPECT_THAT(used.json, HasSubstr(R"("type":"muster.node.gpus_occupied")"));
  EXPECT_THAT(used.json, HasSubstr(R"("count":1)"));
  EXPECT_THAT(used.json, HasSubstr("pid 4711 (alice, python)"));
}

TEST(EventNoteTest, AGpuThatIsDividedIsToldUntilThatMattersNoMore) {
  GpuLayoutSet set;
  set.node = NodeId(1);
  set.layout.gpu = "GPU-a";
  set.layout.instances = {{"3g.71gb", 9, {0, 4}}};
  set.layout.phase = LayoutPhase::kOrdered;
  const CloudEvent told = MakeCloudEvent(*NoteOf(Event(set)), "here");
  EXPECT_THAT(told.json, HasSubstr(R"("type":"muster.node.gpu_layout")"));
  EXPECT_THAT(told.json, HasSubstr(R"("state":"ordered")"));
  EXPECT_THAT(told.json, HasSubstr("1 x 3g.71gb"));
  set.over = true;
  EXPECT_FALSE(NoteOf(Event(set)).has_value());
}

TEST(EventNoteTest, WhatOnlyTheControllerNeedsIsNotTold) {
  EXPECT_FALSE(NoteOf(HalfLifeSet()).has_value());
  EXPECT_FALSE(NoteOf(AttemptAdvised()).has_value());
  RunReported read;
  read.report.fact = BindingRead();
  EXPECT_FALSE(NoteOf(read).has_value());
}

TEST(EventNoteTest, AnElementIsCalledByItsArray) {
  JobSpec spec;
  spec.user.name = "ada";
  Job job;
  job.id = JobId(12);
  job.submission = JobId(10);
  job.array_index = 5;
  job.spec = std::make_shared<const JobSpec>(spec);
  EXPECT_EQ(FactsOf(job).label, "10_5");
}

}  // namespace
}  // namespace muster::daemon
