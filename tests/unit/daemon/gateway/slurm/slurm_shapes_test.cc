// Every object of v0.0.40 has every field of its version, of the right type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "daemon/gateway/slurm/slurm_blanks.h"
#include "daemon/gateway/slurm/slurm_cluster.h"
#include "daemon/gateway/slurm/slurm_jobs.h"
#include "daemon/gateway/slurm/slurm_paths.h"

namespace muster::daemon::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

bool HasKind(const Json& value, const std::string& kind) {
  const bool no_val = value.is_object() && value.contains("set") && value.contains("infinite") &&
                      value.contains("number") && value.at("number").is_number();
  return kind == "text"      ? value.is_string()
         : kind == "integer" ? value.is_number_integer()
         : kind == "number"  ? value.is_number()
         : kind == "boolean" ? value.is_boolean()
         : kind == "list"    ? value.is_array()
         : kind == "no_val"  ? no_val
                             : value.is_object() && !no_val;
}

// The fields of that shape which the object lacks or has of another type; and those that no
// version has.
std::vector<std::string> Amiss(const Json& object, const std::string& shape,
                               std::set<std::string> others = {}) {
  std::ifstream file(std::string(MUSTER_FIXTURES) + "/slurm/v0.0.40.json");
  const Json shapes = Json::parse(file);
  std::vector<std::string> amiss;
  for (const auto& [kind, fields] : shapes.at(shape).items()) {
    for (const std::string field : fields) {
      others.insert(field);
      if (!object.contains(field) || !HasKind(object.at(field), kind)) {
        amiss.push_back(field + " is no " + kind);
      }
    }
  }
  for (const auto& [field, value] : object.items()) {
    if (!others.contains(field)) {
      amiss.push_back(field + " is no field");
    }
  }
  return amiss;
}

wire::JobView PlainJob(const std::string& state) {
  wire::JobView job;
  job.set_id(7);
  job.set_state(state);
  job.set_cpus(8);
  return job;
}

