// The records of jobs and their steps.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/control/record_text.h"
#include "cli/slurm/control/records.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/people.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

std::string MomentWord(Time time, const RecordScene& scene) {
  return scene.clock.Text(time, "Unknown");
}

std::string Heading(const JobView& job, const std::vector<std::uint64_t>& elements) {
  std::string line = absl::StrCat("JobId=", job.id.value());
  if (!job.array_task_id.empty()) {
    absl::StrAppend(&line, " ArrayJobId=", job.array_job_id.value(),
                    " ArrayTaskId=", TaskLabel(job, elements));
    if (job.array_throttle > 0) {
      absl::StrAppend(&line, " ArrayTaskThrottle=", job.array_throttle);
    }
  }
  if (job.het_size > 0) {
    absl::StrAppend(&line, " HetJobId=", job.het_job.value(), " HetJobOffset=", job.het_offset);
  }
  return absl::StrCat(line, " JobName=", OneWord(job.name));
}

void AddTimes(const JobDetail& detail, const RecordScene& scene, std::vector<std::string>& lines) {
  const JobView& job = detail.job;
  const Time eligible = std::max(job.submit_time, job.begin_time);
  const bool held = ReasonWord(job) == "JobHeldUser" || ReasonWord(job) == "JobHeldAdmin";
  const Time start = HasStarted(job) ? job.start_time : job.expected_start;
  lines.push_back(absl::StrCat(
      "RunTime=", LongText(Elapsed(job, scene.now)), " TimeLimit=", LongLimit(job.time_limit),
      " TimeMin=", detail.time_min > Duration(0) ? LongLimit(detail.time_min) : "N/A"));
  lines.push_back(absl::StrCat("SubmitTime=", MomentWord(job.submit_time, scene),
                               " EligibleTime=", MomentWord(held ? kNoTime : eligible, scene)));
  lines.push_back(absl::StrCat("AccrueTime=", MomentWord(held ? kNoTime : eligible, scene)));
  lines.push_back(absl::StrCat("StartTime=", MomentWord(start, scene),
                               " EndTime=", MomentWord(ExpectedEnd(job), scene),
                               " Deadline=", scene.clock.Text(job.deadline, "N/A")));
  lines.push_back(absl::StrCat("SuspendTime=", scene.clock.Text(job.suspended_since, "None"),
                               " SecsPreSuspend=0 LastSchedEval=Unknown Scheduler=Main"));
}

std::string MemoryLine(const JobView& job, Bytes tmp) {
  const bool per_cpu = job.memory_per_node.value() == 0 && job.memory_per_cpu.value() > 0;
  return absl::StrCat("MinCPUsNode=", std::max(job.cpus_per_task, 1U),
                      per_cpu ? " MinMemoryCPU=" : " MinMemoryNode=",
                      SlurmSizeText((per_cpu ? job.memory_per_cpu : job.memory_per_node).value()),
                      " MinTmpDiskNode=", SlurmSizeText(tmp.value()));
}

void AddResources(const JobDetail& detail, std::vector<std::string>& lines) {
  const JobView& job = detail.job;
  const ResourceRequest& asked = detail.request;
  const std::uint32_t nodes = std::max(job.node_count, 1U);
  const bool range = Waits(job) && asked.max_nodes > nodes;
  lines.push_back(absl::StrCat("Partition=", OneWord(job.partition),
                               " AllocNode:Sid=", OneWord(detail.submit_host), ":N/A"));
  lines.push_back(absl::StrCat("ReqNodeList=", OneWord(CompressHostlist(asked.nodelist)),
                               " ExcNodeList=", OneWord(CompressHostlist(asked.exclude))));
  lines.push_back(absl::StrCat("NodeList=", CompressHostlist(job.nodes)));
  if (!job.nodes.empty()) {
    lines.push_back(absl::StrCat("BatchHost=", job.nodes.front()));
  }
  lines.push_back(absl::StrCat("NumNodes=", nodes, range ? absl::StrCat("-", asked.max_nodes) : "",
                               " NumCPUs=", job.cpus, " NumTasks=", job.tasks, " CPUs/Task=",
                               std::max(job.cpus_per_task, 1U), " ReqB:S:C:T=0:0:*:*"));
  const Bytes per_node = job.memory_per_node * nodes;
  const Bytes memory = per_node.value() > 0 ? per_node : job.memory_per_cpu * job.cpus;
  const std::string tres = TresText(job.cpus, Waits(job) ? memory : job.memory, nodes, job.gpus);
  lines.push_back(absl::StrCat("ReqTRES=", TresText(job.cpus, memory, nodes, job.gpus)));
  lines.push_back(absl::StrCat("AllocTRES=", job.nodes.empty() ? "(null)" : tres));
  lines.push_back(
      absl::StrCat("Socks/Node=* NtasksPerN:B:S:C=", asked.tasks_per_node, ":0:*:* CoreSpec=*"));
  lines.push_back(MemoryLine(job, asked.tmp));
  lines.push_back(
      absl::StrCat("Features=", OneWord(detail.constraint),
                   detail.prefer.empty() ? "" : absl::StrCat(" Prefer=", OneWord(detail.prefer)),
                   " DelayBoot=00:00:00"));
  lines.push_back(absl::StrCat("OverSubscribe=", SharingWord(asked), " Contiguous=0 Licenses=",
                               OneWord(job.licenses), " Network=(null)"));
}

