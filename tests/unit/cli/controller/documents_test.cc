#include "cli/controller/query/documents.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) {
    keys.push_back(item.key());
  }
  return keys;
}

const std::vector<std::string> kJobKeys = {"id",
                                           "label",
                                           "array_job_id",
                                           "array_task_id",
                                           "name",
                                           "user",
                                           "account",
                                           "state",
                                           "reason",
                                           "nodes",
                                           "tasks",
                                           "cpus",
                                           "memory",
                                           "gpus",
                                           "restarts",
                                           "submit_time",
                                           "start_time",
                                           "expected_start",
                                           "end_time",
                                           "time_limit",
                                           "exit_code",
                                           "exit_signal",
                                           "exit_text",
                                           "binding",
                                           "usage",
                                           "dependency",
                                           "licenses",
                                           "begin_time",
                                           "deadline",
                                           "nice",
                                           "comment",
                                           "partition",
                                           "qos",
                                           "reservation",
                                           "priority",
                                           "suspended_since",
                                           "suspended",
                                           "het_job",
                                           "het_offset",
                                           "het_size",
                                           "alert",
                                           "checkpoints",
                                           "uid",
                                           "gid",
                                           "node_count",
                                           "cpus_per_task",
                                           "memory_per_node",
                                           "memory_per_cpu",
                                           "array_throttle",
                                           "warnings",
                                           "cost",
                                           "currency",
                                           "ettr"};

TEST(Documents, AJobsKeysAreStable) {
  const Json document = Json::parse(JobsDocument(samples::QueueJobs()));
  EXPECT_EQ(Keys(document), std::vector<std::string>{"jobs"});
  ASSERT_EQ(document["jobs"].size(), samples::QueueJobs().size());
  EXPECT_EQ(Keys(document["jobs"][0]), kJobKeys);
  const Json& waiting = document["jobs"].back();
  EXPECT_EQ(waiting["id"], 30);
  EXPECT_EQ(waiting["reason"]["kind"], "BadConstraints");
  EXPECT_EQ(waiting["reason"]["text"],
            "never on this cluster: 2 nodes: needs 64 nodes, only 2 fit");
  EXPECT_EQ(waiting["reason"]["never"], true);
  EXPECT_EQ(waiting["start_time"], nullptr);
  EXPECT_EQ(document["jobs"][0]["nodes"], Json({"node1", "node2"}));
}

TEST(Documents, TheExitCodeIsNullUntilTheJobHasEnded) {
  EXPECT_EQ(Json::parse(JobsDocument({samples::QueueJobs()[0]}))["jobs"][0]["exit_code"], nullptr);
  const Json ended = Json::parse(JobsDocument({samples::HistoryJobs()[1]}))["jobs"][0];
  EXPECT_EQ(ended["exit_code"], 3);
  EXPECT_EQ(ended["exit_signal"], 0);
  EXPECT_EQ(ended["usage"]["user_cpu"], 400.0);
  EXPECT_EQ(ended["usage"]["peak_memory"], 312 << 20);
}

TEST(Documents, WhatWasNotSampledIsNullAndNotZero) {
  JobView job = samples::HistoryJobs()[1];
  job.usage = {};
  const char* const kSampled[] = {"gpu_busy", "gpu_memory", "gpu_energy_mj", "cpu_energy_mj",
                                  "group_memory"};
  const Json short_one = Json::parse(JobsDocument({job}))["jobs"][0]["usage"];
  for (const char* name : kSampled) {
    EXPECT_EQ(short_one[name], nullptr) << name;
  }
  job.usage.gpu_watched = std::chrono::seconds(9);
  job.usage.gpu_energy_mj = 7;
  job.usage.group_memory = kMebibyte;
  const Json sampled = Json::parse(JobsDocument({job}))["jobs"][0]["usage"];
  EXPECT_EQ(sampled["gpu_busy"], 0.0) << "it was looked at, and did nothing";
  EXPECT_EQ(sampled["gpu_memory"], 0);
  EXPECT_EQ(sampled["gpu_energy_mj"], 7);
  EXPECT_EQ(sampled["cpu_energy_mj"], nullptr);
  EXPECT_EQ(sampled["group_memory"], 1 << 20);
}

TEST(Documents, TheEffectiveTimeIsToldOfAJobThatEndedAndHeldSomething) {
  JobView job = samples::HistoryJobs()[1];
  EXPECT_EQ(Json::parse(JobsDocument({job}))["jobs"][0]["ettr"], nullptr);
  job.checkpoints = {.count = 3,
                     .held = std::chrono::seconds(1000),
                     .stall = std::chrono::seconds(12),
                     .restart = std::chrono::seconds(8),
                     .lost = std::chrono::seconds(30),
                     .cost = std::chrono::seconds(4),
                     .flush = std::chrono::seconds(6),
                     .slow = std::chrono::seconds(11)};
  const Json json = Json::parse(JobsDocument({job}))["jobs"][0];
  EXPECT_EQ(json["ettr"], 0.95);
  EXPECT_EQ(json["checkpoints"], Json({{"count", 3},
                                       {"held", 1000.0},
                                       {"stall", 12.0},
                                       {"restart", 8.0},
                                       {"lost", 30.0},
                                       {"cost", 4.0},
                                       {"flush", 6.0},
                                       {"slow", 11.0}}));
  job.state = "RUNNING";
  EXPECT_EQ(Json::parse(JobsDocument({job}))["jobs"][0]["ettr"], nullptr);
}