wire::JobView RunningJob() {
  wire::JobView job = PlainJob("RUNNING");
  job.add_nodes("n1");
  job.set_start_time(5'000);
  return job;
}

TEST(SlurmShapesTest, AJobHasEveryFieldWhetherItWaitsRunsOrHasEnded) {
  wire::JobView ended = RunningJob();
  ended.set_state("FAILED");
  ended.set_end_time(10'000);
  wire::JobDetail detail;
  for (const wire::JobView& job : {PlainJob("PENDING"), RunningJob(), ended}) {
    *detail.mutable_job() = job;
    EXPECT_THAT(Amiss(QueuedJob(job, nullptr), "job_info"), IsEmpty()) << job.state();
    EXPECT_THAT(Amiss(QueuedJob(job, &detail), "job_info"), IsEmpty()) << job.state();
    EXPECT_THAT(Amiss(AccountedJob(job, nullptr), "job", {"restart_cnt"}), IsEmpty());
    EXPECT_THAT(Amiss(AccountedJob(job, &detail), "job", {"restart_cnt"}), IsEmpty());
    EXPECT_THAT(Amiss(QueuedJob(job, nullptr).at("exit_code"), "process_exit_code_verbose"),
                IsEmpty());
  }
}

TEST(SlurmShapesTest, AJobOfALongListIsTheSameAndHasNoFieldTwice) {
  const wire::JobView job = RunningJob();
  std::string queue;
  std::string accounting;
  for (int i = 0; i < 2; ++i) {
    AppendQueuedJob(job, &queue);
    AppendAccountedJob(job, &accounting);
  }
  const auto read = [](const std::string& list) {
    std::vector<std::set<std::string>> open;
    return Json::parse("[" + list + "]", [&open](int, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::object_start) {
        open.emplace_back();
      } else if (event == Json::parse_event_t::object_end) {
        open.pop_back();
      } else if (event == Json::parse_event_t::key) {
        EXPECT_TRUE(open.back().insert(parsed.get<std::string>()).second) << parsed;
      }
      return true;
    });
  };
  EXPECT_EQ(read(queue), Json::array({QueuedJob(job, nullptr), QueuedJob(job, nullptr)}));
  EXPECT_EQ(read(accounting),
            Json::array({AccountedJob(job, nullptr), AccountedJob(job, nullptr)}));
}

TEST(SlurmShapesTest, ResourcesAreAnObjectAlsoOfAJobThatHasNone) {
  EXPECT_THAT(Amiss(QueuedJob(RunningJob(), nullptr).at("job_resources"), "job_res"), IsEmpty());
  EXPECT_EQ(QueuedJob(PlainJob("PENDING"), nullptr).at("job_resources"), Json::object());
}

TEST(SlurmShapesTest, AnAskedForMailStandsInTheNamesOfSlurmrestd) {
  wire::JobDetail detail;
  *detail.mutable_job() = PlainJob("PENDING");
  detail.add_recorded("mail-type=END,TIME_LIMIT_90,ARRAY_TASKS");
  detail.add_recorded("mail-user=ada@example.org");
  const Json shown = QueuedJob(detail.job(), &detail);
  EXPECT_EQ(shown.at("mail_type"), (Json{"END", "TIME=90%", "ARRAY_TASKS"}));
  EXPECT_EQ(shown.at("mail_user"), "ada@example.org");
}

TEST(SlurmShapesTest, NodesPartitionsAndReservationsHaveEveryField) {
  wire::NodeView node;
  node.set_name("n1");
  node.set_state("IDLE");
  wire::ListNodesReply nodes;
  *nodes.add_nodes() = node;
  wire::PolicyView partition;
  partition.set_kind("partition");
  partition.set_name("main");
  EXPECT_THAT(Amiss(NodeEntry(node, {}), "node"), IsEmpty());
  EXPECT_THAT(Amiss(PartitionEntry(partition, nodes.nodes()), "partition_info"), IsEmpty());
  wire::PolicyView reservation;
  wire::Assignment& start = *reservation.add_properties();
  start.set_key("StartTime");
  start.set_value("2030-01-01T00:00:00Z");
  const Json entry = ReservationEntry(reservation);
  EXPECT_THAT(Amiss(entry, "reservation_info"), IsEmpty());
  EXPECT_EQ(entry.at("start_time").at("number"), 1'893'456'000);
  EXPECT_FALSE(entry.at("end_time").at("set").get<bool>());
}

wire::ReadMetricsReply SomeMetrics() {
  wire::ReadMetricsReply metrics;
  metrics.set_time(220'000);
  const auto add = [&metrics](const char* name, double value) {
    wire::MetricFamily& family = *metrics.add_families();
    family.set_name(name);
    family.add_samples()->set_value(value);
  };
  add("muster_controller_start_seconds", 100);
  add("muster_cycle_newest_seconds", 210);
  add("muster_cycle_last_seconds", 0.002);
  add("slurm_jobs_pending", 5);
  wire::MetricFamily& cycles = *metrics.add_families();
  cycles.set_name("muster_cycle_seconds");
  cycles.add_samples()->set_value(0.012);
  cycles.mutable_samples(0)->add_counts(3);
  cycles.mutable_samples(0)->add_counts(1);
  wire::MetricFamily& calls = *metrics.add_families();
  calls.set_name("muster_call_seconds");
  calls.add_samples()->add_labels("Submit");
  calls.mutable_samples(0)->set_value(0.5);
  calls.mutable_samples(0)->add_counts(2);
  return metrics;
}

TEST(SlurmShapesTest, StatisticsSayOfBothLoopsWhatTheOneCycleMeasures) {
  const Json statistics = Statistics(SomeMetrics());
  EXPECT_THAT(Amiss(statistics, "stats_msg"), IsEmpty());
  EXPECT_EQ(statistics.at("bf_cycle_counter"), 4);
  EXPECT_EQ(statistics.at("bf_cycle_mean"), 3'000) << "microseconds";
  EXPECT_EQ(statistics.at("bf_cycle_last"), 2'000);
  EXPECT_EQ(statistics.at("bf_queue_len"), 5);
  EXPECT_EQ(statistics.at("schedule_cycle_per_minute"), 2);
  EXPECT_EQ(statistics.at("bf_when_last_cycle").at("number"), 210);
  EXPECT_EQ(statistics.at("rpcs_by_message_type")[0].at("average_time"), 250'000);
}

TEST(SlurmShapesTest, AnAnswerSaysItsVersionInTexts) {
  const Json meta = Answer(Json::object()).at("meta");
  EXPECT_THAT(Amiss(meta, "openapi_meta"), IsEmpty());
  EXPECT_EQ(meta.at("slurm").at("version"),
            (Json{{"major", "23"}, {"minor", "11"}, {"micro", "0"}}));
}

TEST(SlurmShapesTest, TheQueueSaysWhenItWasPlannedAndHowNewItIs) {
  for (const char* path : {"/slurm/v0.0.40/jobs", "/slurm/v0.0.40/job/7"}) {
    const absl::StatusOr<SlurmCall> call =
        ReadSlurmCall({"GET", path, {}, "token", "application/json", "", "", ""});
    ASSERT_TRUE(call.ok()) << call.status();
    Messages answers;
    for (const Question& question : call->questions) {
      if (question.method == std::string("ReadMetrics")) {
        answers.push_back(std::make_unique<wire::ReadMetricsReply>(SomeMetrics()));
      } else if (question.method == std::string("ShowJob")) {
        auto shown = std::make_unique<wire::ShowJobReply>();
        *shown->add_jobs()->mutable_job() = RunningJob();
        answers.push_back(std::move(shown));
      } else {
        answers.push_back(std::make_unique<wire::ListJobsReply>());
      }
    }
    absl::StatusOr<SlurmAnswer> made = call->answer(answers);
    ASSERT_TRUE(made.ok()) << made.status();
    const Json answer = Json::parse(AnswerText(*std::move(made)));
    EXPECT_TRUE(answer.at("jobs").is_array()) << path;
    EXPECT_TRUE(answer.contains("meta")) << path;
    EXPECT_EQ(answer.at("last_backfill").at("number"), 210) << path;
    EXPECT_TRUE(answer.at("last_update").at("set").get<bool>()) << path;
  }
}

TEST(SlurmShapesTest, ABlankHasNoFieldThatItsVersionDoesNotKnow) {
  const auto strange = [](const Json& blank, const std::string& shape) {
    std::vector<std::string> amiss = Amiss(blank, shape);
    std::erase_if(
        amiss, [](const std::string& one) { return one.find("is no field") == std::string::npos; });
    return amiss;
  };
  EXPECT_THAT(strange(BlankJob(), "job_info"), IsEmpty());
  EXPECT_THAT(strange(BlankAccountedJob(), "job"), IsEmpty());
  EXPECT_THAT(strange(BlankNode(), "node"), IsEmpty());
  EXPECT_THAT(strange(BlankPartition(), "partition_info"), IsEmpty());
  EXPECT_THAT(strange(BlankReservation(), "reservation_info"), IsEmpty());
  EXPECT_THAT(strange(BlankStatistics(), "stats_msg"), IsEmpty());
}

}  // namespace
}  // namespace muster::daemon::slurm
