#include "daemon/gateway/slurm/slurm_jobs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/gateway/slurm/slurm_blanks.h"
#include "daemon/gateway/slurm/slurm_terms.h"
#include "scheduler/base/text/host_list.h"

namespace muster::daemon::slurm {
namespace {

std::vector<std::string> NamesOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

std::optional<std::uint64_t> Unless0(std::uint64_t number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

std::optional<std::uint64_t> ElementOf(const wire::JobView& job) {
  std::uint64_t element = 0;
  return absl::SimpleAtoi(job.array_task_id(), &element) ? std::optional(element) : std::nullopt;
}

bool HasEnded(const wire::JobView& job) {
  return job.end_time() > 0;
}

// Slurm's word of no reason is "None".
std::string ReasonWord(const wire::JobView& job) {
  return job.reason().kind().empty() ? "None" : job.reason().kind();
}

bool IsHeld(const wire::JobView& job) {
  return job.reason().kind().rfind("JobHeld", 0) == 0;
}

std::string TresText(const wire::JobView& job) {
  return absl::StrCat("cpu=", job.cpus(), ",mem=", WholeMebibytes(job.memory()),
                      "M,node=", std::max<std::size_t>(job.node_count(), 1),
                      job.gpus() > 0 ? absl::StrCat(",gres/gpu=", job.gpus()) : "");
}

Json Resources(const wire::JobView& job) {
  Json nodes = Json::array();
  for (const std::string& name : job.nodes()) {
    nodes.push_back({{"nodename", name}});
  }
  return {{"nodes", CompressHostlist(NamesOf(job.nodes()))},
          {"allocated_cores", job.cpus()},
          {"allocated_cpus", job.cpus()},
          {"allocated_hosts", job.nodes_size()},
          {"allocated_nodes", std::move(nodes)}};
}

void AddJobTimes(const wire::JobView& job, Json& out) {
  const std::int64_t end = HasEnded(job) ? job.end_time()
                           : job.start_time() > 0 && job.time_limit() > 0
                               ? job.start_time() + job.time_limit()
                               : 0;
  out["submit_time"] = Moment(job.submit_time());
  out["eligible_time"] = Moment(IsHeld(job) ? 0 : std::max(job.submit_time(), job.begin_time()));
  out["start_time"] = Moment(job.start_time() > 0 ? job.start_time() : job.expected_start());
  out["end_time"] = Moment(end);
  out["deadline"] = Moment(job.deadline());
  out["suspend_time"] = Moment(job.suspended_since());
  out["time_limit"] = Minutes(job.time_limit());
}

void AddJobSizes(const wire::JobView& job, Json& out) {
  out["nodes"] = CompressHostlist(NamesOf(job.nodes()));
  out["batch_host"] = job.nodes_size() > 0 ? job.nodes(0) : "";
  out["node_count"] = Number(std::max(job.node_count(), 1U));
  out["cpus"] = Number(job.cpus());
  out["tasks"] = Number(job.tasks());
  out["cpus_per_task"] = Number(std::max(job.cpus_per_task(), 1U));
  out["memory_per_cpu"] = Number(Unless0(job.memory_per_cpu() >> 20));
  out["memory_per_node"] = Number(Unless0(job.memory_per_node() >> 20));
  out["tres_req_str"] = TresText(job);
  out["tres_alloc_str"] = job.nodes_size() > 0 ? TresText(job) : "";
  out["job_resources"] = job.nodes_size() > 0 && !HasEnded(job) ? Resources(job) : Json::object();
}

void AddDetail(const wire::JobDetail& detail, Json& out) {
  out["command"] = detail.command_size() > 0 ? detail.command(0) : "";
  out["current_working_directory"] = detail.work_dir();
  out["standard_output"] = detail.stdout_path();
  out["standard_error"] =
      detail.stderr_path().empty() ? detail.stdout_path() : detail.stderr_path();
  out["standard_input"] = "/dev/null";
  out["features"] = detail.constraint();
  out["prefer"] = detail.prefer();
  out["batch_flag"] = detail.batch();
  out["requeue"] = detail.requeue();
  out["allocating_node"] = detail.submit_host();
  out["time_minimum"] = detail.time_min() > 0 ? Minutes(detail.time_min()) : Number(std::nullopt);
  out["required_nodes"] = absl::StrJoin(detail.request().nodelist(), ",");
  out["excluded_nodes"] = absl::StrJoin(detail.request().exclude(), ",");
  for (const std::string& option : detail.recorded()) {
    if (absl::StartsWith(option, "mail-user=")) {
      out["mail_user"] = option.substr(option.find('=') + 1);
    } else if (absl::StartsWith(option, "mail-type=")) {
      out["mail_type"] = MailWords(option.substr(option.find('=') + 1));
    }
  }
}

Json TresList(const wire::JobView& job) {
  const auto entry = [](const char* type, const char* name, int id, std::int64_t count) {
    return Json{{"type", type}, {"name", name}, {"id", id}, {"count", count}};
  };
  Json list = Json::array({entry("cpu", "", 1, job.cpus()),
                           entry("mem", "", 2, WholeMebibytes(job.memory())),
                           entry("node", "", 4, job.nodes_size())});
  if (job.gpus() > 0) {
    list.push_back(entry("gres", "gpu", 1001, job.gpus()));
  }
  return list;
}

Json SecondsOf(std::int64_t milliseconds) {
  return {{"seconds", milliseconds / 1000}, {"microseconds", milliseconds % 1000 * 1000}};
}

Json StepsOf(const wire::JobDetail* detail) {
  Json steps = Json::array();
  if (detail == nullptr) {
    return steps;
  }
  for (const wire::StepView& step : detail->steps()) {
    steps.push_back(
        {{"step",
          {{"id", absl::StrCat(detail->job().id(), ".", step.step())}, {"name", step.name()}}},
         {"state", Json::array({step.state()})},
         {"time",
          {{"start", Moment(step.start_time())},
           {"end", Moment(step.end_time())},
           {"system", SecondsOf(step.usage().system_cpu())},
           {"user", SecondsOf(step.usage().user_cpu())}}},
         {"exit_code", Exit(step.exit().code(), step.exit().signal())},
         {"tasks", {{"count", step.tasks()}}}});
  }
  return steps;
}

Json QueueFields(const wire::JobView& job) {
  Json out = {{"job_id", job.id()},
              {"name", job.name()},
              {"user_id", job.uid()},
              {"user_name", job.user()},
              {"group_id", job.gid()},
              {"account", job.account()},
              {"qos", job.qos()},
              {"partition", job.partition()},
              {"comment", job.comment()},
              {"job_state", Json::array({job.state()})},
              {"state_reason", ReasonWord(job)},
              {"state_description", job.reason().text()},
              {"hold", IsHeld(job)},
              {"priority", Number(job.priority())},
              {"nice", job.nice()},
              {"dependency", job.dependency()},
              {"licenses", job.licenses()},
              {"resv_name", job.reservation()},
              {"restart_cnt", job.restarts()},
              {"exit_code", Exit(job.exit_code(), job.exit_signal())},
              {"derived_exit_code", Exit(job.exit_code(), job.exit_signal())},
              {"array_job_id", Number(job.array_task_id().empty() ? 0 : job.array_job_id())},
              {"array_task_id", Number(ElementOf(job))},
              {"array_task_string", ElementOf(job).has_value() ? "" : job.array_task_id()},
              {"array_max_tasks", Number(job.array_throttle())},
              {"het_job_id", Number(job.het_job())},
              {"het_job_offset", Number(Unless0(job.het_offset()))}};
  AddJobTimes(job, out);
  AddJobSizes(job, out);
  return out;
}

Json AccountFields(const wire::JobView& job, const wire::JobDetail* detail) {
  const std::int64_t end = job.end_time();
  const Json tres = TresList(job);
  return {
      {"job_id", job.id()},
      {"name", job.name()},
      {"user", job.user()},
      {"group", absl::StrCat(job.gid())},
      {"account", job.account()},
      {"partition", job.partition()},
      {"qos", job.qos()},
      {"comment", {{"job", job.comment()}, {"administrator", ""}, {"system", ""}}},
      {"state", {{"current", Json::array({job.state()})}, {"reason", ReasonWord(job)}}},
      {"exit_code", Exit(job.exit_code(), job.exit_signal())},
      {"derived_exit_code", Exit(job.exit_code(), job.exit_signal())},
      {"nodes", CompressHostlist(NamesOf(job.nodes()))},
      {"allocation_nodes", job.nodes_size()},
      {"priority", Number(Unless0(job.priority()))},
      {"restart_cnt", job.restarts()},
      {"licenses", job.licenses()},
      {"hold", IsHeld(job)},
      {"association",
       {{"account", job.account()},
        {"cluster", ""},
        {"partition", ""},
        {"user", job.user()},
        {"id", 0}}},
      {"het", {{"job_id", job.het_job()}, {"job_offset", Number(Unless0(job.het_offset()))}}},
      {"reservation", {{"id", 0}, {"name", job.reservation()}}},
      {"array",
       {{"job_id", job.array_task_id().empty() ? 0 : job.array_job_id()},
        {"limits", {{"max", {{"running", {{"tasks", job.array_throttle()}}}}}}},
        {"task_id", Number(ElementOf(job))},
        {"task", ElementOf(job).has_value() ? "" : job.array_task_id()}}},
      {"required",
       {{"CPUs", job.cpus()},
        {"memory_per_cpu", Number(Unless0(job.memory_per_cpu() >> 20))},
        {"memory_per_node", Number(Unless0(job.memory_per_node() >> 20))}}},
      {"time",
       {{"submission", job.submit_time() / 1000},
        {"eligible", std::max(job.submit_time(), job.begin_time()) / 1000},
        {"start", job.start_time() / 1000},
        {"end", end / 1000},
        {"elapsed", job.start_time() > 0 && end > 0
                        ? std::max<std::int64_t>(0, end - job.start_time()) / 1000
                        : 0},
        {"suspended", job.suspended() / 1000},
        {"limit", Minutes(job.time_limit())},
        {"system", SecondsOf(job.usage().system_cpu())},
        {"user", SecondsOf(job.usage().user_cpu())},
        {"total", SecondsOf(job.usage().system_cpu() + job.usage().user_cpu())}}},
      {"tres", {{"requested", tres}, {"allocated", job.nodes_size() > 0 ? tres : Json::array()}}},
      {"steps", StepsOf(detail)}};
}

// `blank`: what the fields leave out, as text.
void AppendEntry(const Json& fields, const std::string& blank, std::string* list) {
  const std::string text = DumpJson(fields);
  absl::StrAppend(list, list->empty() ? "" : ",", text.substr(0, text.size() - 1), ",",
                  blank.substr(1));
}

}  // namespace

Json QueuedJob(const wire::JobView& job, const wire::JobDetail* detail) {
  Json out = BlankJob();
  out.update(QueueFields(job));
  if (detail != nullptr) {
    AddDetail(*detail, out);
  }
  return out;
}

void AppendQueuedJob(const wire::JobView& job, std::string* list) {
  static const std::string blank = DumpJson(BlankJob());
  AppendEntry(QueueFields(job), blank, list);
}

void AppendAccountedJob(const wire::JobView& job, std::string* list) {
  static const std::string blank = DumpJson(BlankAccountedJob());
  AppendEntry(AccountFields(job, nullptr), blank, list);
}

Json AccountedJob(const wire::JobView& job, const wire::JobDetail* detail) {
  Json out = BlankAccountedJob();
  out.update(AccountFields(job, detail));
  if (detail != nullptr) {
    out["constraints"] = detail->constraint();
    out["working_directory"] = detail->work_dir();
    out["submit_line"] = detail->command_size() > 0 ? detail->command(0) : "";
  }
  return out;
}

}  // namespace muster::daemon::slurm