void AddFiles(const JobDetail& detail, std::vector<std::string>& lines) {
  lines.push_back(absl::StrCat(
      "Command=", detail.command.empty() ? "(null)" : OneWord(detail.command.front())));
  lines.push_back(absl::StrCat("WorkDir=", OneWord(detail.work_dir)));
  if (!detail.job.comment.empty()) {
    lines.push_back(absl::StrCat("Comment=", OneWord(detail.job.comment)));
  }
  lines.push_back(absl::StrCat("StdErr=", OneWord(ErrorFile(detail))));
  lines.push_back(absl::StrCat("StdOut=", OneWord(OutputFile(detail))));
}

void AddGres(const ResourceRequest& asked, std::vector<std::string>& lines) {
  for (const auto& [key, gres] : {std::pair{"TresPerJob=", GresText(asked.gpus)},
                                  std::pair{"TresPerNode=", NodeGresText(asked)},
                                  std::pair{"TresPerTask=", GresText(asked.gpus_per_task)}}) {
    if (!gres.empty()) {
      lines.push_back(absl::StrCat(key, gres));
    }
  }
}

}  // namespace

std::string JobRecord(const JobDetail& detail, const std::vector<std::uint64_t>& elements,
                      const RecordScene& scene) {
  const JobView& job = detail.job;
  std::vector<std::string> lines = {
      Heading(job, elements),
      absl::StrCat("UserId=", job.user, "(", job.uid, ") GroupId=", GroupName(job.gid), "(",
                   job.gid, ") MCS_label=N/A"),
      absl::StrCat("Priority=", job.priority, " Nice=", job.nice, " Account=", OneWord(job.account),
                   " QOS=", OneWord(job.qos)),
      absl::StrCat("JobState=", StateWord(job), " Reason=", ReasonWord(job),
                   " Dependency=", OneWord(job.dependency)),
      absl::StrCat("Requeue=", detail.requeue ? 1 : 0, " Restarts=", job.restarts,
                   " BatchFlag=", detail.batch ? 1 : 0,
                   " Reboot=0 ExitCode=", ExitPair(job.exit_code, job.exit_signal))};
  if (scene.details) {
    lines.emplace_back("DerivedExitCode=0:0");
  }
  if (!job.reservation.empty()) {
    lines.push_back(absl::StrCat("Reservation=", OneWord(job.reservation)));
  }
  AddTimes(detail, scene, lines);
  AddResources(detail, lines);
  AddFiles(detail, lines);
  AddGres(detail.request, lines);
  return JoinRecord(lines, scene.one_line);
}

std::string StepRecord(const JobDetail& detail, const StepView& step, const RecordScene& scene) {
  const std::string name = step.step.valid() ? absl::StrCat(step.step.value()) : "batch";
  const auto nodes = std::count(step.nodes.begin(), step.nodes.end(), ',') + 1;
  return JoinRecord(
      {absl::StrCat("StepId=", detail.job.label, ".", name, " UserId=", detail.job.uid,
                    " StartTime=", MomentWord(step.start_time, scene), " TimeLimit=UNLIMITED"),
       absl::StrCat("State=", step.state, " Partition=", OneWord(detail.job.partition),
                    " NodeList=", step.nodes),
       absl::StrCat("Nodes=", nodes, " CPUs=", step.cpus, " Tasks=", step.tasks,
                    " Name=", OneWord(step.name), " Network=(null)"),
       absl::StrCat("TRES=cpu=", step.cpus, ",node=", nodes), "ResvPorts=(null)",
       "CPUFreqReq=Default"},
      scene.one_line);
}

}  // namespace muster::cli::slurm
