// Slurm's accounting dumps, Batsim's workloads and the tables of GPU clusters, whole or broken.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/simulator/readers/node_list.h"
#include "scheduler/simulator/readers/slurm_values.h"
#include "scheduler/simulator/readers/trace_format.h"
#include "scheduler/simulator/schedule/trace_text.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFixtures = MUSTER_FIXTURES "/traces/";

class Traces : public ::testing::Test {
 protected:
  std::string Write(const std::string& text, const std::string& name = "trace") {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }

  absl::Status Read(const std::string& path, bool lenient = false,
                    TraceUnit unit = TraceUnit::kUsual) {
    records_.clear();
    absl::StatusOr<OpenedTrace> opened =
        OpenTrace({.path = path, .format = {}, .unit = unit, .lenient = lenient});
    if (!opened.ok()) {
      return opened.status();
    }
    trace_ = std::move(*opened);
    TraceRecord record;
    for (;;) {
      const absl::StatusOr<bool> more = trace_.reader->Next(&record);
      if (!more.ok() || !*more) {
        return more.status();
      }
      records_.push_back(record);
    }
  }

  std::string ErrorOf(const std::string& text) {
    const absl::Status status = Read(Write(text));
    EXPECT_FALSE(status.ok()) << text.substr(0, 300);
    const std::string message(status.message());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  const TraceRecord& JobOf(std::int64_t id) const {
    for (const TraceRecord& record : records_) {
      if (record.job_id == id) {
        return record;
      }
    }
    ADD_FAILURE() << "no job " << id;
    return records_.front();
  }

  std::string Header(const std::string& columns = "") {
    return absl::StrCat("JobID|User|Submit|Start|End|NCPUS", columns, "\n");
  }

  TempDirectory directory_;
  OpenedTrace trace_;
  std::vector<TraceRecord> records_;
};

TEST_F(Traces, SacctGivesJobsNotStepsSinceTheFirstSubmission) {
  ASSERT_TRUE(Read(kFixtures + "sacct.txt").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kSacct);
  ASSERT_EQ(records_.size(), 4U);
  EXPECT_EQ(trace_.reader->steps(), 3U);
  EXPECT_EQ(trace_.reader->header().unix_start, 1'773'475'140);  // date -u -d 2026-03-14T07:59:00
  const TraceRecord& first = JobOf(100);
  EXPECT_EQ(first.submit, 60);
  EXPECT_EQ(first.wait, 5);
  EXPECT_EQ(first.run_time, 3600);
  EXPECT_EQ(first.requested_time, 7200);
  EXPECT_EQ(first.requested, 64);
  EXPECT_EQ(first.nodes, 2);
  EXPECT_EQ(first.gpu_milli, -1);
  EXPECT_EQ(first.status, 1);
  EXPECT_EQ(trace_.reader->names().users.NameOf(first.user), "alice");
  EXPECT_EQ(JobOf(101).submit, 0) << "the array task goes by its own number";
  EXPECT_EQ(JobOf(101).gpu_milli, 4000) << "typed and untyped are the same four";
  EXPECT_EQ(JobOf(102).gpu_milli, 4000);
  EXPECT_EQ(JobOf(102).status, 0);
  const TraceRecord& cancelled = JobOf(103);
  EXPECT_EQ(cancelled.status, 5);
  EXPECT_EQ(cancelled.run_time, 0);
  EXPECT_EQ(cancelled.requested_time, -1);
  EXPECT_EQ(cancelled.wait, -1);
}

TEST_F(Traces, SacctCountsGpusWhenAsked) {
  ASSERT_TRUE(Read(kFixtures + "sacct.txt", false, TraceUnit::kGpus).ok());
  EXPECT_EQ(JobOf(101).requested, 4);
  EXPECT_EQ(JobOf(100).requested, -1);
}

TEST_F(Traces, SacctNamesTheLineOfWhatItRefuses) {
  const std::string fine = "1|u|2026-01-01T00:00:00|2026-01-01T00:00:01|2026-01-01T00:00:09|1\n";
  EXPECT_THAT(ErrorOf(Header() + fine + "2|u|yesterday|None|None|1\n"),
              HasSubstr("trace:3: Submit is \"yesterday\": write a time such as 2026-03-14"));
  EXPECT_THAT(ErrorOf(Header() + fine + "2|u|2026-02-30T00:00:00|None|None|1\n"),
              HasSubstr(":3: Submit is \"2026-02-30T00:00:00\""));
  EXPECT_THAT(ErrorOf(Header() + fine + fine), HasSubstr(":3: job id 1 was there before"));
  EXPECT_THAT(ErrorOf(Header() + "2|u|2026-01-01T00:00"),
              HasSubstr(":2: 3 columns where the first line names 6: is the file cut off?"));
  EXPECT_THAT(
      ErrorOf(Header() + "2|u|2026-01-01T00:00:09|2026-01-01T00:00:09|2026-01-01T00:00:01|1\n"),
      HasSubstr("before its start"));
  EXPECT_THAT(ErrorOf(Header() + "2|u|2026-01-01T00:00:00|None|None|nan\n"),
              HasSubstr(":2: NCPUS is \"nan\""));
  EXPECT_THAT(ErrorOf(Header() + "2|u|Unknown|None|None|1\n"),
              HasSubstr(":2: the row says not when the job was submitted"));
  EXPECT_THAT(ErrorOf("Submit|NCPUS\n2026-01-01T00:00:00|1\n"),
              HasSubstr(":2: the row has no job"));
}

TEST_F(Traces, LenientLeavesOutAndCountsBrokenRows) {
  const std::string job = "|u|2026-01-01T00:00:00|2026-01-01T00:00:01|2026-01-01T00:00:09|1\n";
  ASSERT_TRUE(
      Read(Write(Header() + "1" + job + "x" + job + "1" + job + "cut|off\n" + "2" + job), true)
          .ok());
  EXPECT_EQ(records_.size(), 2U);
  EXPECT_EQ(trace_.reader->skipped().lines, 2U);
  EXPECT_EQ(trace_.reader->skipped().duplicates, 1U);
  EXPECT_THAT(trace_.reader->skipped().first, HasSubstr(":3: JobID is \"x\""));
}

TEST(SlurmValues, DurationsAreReadInEveryForm) {
  std::int64_t seconds = 0;
  const auto read = [&seconds](const char* text) {
    return ReadSlurmDuration(text, &seconds) ? seconds : -99;
  };
  EXPECT_EQ(read("1-02:03:04"), 93'784);
  EXPECT_EQ(read("02:03:04"), 7'384);
  EXPECT_EQ(read("03:04.567"), 184);
  EXPECT_EQ(read("UNLIMITED"), -1);
  for (const char* bad : {"", "5", "1:2:3:4", "-1:00", "1-", "1-2-3:00", "nan", "a:00",
                          "99999999-00:00:00", "00:-5"}) {
    EXPECT_EQ(read(bad), -99) << bad;
  }
}

TEST(SlurmValues, JobIdsOfArraysAndHeterogeneousJobsAreTheirOwn) {
  std::int64_t id = 0;
  bool is_step = false;
  ASSERT_TRUE(ReadSlurmJobId("12_3", &id, &is_step));
  EXPECT_EQ(id, 12'000'003);
  ASSERT_TRUE(ReadSlurmJobId("12+1", &id, &is_step));
  EXPECT_EQ(id, 13);
  EXPECT_FALSE(is_step);
  ASSERT_TRUE(ReadSlurmJobId("12_3.extern", &id, &is_step));
  EXPECT_TRUE(is_step);
  for (const char* bad : {"", "x", "_3", "12_", "12_x", "12/4", "12_9999999"}) {
    EXPECT_FALSE(ReadSlurmJobId(bad, &id, &is_step)) << bad;
  }
}

TEST_F(Traces, BatsimGivesJobsWithTheRunTimesOfTheirProfiles) {
  ASSERT_TRUE(Read(kFixtures + "batsim.json").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kBatsim);
  EXPECT_EQ(trace_.reader->header().max_procs, 16);
  ASSERT_EQ(records_.size(), 3U);
  EXPECT_EQ(records_[0].run_time, 21);
  EXPECT_EQ(records_[0].requested_time, 100);
  EXPECT_EQ(records_[0].line, 4U);
  EXPECT_EQ(records_[1].job_id, 2);
  EXPECT_EQ(records_[1].submit, 1);
  EXPECT_EQ(records_[1].run_time, 3600);
  EXPECT_EQ(trace_.reader->names().users.NameOf(records_[1].user), "alice");
  EXPECT_EQ(records_[2].run_time, -1) << "it depends on a platform";
}

TEST_F(Traces, BatsimNamesTheLineOfWhatItRefuses) {
  const auto jobs = [](const std::string& list) {
    return "{\"profiles\":{\"p\":{\"type\":\"delay\",\"delay\":5}},\n\"jobs\":[\n" + list + "]}";
  };
  const std::string fine = R"({"id":1,"subtime":0,"res":1,"profile":"p"})";
  EXPECT_THAT(ErrorOf(jobs(fine + ",\n" + fine)), HasSubstr("trace:4: job id 1 was there before"));
  EXPECT_THAT(ErrorOf(jobs(R"({"id":1,"subtime":-5,"res":1,"profile":"p"})")),
              HasSubstr(":3: the job has no \"subtime\" of 0 or more"));
  EXPECT_THAT(ErrorOf(jobs(R"({"id":1,"subtime":NaN,"res":1,"profile":"p"})")),
              HasSubstr(":3: \"{\"id\":1,\"subtime\":NaN,\"r…\" is no JSON object"));
  EXPECT_THAT(ErrorOf(jobs(R"({"id":1,"subtime":0,"res":1.5,"profile":"p"})")),
              HasSubstr("no \"res\""));
  EXPECT_THAT(ErrorOf(jobs(R"({"id":1,"subtime":0,"res":1,"profile":"q"})")),
              HasSubstr(":3: the job's profile \"q\" is not among \"profiles\""));
  EXPECT_THAT(ErrorOf(jobs(fine).substr(0, 80)), HasSubstr(":3: the file ends in the middle"));
  EXPECT_THAT(ErrorOf("{\"nb_res\": 1e300, \"jobs\": []}"), HasSubstr(":1: nb_res is \"1e300\""));
  EXPECT_THAT(ErrorOf("{\"profiles\": {\"p\": 5}}"), HasSubstr("profile \"p\" is \"5\""));
  ASSERT_TRUE(Read(Write(jobs(fine + ",\n{\"id\":2}")), true).ok());
  EXPECT_EQ(records_.size(), 1U);
  EXPECT_EQ(trace_.reader->skipped().lines, 1U);
}

TEST_F(Traces, ALineOfTenMillionCharactersIsOneBrokenRecordEverywhere) {
  const std::string endless(10'000'000, 'x');
  EXPECT_THAT(ErrorOf(Header() + endless + "\n"), HasSubstr(":2: the line is longer than 65536"));
  EXPECT_THAT(ErrorOf("{\"jobs\": [{\"id\": \"" + endless + "\"}]}"),
              HasSubstr(":1: the job takes more than 65536 characters"));
  EXPECT_THAT(ErrorOf("{\"jobs\": [" + std::string(1'000'000, '[')), HasSubstr("ends in the mid"));
  EXPECT_THAT(ErrorOf(endless), HasSubstr("the format is not recognised"));
}

TEST_F(Traces, OpenbPodsHoldSharesOfGpusAndMayNeverRun) {
  ASSERT_TRUE(Read(kFixtures + "openb_pods.csv").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kOpenb);
  EXPECT_TRUE(trace_.counts_gpus);
  const TraceRecord& shared = JobOf(1);
  EXPECT_EQ(shared.gpu_milli, 460);
  EXPECT_EQ(shared.requested, 1) << "a share needs a GPU of a flat machine";
  EXPECT_EQ(shared.submit, 427'061);
  EXPECT_EQ(shared.wait, 0);
  EXPECT_EQ(shared.run_time, 12'902'960 - 427'061);
  EXPECT_EQ(shared.memory_mib, 12'288);
  ASSERT_TRUE(Read(kFixtures + "openb_pods.csv", false, TraceUnit::kCpus).ok());
  EXPECT_EQ(JobOf(1).requested, 6);
}

TEST_F(Traces, PhillyTiresiasAndDlrmAreRecognised) {
  ASSERT_TRUE(Read(kFixtures + "philly.csv").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kPhilly);
  EXPECT_EQ(trace_.reader->names().users.NameOf(records_[0].user).substr(0, 3), "vc_");
  ASSERT_TRUE(Read(kFixtures + "tiresias.csv").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kTiresias);
  EXPECT_EQ(records_.size(), 60U);
  std::int64_t run_time = 0;
  for (const TraceRecord& record : records_) {
    run_time += record.run_time;
  }
  EXPECT_EQ(run_time, 10'705) << "as its provenance says";
  ASSERT_TRUE(Read(kFixtures + "dlrm.csv").ok());
  EXPECT_EQ(trace_.format, TraceFormat::kDlrm);
}

TEST_F(Traces, ListsOfNodesAddUp) {
  const absl::StatusOr<TraceNodes> shape = ReadNodeList(kFixtures + "tiresias_shape.csv");
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->nodes, 160);
  EXPECT_EQ(shape->gpus, 1280);
  const absl::StatusOr<TraceNodes> openb = ReadNodeList(kFixtures + "openb_nodes.csv");
  ASSERT_TRUE(openb.ok());
  EXPECT_EQ(openb->nodes, 20);
  EXPECT_TRUE(*IsNodeList(kFixtures + "spot_nodes.csv"));
  EXPECT_FALSE(*IsNodeList(kFixtures + "openb_pods.csv"));
  EXPECT_TRUE(ReadNodeList(Write("sn,cpu_milli,gpu\nn1,1000,1\n")).ok()) << "no model";
  EXPECT_FALSE(ReadNodeList(Write("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node\n"
                                  "1000000000,1000000000,1,1\n"))
                   .ok());
  const std::string broken = Write("sn,cpu_milli,memory_mib,gpu,model\nn1,32000,1,-2,\n");
  EXPECT_THAT(std::string(ReadNodeList(broken).status().message()),
              HasSubstr("trace:2: gpu is \"-2\""));
}

TEST_F(Traces, WhatIsWrittenIsReadBack) {
  ASSERT_TRUE(Read(kFixtures + "sacct.txt").ok());
  std::string csv = TraceCsvHeader();
  std::string swf = SwfHeaderText(trace_.reader->header(), "a\nnote");
  for (const TraceRecord& record : records_) {
    AppendTraceCsv(record, trace_.reader->names(), &csv);
    AppendSwf(record, &swf);
  }
  const std::vector<TraceRecord> before = records_;
  for (const std::string& text : {csv, swf}) {
    ASSERT_TRUE(Read(Write(text)).ok()) << text;
    ASSERT_EQ(records_.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(records_[i].job_id, before[i].job_id);
      EXPECT_EQ(records_[i].submit, before[i].submit);
      EXPECT_EQ(records_[i].wait, before[i].wait);
      EXPECT_EQ(records_[i].run_time, before[i].run_time);
      EXPECT_EQ(records_[i].requested, before[i].requested);
      EXPECT_EQ(records_[i].requested_time, before[i].requested_time);
      EXPECT_EQ(records_[i].user, before[i].user);
      EXPECT_EQ(records_[i].status, before[i].status);
    }
  }
  EXPECT_EQ(trace_.reader->header().unix_start, 1'773'475'140);
}

TEST_F(Traces, AnEmptyTraceSaysSo) {
  ASSERT_TRUE(Read(Write("")).ok());
  EXPECT_THAT(records_, ElementsAre());
  EXPECT_EQ(trace_.reader->records(), 0U);
  EXPECT_THAT(ErrorOf("hello world\n"), HasSubstr("(the first line is \"hello world\"): name it"));
}

}  // namespace
}  // namespace muster::sim
