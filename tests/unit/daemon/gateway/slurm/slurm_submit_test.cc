// Submissions by slurmrestd's body: what each field becomes, and what is refused by name.
#include "daemon/gateway/slurm/slurm_submit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/slurm/slurm_fields.h"
#include "daemon/gateway/slurm/slurm_sizes.h"
#include "daemon/gateway/slurm/slurm_terms.h"

namespace muster::daemon::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<wire::SubmitRequest> Submitted(const std::string& fields) {
  return ReadSubmission(R"({"script":"#!/bin/sh\n","job":{"current_working_directory":"/",)"
                        R"("environment":["PATH=/bin"],)" +
                        fields + "}}");
}

wire::JobSpec SpecOf(const std::string& fields) {
  const absl::StatusOr<wire::SubmitRequest> read = Submitted(fields);
  EXPECT_TRUE(read.ok()) << fields << ": " << read.status();
  return read.ok() ? read->spec() : wire::JobSpec();
}

std::string WhyNot(const std::string& fields) {
  return std::string(Submitted(fields).status().message());
}

TEST(SlurmTermsTest, WhenAndAfterWhatAJobRunsIsSaidInSlurmsWords) {
  const wire::JobSpec spec =
      SpecOf(R"("dependency":"afterok:12:13,after:14+5","deadline":1893456000,)"
             R"("begin_time":{"set":true,"number":1893450000},"priority":{"set":true,"number":9},)"
             R"("nice":-5,"time_minimum":{"set":true,"number":10},"licenses":"ansys:2,matlab",)"
             R"("flags":["KILL_INVALID_DEPENDENCY"])");
  ASSERT_EQ(spec.dependency().terms_size(), 3);
  EXPECT_EQ(spec.dependency().terms(1).job(), 13U);
  EXPECT_EQ(spec.dependency().terms(2).delay(), 300'000);
  EXPECT_EQ(spec.deadline(), 1'893'456'000'000);
  EXPECT_EQ(spec.begin(), 1'893'450'000'000);
  EXPECT_EQ(spec.priority(), 9U);
  EXPECT_EQ(spec.nice(), -5);
  EXPECT_EQ(spec.time_min(), 600'000);
  ASSERT_EQ(spec.licenses_size(), 2);
  EXPECT_EQ(spec.licenses(0).count(), 2U);
  EXPECT_EQ(spec.kill_on_invalid_dep(), wire::CHOICE_YES);
}

TEST(SlurmTermsTest, APriorityOfNothingHoldsAndNoneSaidDoesNot) {
  EXPECT_TRUE(SpecOf(R"("priority":{"set":true,"number":0})").held());
  EXPECT_FALSE(SpecOf(R"("priority":{"set":false,"number":0})").held());
  EXPECT_TRUE(SpecOf(R"("hold":true,"priority":7)").held());
}

TEST(SlurmTermsTest, ConstraintsAreTheOptionsOwnLanguage) {
  const wire::JobSpec spec = SpecOf(R"j("constraints":"a&(b|!c)","prefer":"d")j");
  EXPECT_EQ(spec.request().constraint().every().postfix_size(), 6);
  EXPECT_EQ(spec.prefer().every().postfix(0).name(), "d");
}

TEST(SlurmTermsTest, KindsOfMailAreKeptAsTheOptionNamesThem) {
  const wire::JobSpec spec =
      SpecOf(R"("mail_type":["END","TIME=90%","INVALID_DEPENDENCY"],"mail_user":"ada")");
  EXPECT_THAT(spec.recorded(),
              ElementsAre("mail-type=END,TIME_LIMIT_90,INVALID_DEPEND", "mail-user=ada"));
  EXPECT_THAT(SpecOf(R"("mail_type":"END,FAIL")").recorded(), ElementsAre("mail-type=END,FAIL"));
}

TEST(SlurmTermsTest, AWarningIsPutTogetherFromItsThreeFields) {
  const wire::WarningSignal warning =
      SpecOf(R"("kill_warning_signal":"USR1","kill_warning_delay":{"set":true,"number":90},)"
             R"("kill_warning_flags":["BATCH_JOB"])")
          .warning();
  EXPECT_EQ(warning.signal(), 10U);
  EXPECT_EQ(warning.before(), 90'000);
  EXPECT_TRUE(warning.batch());
  EXPECT_EQ(SpecOf(R"("kill_warning_signal":"10")").warning().before(), 60'000);
}

TEST(SlurmTermsTest, FilesAndLimitsArePassedOn) {
  const absl::StatusOr<wire::SubmitRequest> read =
      Submitted(R"("open_mode":["APPEND"],"rlimits":{"nofile":{"set":true,"number":1024},)"
                R"("core":{"infinite":true},"cpu":{"set":false}},"kill_on_node_fail":false)");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->program().append_output());
  ASSERT_EQ(read->program().limits_size(), 2);
  EXPECT_EQ(read->program().limits(0).name(), "CORE");
  EXPECT_EQ(read->program().limits(0).amount(), UINT64_MAX);
  EXPECT_EQ(read->program().limits(1).amount(), 1024U);
  EXPECT_TRUE(read->spec().no_kill());
}

TEST(SlurmSizesTest, NodesAreNamedInAListOrInAText) {
  const wire::ResourceRequest request =
      SpecOf(R"("required_nodes":["n1","n[3-4]"],"excluded_nodes":"n9,n8")").request();
  EXPECT_THAT(request.nodelist(), ElementsAre("n1", "n3", "n4"));
  EXPECT_EQ(request.exclude_size(), 2);
}

TEST(SlurmSizesTest, ShapesOfNodesAndOfRanksAreTheOptions) {
  const wire::ResourceRequest request =
      SpecOf(R"("minimum_cpus_per_node":4,"temporary_disk_per_node":2048,"sockets_per_node":2,)"
             R"("cores_per_socket":8,"threads_per_core":1,"tasks_per_socket":3,"tasks_per_core":1,)"
             R"("overcommit":true,"required_switches":{"set":true,"number":1},)"
             R"("wait_for_switch":30,"distribution":"cyclic:block:fcyclic,Pack",)"
             R"("cpu_binding_flags":["VERBOSE","CPU_BIND_TO_SOCKETS"],)"
             R"("memory_binding_type":["LOCAL"],"tres_bind":"gres/gpu:closest")")
          .request();
  EXPECT_EQ(request.min_cpus(), 4U);
  EXPECT_EQ(request.tmp(), std::uint64_t{2} << 30);
  EXPECT_EQ(request.sockets_per_node(), 2U);
  EXPECT_EQ(request.layout().cores_per_socket(), 8U);
  EXPECT_EQ(request.layout().threads_per_core(), 1U);
  EXPECT_EQ(request.layout().tasks_per_socket(), 3U);
  EXPECT_TRUE(request.overcommit());
  EXPECT_EQ(request.switches(), 1U);
  EXPECT_EQ(request.switches_wait(), 30'000);
  EXPECT_EQ(request.layout().nodes(), wire::DEALING_CYCLIC);
  EXPECT_EQ(request.layout().sockets(), wire::DEALING_BLOCK);
  EXPECT_EQ(request.layout().cpu_bind(), wire::CPU_BIND_SOCKETS);
  EXPECT_EQ(request.layout().mem_bind(), wire::MEM_BIND_LOCAL);
  EXPECT_EQ(request.layout().gpu_bind(), wire::GPU_BIND_CLOSEST);
}

TEST(SlurmSizesTest, WhoeverWantsTheNodeAloneGetsIt) {
  EXPECT_TRUE(SpecOf(R"("exclusive":true)").request().exclusive());
  EXPECT_TRUE(SpecOf(R"("exclusive":["mcs"])").request().exclusive());
  EXPECT_TRUE(SpecOf(R"("exclusive":"user")").request().exclusive_user());
  EXPECT_FALSE(SpecOf(R"("exclusive":["false"])").request().exclusive());
  EXPECT_TRUE(SpecOf(R"("shared":["none"])").request().exclusive());
  EXPECT_TRUE(SpecOf(R"("memory_per_node":{"set":true,"number":0})").request().exclusive());
  EXPECT_FALSE(SpecOf(R"("memory_per_node":{"set":false})").request().exclusive());
}

TEST(SlurmFieldsTest, WhatHasNoEffectIsKeptAndSaid) {
  const absl::StatusOr<wire::SubmitRequest> read = Submitted(
      R"("contiguous":true,"wait_all_nodes":false,"core_specification":2,"wckey":"w","extra":"",)"
      R"("mail_user":"ada")");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->spec().recorded(),
              ElementsAre("contiguous", "core-spec=2", "mail-user=ada", "wckey=w"));
  const Json warnings = WarningsOf(*read);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_EQ(warnings[1].at("description"), "core-spec=2: has no effect here");
}

TEST(SlurmFieldsTest, AFieldThatSaysNothingAsksForNothing) {
  EXPECT_EQ(WhyNot(R"("dependency":"","constraints":null,"mail_type":[],"nodes":"",)"
                   R"("required_nodes":[],"tasks":{"set":false,"infinite":false,"number":0})"),
            "");
}

TEST(SlurmFieldsTest, ABadValueIsRefusedByItsFieldAndWhy) {
  EXPECT_THAT(WhyNot(R"("dependency":"afterok")"), StartsWith("job.dependency: "));
  EXPECT_THAT(WhyNot(R"("constraints":"a&")"), StartsWith("job.constraints: "));
  EXPECT_THAT(WhyNot(R"("licenses":"x:0")"), StartsWith("job.licenses: "));
  EXPECT_THAT(WhyNot(R"("mail_type":["LOUD"])"), StartsWith("job.mail_type: \"LOUD\""));
  EXPECT_THAT(WhyNot(R"("mail_user":"a b")"), StartsWith("job.mail_user: "));
  EXPECT_THAT(WhyNot(R"("nice":"much")"), StartsWith("job.nice: a whole number"));
  EXPECT_THAT(WhyNot(R"("nice":99999999)"), StartsWith("job.nice: "));
  EXPECT_THAT(WhyNot(R"("priority":-1)"), StartsWith("job.priority: "));
  EXPECT_THAT(WhyNot(R"("deadline":"noon")"), StartsWith("job.deadline: "));
  EXPECT_THAT(WhyNot(R"("flags":["CRON_JOB"])"), StartsWith("job.flags: CRON_JOB"));
  EXPECT_THAT(WhyNot(R"("kill_warning_delay":90)"), StartsWith("job.kill_warning_signal: "));
  EXPECT_THAT(WhyNot(R"("wait_for_switch":90)"), StartsWith("job.required_switches: "));
  EXPECT_THAT(WhyNot(R"("cpu_binding_flags":["CPU_BIND_MAP"])"), HasSubstr("not done here"));
  EXPECT_THAT(WhyNot(R"("tasks_per_core":2)"), StartsWith("job.tasks_per_core: "));
  EXPECT_THAT(WhyNot(R"("required_nodes":"n[1-")"), StartsWith("job.required_nodes: "));
  EXPECT_THAT(WhyNot(R"("rlimits":{"fds":1})"), StartsWith("job.rlimits: fds"));
  EXPECT_THAT(WhyNot(R"("cpus_per_tres":"gres/gpu:2")"),
              StartsWith("job.cpus_per_tres: not taken"));
  EXPECT_THAT(WhyNot(R"("exclusive":["mine"])"), StartsWith("job.exclusive: "));
}

TEST(SlurmSubmitTest, AnUnknownKeyBesideTheJobIsRefusedByName) {
  const auto why = [](const std::string& keys) {
    return std::string(
        ReadSubmission(R"({"script":"#!/bin/sh\n","job":{"current_working_directory":"/",)"
                       R"("environment":["PATH=/bin"]})" +
                       keys + "}")
            .status()
            .message());
  };
  EXPECT_EQ(why(""), "");
  EXPECT_EQ(why(R"(,"jobs":[])"), "");
  EXPECT_THAT(why(R"(,"tasks":4)"), StartsWith("tasks: not taken here"));
  EXPECT_THAT(why(R"(,"jobs":[{}])"), StartsWith("jobs: a heterogeneous job"));
}

}  // namespace
}  // namespace muster::daemon::slurm