TEST(Documents, AnEmptyListIsStillADocument) {
  EXPECT_EQ(Json::parse(JobsDocument({})), Json({{"jobs", Json::array()}}));
  EXPECT_EQ(Json::parse(DetailsDocument({})), Json({{"jobs", Json::array()}}));
  EXPECT_EQ(Json::parse(NodesDocument({}, true)), Json({{"nodes", Json::array()},
                                                        {"largest", Json::array()},
                                                        {"narrow_links", Json::array()}}));
}

TEST(Documents, AJobInFullIsTheJobWithMoreKeys) {
  const Json job = Json::parse(DetailsDocument({samples::EndedDetail()}))["jobs"][0];
  std::vector<std::string> keys = kJobKeys;
  keys.insert(keys.end(), {"request",
                           "work_dir",
                           "stdout_path",
                           "stderr_path",
                           "command",
                           "attempts",
                           "constraint",
                           "placement",
                           "steps",
                           "live_usage",
                           "checkpoint_interval",
                           "elastic",
                           "recorded",
                           "batch",
                           "requeue",
                           "time_min",
                           "prefer",
                           "gres",
                           "submit_host",
                           "notes",
                           "container",
                           "every",
                           "record",
                           "stragglers",
                           "node_data"});
  EXPECT_EQ(Keys(job), keys);
  EXPECT_EQ(job["id"], 7);
  EXPECT_EQ(job["request"]["cpus_per_task"], 4);
  EXPECT_EQ(job["command"], Json({"./heat2d", "--title", "two plates"}));
  EXPECT_EQ(job["attempts"][0]["suspensions"], Json::array());
  const Json& rank = job["attempts"][0]["ranks"][1];
  EXPECT_EQ(Keys(rank),
            (std::vector<std::string>{"step", "rank", "node", "cpus", "mem_nodes", "gpus",
                                      "found_cpus", "found_mem_policy", "found_gpus", "verdict",
                                      "text", "nic", "gpu_work"}));
  EXPECT_TRUE(rank.at("gpu_work").is_null()) << "nothing was counted, which is not 0";
  EXPECT_EQ(rank["verdict"], "differs");
  EXPECT_EQ(rank["found_cpus"], "0-7");
}

TEST(Documents, ASuspensionThatLastsHasNoEnd) {
  JobDetail detail = samples::EndedDetail();
  detail.attempts[0].suspensions = {{detail.attempts[0].start_time, kNoTime, "suspended by ada"}};
  const Json job = Json::parse(DetailsDocument({detail}))["jobs"][0];
  const Json& suspension = job["attempts"][0]["suspensions"][0];
  EXPECT_EQ(Keys(suspension), (std::vector<std::string>{"begin", "end", "text"}));
  EXPECT_EQ(suspension["begin"], job["attempts"][0]["start_time"]);
  EXPECT_EQ(suspension["end"], nullptr);
}

TEST(Documents, AnExplanationHasItsNineKeys) {
  JobExplanation explanation;
  explanation.job = samples::QueueJobs()[0];
  explanation.summary = "placed on node1";
  explanation.nodes = {{.node = "node1", .fits = true, .text = "idle"}};
  NodeAllocation part;
  part.name = "node1";
  part.cpus = CpuSet::Of({0, 1, 2});
  explanation.allocation.nodes = {part};
  const Json document = Json::parse(ExplanationDocument(explanation));
  EXPECT_EQ(Keys(document),
            (std::vector<std::string>{"job", "summary", "nodes", "allocation", "suggestions",
                                      "priority", "placement", "estimate", "promised"}));
  EXPECT_EQ(document["job"]["exit_code"], nullptr);
  EXPECT_EQ(document["nodes"][0], Json({{"node", "node1"}, {"fits", true}, {"text", "idle"}}));
  EXPECT_EQ(document["allocation"]["nodes"][0]["cpus"], "0-2");
}

TEST(Documents, ANodeCarriesItsMachineOnlyWhenAsked) {
  NodeView node = samples::SampleNode(2);
  node.machine.gpus[1].numa = kNowhere;
  const Json plain = Json::parse(NodesDocument({node}, false))["nodes"][0];
  EXPECT_EQ(
      Keys(plain),
      (std::vector<std::string>{
          "id",      "name",       "hostname", "state",        "reason",        "cores",
          "cpus",    "cpus_taken", "memory",   "memory_taken", "gpus",          "gpus_taken",
          "binding", "holders",    "features", "weight",       "limits",        "health",
          "gres",    "gres_taken", "warnings", "topology",     "gpu_occupants", "gpu_layouts"}));
  const Json full = Json::parse(NodesDocument({node}, true))["nodes"][0];
  EXPECT_EQ(full["machine"]["cores"].size(), 4U);
  EXPECT_EQ(full["machine"]["cores"][0]["cpus"], "0,4");
  EXPECT_EQ(full["machine"]["gpus"][0]["numa"], 0);
  EXPECT_EQ(full["machine"]["gpus"][1]["numa"], nullptr);
  EXPECT_EQ(full["holders"][0]["label"], "7");
  EXPECT_EQ(full["holders"][0]["gpu_shares"], Json::array());
}

}  // namespace
}  // namespace muster::cli
