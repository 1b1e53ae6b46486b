#include "cli/slurm/document/job_document.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/amounts.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/people.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/value/index_set.h"

namespace muster::cli::slurm {
namespace {

std::uint64_t Mebibytes(Bytes bytes) {
  return bytes.value() / kMebibyte.value();
}

std::optional<std::uint64_t> Unless0(std::uint64_t number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

std::optional<std::uint64_t> TaskOf(const JobView& job,
                                    const std::vector<std::uint64_t>& elements) {
  std::uint64_t task = 0;
  return job.array_task_id.empty() || elements.size() > 1 ||
                 !absl::SimpleAtoi(job.array_task_id, &task)
             ? std::nullopt
             : std::optional(task);
}

// What the job has on each of its nodes; null while it has none.
Json ResourcesOf(const JobView& job, const JobDocumentScene& scene) {
  if (job.nodes.empty() || IsTerminal(job.state)) {
    return nullptr;
  }
  Json allocation = Json::array();
  for (std::size_t i = 0; scene.nodes != nullptr && i < scene.nodes->size(); ++i) {
    const NodeView& node = (*scene.nodes)[i];
    for (const HolderView& holder : node.holders) {
      if (holder.job != job.id) {
        continue;
      }
      const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(holder.cpus);
      const std::uint64_t count = cpus.ok() ? cpus->Count() : 0;
      allocation.push_back({{"name", node.name},
                            {"cpus", {{"count", count}, {"used", count}}},
                            {"memory", {{"allocated", Mebibytes(holder.memory)}}}});
    }
  }
  Json nodes = {{"count", job.nodes.size()}, {"list", CompressHostlist(job.nodes)}};
  if (scene.nodes != nullptr) {
    nodes["allocation"] = allocation;
  }
  return {{"cpus", job.cpus}, {"nodes", nodes}};
}

void AddDetail(const JobDetail& detail, Json& job) {
  const ResourceRequest& asked = detail.request;
  job["command"] = detail.command.empty() ? "" : detail.command.front();
  job["current_working_directory"] = detail.work_dir;
  job["standard_output"] = OutputFile(detail);
  job["standard_error"] = ErrorFile(detail);
  job["features"] = detail.constraint;
  job["required_nodes"] = CompressHostlist(asked.nodelist);
  job["excluded_nodes"] = CompressHostlist(asked.exclude);
  job["max_nodes"] = SlurmNumber(Unless0(asked.max_nodes));
  job["tasks_per_node"] = SlurmNumber(Unless0(asked.tasks_per_node));
  job["tres_per_job"] = GresText(asked.gpus);
  job["tres_per_node"] = NodeGresText(asked);
  job["tres_per_task"] = GresText(asked.gpus_per_task);
}

void AddTimes(const JobView& job, Json& out) {
  const Time eligible = std::max(job.submit_time, job.begin_time);
  const bool held = ReasonWord(job) == "JobHeldUser" || ReasonWord(job) == "JobHeldAdmin";
  out["submit_time"] = SlurmMoment(job.submit_time);
  out["eligible_time"] = SlurmMoment(held ? kNoTime : eligible);
  out["start_time"] = SlurmMoment(HasStarted(job) ? job.start_time : job.expected_start);
  out["end_time"] = SlurmMoment(ExpectedEnd(job));
  out["deadline"] = SlurmMoment(job.deadline);
  out["suspend_time"] = SlurmMoment(job.suspended_since);
  out["time_limit"] = SlurmMinutes(job.time_limit);
}

void AddResources(const JobView& job, const JobDocumentScene& scene, Json& out) {
  const std::uint32_t nodes = std::max(job.node_count, 1U);
  const Bytes per_node = job.memory_per_node * nodes;
  const Bytes memory = per_node.value() > 0 ? per_node : job.memory_per_cpu * job.cpus;
  out["partition"] = job.partition;
  out["nodes"] = CompressHostlist(job.nodes);
  out["batch_host"] = job.nodes.empty() ? "" : job.nodes.front();
  out["node_count"] = SlurmNumber(nodes);
  out["cpus"] = SlurmNumber(job.cpus);
  out["tasks"] = SlurmNumber(job.tasks);
  out["cpus_per_task"] = SlurmNumber(std::max(job.cpus_per_task, 1U));
  out["memory_per_cpu"] = SlurmNumber(Unless0(Mebibytes(job.memory_per_cpu)));
  out["memory_per_node"] = SlurmNumber(Unless0(Mebibytes(job.memory_per_node)));
  out["threads_per_core"] = SlurmNumber(std::nullopt);
  out["tres_req_str"] = TresText(job.cpus, memory, nodes, job.gpus);
  out["tres_alloc_str"] =
      job.nodes.empty() ? ""
                        : TresText(job.cpus, Waits(job) ? memory : job.memory, nodes, job.gpus);
  out["job_resources"] = ResourcesOf(job, scene);
}

Json SecondsOf(Duration time) {
  return {{"seconds", time.count() / 1000}, {"microseconds", time.count() % 1000 * 1000}};
}

Json StepTimes(const StepView& step, Time now) {
  const Time end = step.end_time == kNoTime ? now : step.end_time;
  return {{"elapsed", step.start_time == kNoTime
                          ? 0
                          : std::max<std::int64_t>(0, (end - step.start_time).count() / 1000)},
          {"start", SlurmMoment(step.start_time)},
          {"end", SlurmMoment(step.end_time)},
          {"system", SecondsOf(step.usage.system_cpu)},
          {"user", SecondsOf(step.usage.user_cpu)},
          {"total", SecondsOf(step.usage.system_cpu + step.usage.user_cpu)}};
}

Json StepsOf(const JobDetail& detail, Time now) {
  Json steps = Json::array();
  const AttemptNumber last =
      detail.attempts.empty() ? AttemptNumber() : detail.attempts.back().number;
  for (const StepView& step : detail.steps) {
    if (step.attempt != last) {
      continue;
    }
    const std::vector<std::string> nodes = absl::StrSplit(step.nodes, ',', absl::SkipEmpty());
    steps.push_back(
        {{"step",
          {{"id", absl::StrCat(detail.job.id.value(), ".", step.step.value())},
           {"name", step.name}}},
         {"state", step.state},
         {"time", StepTimes(step, now)},
         {"exit_code", SlurmExit(step.exit.code, step.exit.signal)},
         {"nodes", {{"count", nodes.size()}, {"range", CompressHostlist(nodes)}, {"list", nodes}}},
         {"tasks", {{"count", step.tasks}}}});
  }
  return steps;
}

Json TresList(std::uint64_t cpus, Bytes memory, std::uint64_t nodes, std::uint64_t gpus) {
  const auto entry = [](const char* type, const char* name, int id, std::uint64_t count) {
    return Json{{"type", type}, {"name", name}, {"id", id}, {"count", count}};
  };
  Json list = Json::array({entry("cpu", "", 1, cpus), entry("mem", "", 2, Mebibytes(memory)),
                           entry("node", "", 4, nodes)});
  if (gpus > 0) {
    list.push_back(entry("gres", "gpu", 1001, gpus));
  }
  return list;
}

}  // namespace

Json QueuedJob(const JobView& job, const JobDetail* detail,
               const std::vector<std::uint64_t>& elements, const JobDocumentScene& scene) {
  Json out = {
      {"job_id", job.id.value()},
      {"name", job.name},
      {"user_id", job.uid},
      {"user_name", job.user},
      {"group_id", job.gid},
      {"group_name", GroupName(job.gid)},
      {"account", job.account},
      {"qos", job.qos},
      {"cluster", scene.cluster},
      {"comment", job.comment},
      {"job_state", Json::array({StateWord(job)})},
      {"state_reason", ReasonWord(job)},
      {"state_description", job.reason.text},
      {"hold", ReasonWord(job) == "JobHeldUser" || ReasonWord(job) == "JobHeldAdmin"},
      {"priority", SlurmNumber(job.priority)},
      {"nice", job.nice},
      {"dependency", job.dependency},
      {"licenses", job.licenses},
      {"resv_name", job.reservation},
      {"restart_cnt", job.restarts},
      {"exit_code", SlurmExit(job.exit_code, job.exit_signal)},
      {"array_job_id", SlurmNumber(job.array_task_id.empty() ? 0 : job.array_job_id.value())},
      {"array_task_id", SlurmNumber(TaskOf(job, elements))},
      {"array_task_string", elements.size() > 1 ? TaskLabel(job, elements) : ""},
      {"array_max_tasks", SlurmNumber(job.array_throttle)},
      {"het_job_id", SlurmNumber(job.het_size > 0 ? job.het_job.value() : 0)},
      {"het_job_offset", SlurmNumber(job.het_size > 0 ? std::optional<std::uint64_t>(job.het_offset)
                                                      : std::nullopt)}};
  AddTimes(job, out);
  AddResources(job, scene, out);
  if (detail != nullptr) {
    AddDetail(*detail, out);
  }
  return out;
}

Json AccountedJob(const JobDetail& detail, const JobDocumentScene& scene) {
  const JobView& job = detail.job;
  const auto seconds = [](Time time) {
    return time == kNoTime ? std::int64_t{0} : time.time_since_epoch().count() / 1000;
  };
  const std::string word = StateWord(job);
  const std::string state = IsCompleting(word) ? Name(JobState::kRunning) : word;
  const bool failed = IsFailure(job.state);
  const std::uint32_t nodes = std::max(job.node_count, 1U);
  const Json tres = TresList(job.cpus, job.memory, nodes, job.gpus);
  return {
      {"account", job.account},
      {"allocation_nodes", job.nodes.size()},
      {"array",
       {{"job_id", job.array_task_id.empty() ? 0 : job.array_job_id.value()},
        {"task_id", SlurmNumber(TaskOf(job, {}))}}},
      {"cluster", scene.cluster},
      {"comment", {{"job", job.comment}}},
      {"constraints", detail.constraint},
      {"exit_code", SlurmExit(failed ? job.exit_code : 0, failed ? job.exit_signal : 0)},
      {"group", GroupName(job.gid)},
      {"het",
       {{"job_id", job.het_size > 0 ? job.het_job.value() : 0},
        {"job_offset", SlurmNumber(job.het_size > 0 ? std::optional<std::uint64_t>(job.het_offset)
                                                    : std::nullopt)}}},
      {"job_id", job.id.value()},
      {"licenses", job.licenses},
      {"name", job.name},
      {"nodes", job.nodes.empty() ? "None assigned" : CompressHostlist(job.nodes)},
      {"partition", job.partition},
      {"qos", job.qos},
      {"required",
       {{"CPUs", job.cpus},
        {"memory_per_cpu", SlurmNumber(Unless0(Mebibytes(job.memory_per_cpu)))},
        {"memory_per_node", SlurmNumber(Unless0(Mebibytes(job.memory_per_node)))}}},
      {"reservation", {{"name", job.reservation}}},
      {"restart_cnt", job.restarts},
      // One word, not a list: so read the tools that ask for it.
      {"state", {{"current", state}, {"reason", ReasonWord(job)}}},
      {"steps", StepsOf(detail, scene.now)},
      {"time",
       {{"elapsed", Elapsed(job, scene.now).count() / 1000},
        {"eligible", seconds(std::max(job.submit_time, job.begin_time))},
        {"end", seconds(job.end_time)},
        {"limit", SlurmMinutes(job.time_limit)},
        {"start", seconds(job.start_time)},
        {"submission", seconds(job.submit_time)},
        {"suspended", job.suspended.count() / 1000},
        {"system", SecondsOf(job.usage.system_cpu)},
        {"user", SecondsOf(job.usage.user_cpu)},
        {"total", SecondsOf(job.usage.system_cpu + job.usage.user_cpu)}}},
      {"tres", {{"allocated", job.nodes.empty() ? Json::array() : tres}, {"requested", tres}}},
      {"user", job.user},
      {"working_directory", detail.work_dir}};
}

}  // namespace muster::cli::slurm
