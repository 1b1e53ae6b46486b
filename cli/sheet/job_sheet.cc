#include "cli/sheet/job_sheet.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/page/bound.h"
#include "cli/page/quantity.h"
#include "cli/page/shell_words.h"
#include "cli/page/straggler_text.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/sheet/checkpoint_table.h"
#include "cli/sheet/job_table.h"
#include "cli/sheet/step_table.h"
#include "cli/sheet/usage_text.h"
#include "cli/sheet/worth_text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/inner_ranks.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/plan/reason.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kShortUuidBytes = 12;  // "GPU-1a2b3c4d"

// "  label     text", or nothing without text.
void AddLine(std::string& page, const std::string& label, const std::string& text) {
  if (!text.empty()) {
    absl::StrAppend(&page, "  ", label, std::string(kLabelWidth - label.size() + 1, ' '),
                    Printable(text), "\n");
  }
}

std::string GpuText(const GpuRequest& gpus, const char* of_what) {
  return gpus.count == 0
             ? ""
             : absl::StrCat(
                   Counted(gpus.count, "GPU"), gpus.type.empty() ? "" : " of type ", gpus.type,
                   gpus.memory.zero()
                       ? ""
                       : absl::StrCat(" with ", BytesText(gpus.memory.value()), " or more"),
                   of_what);
}

std::string ShortGpus(const std::vector<std::string>& gpus) {
  std::vector<std::string> names;
  names.reserve(gpus.size());
  for (const std::string& gpu : gpus) {
    names.push_back(absl::StartsWith(gpu, "GPU-") ? gpu.substr(0, kShortUuidBytes) : gpu);
  }
  return absl::StrJoin(names, ",");
}

// "partition debug, qos high, reservation exam", without what is implied.
std::string PolicyText(const JobView& job) {
  std::vector<std::string> parts;
  if (!job.partition.empty() && job.partition != "main") {
    parts.push_back(absl::StrCat("partition ", job.partition));
  }
  if (!job.qos.empty() && job.qos != "normal") {
    parts.push_back(absl::StrCat("qos ", job.qos));
  }
  if (!job.reservation.empty()) {
    parts.push_back(absl::StrCat("reservation ", job.reservation));
  }
  return absl::StrJoin(parts, ", ");
}

std::string FoundText(const RankView& rank) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {rank.found_cpus, rank.found_mem_policy, ShortGpus(rank.found_gpus)}) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return OrDash(absl::StrJoin(parts, " "));
}

std::string StepText(StepId step) {
  return IsInner(step) ? "inner" : step.valid() ? ToString(step) : "batch";
}

Paint VerdictPaint(const std::string& verdict) {
  if (verdict == "verified") {
    return Paint::kGreen;
  }
  return verdict == "differs" ? Paint::kRed : Paint::kYellow;
}

std::string RankWorkText(const std::optional<GpuRates>& work) {
  return work.has_value()
             ? absl::StrFormat("SMs %.0f %%, tensor %.0f %%, memory %.0f %%", work->sm_active * 100,
                               work->tensor_active * 100, work->dram_active * 100)
             : "-";
}

std::string RankTable(const std::vector<RankView>& ranks, const Style& style) {
  const bool counted = std::any_of(ranks.begin(), ranks.end(),
                                   [](const RankView& rank) { return rank.gpu_work.has_value(); });
  const bool networked = std::any_of(ranks.begin(), ranks.end(),
                                     [](const RankView& rank) { return !rank.nic.empty(); });
  std::vector<Column> columns = {
      {.title = "STEP", .right = true, .least = 0},  {.title = "RANK", .right = true, .least = 0},
      {.title = "NODE", .right = false, .least = 0}, {.title = "CPUS", .right = false, .least = 0},
      {.title = "MEM", .right = false, .least = 0},  {.title = "GPUS", .right = false, .least = 0}};
  if (networked) {
    columns.push_back({.title = "NIC", .right = false, .least = 0});
  }
  if (counted) {
    columns.push_back({.title = "GPU WORK", .right = false, .least = 0});
  }
  columns.push_back({.title = "FOUND", .right = false, .least = 0});
  columns.push_back({.title = "VERDICT", .right = false, .least = 0});
  Table table(std::move(columns));
  for (const RankView& rank : ranks) {
    std::vector<Cell> cells = {{.text = StepText(rank.step)},
                               {.text = absl::StrCat(rank.rank)},
                               {.text = rank.node},
                               {.text = OrDash(rank.cpus)},
                               {.text = OrDash(rank.mem_nodes)},
                               {.text = OrDash(ShortGpus(rank.gpus))}};
    if (networked) {
      cells.push_back({.text = OrDash(rank.nic)});
    }
    if (counted) {
      cells.push_back({.text = RankWorkText(rank.gpu_work)});
    }
    cells.push_back({.text = FoundText(rank)});
    cells.push_back(
        {.text = rank.text.empty() ? rank.verdict : absl::StrCat(rank.verdict, ": ", rank.text),
         .paint = VerdictPaint(rank.verdict)});
    table.Add(cells);
  }
  return table.Print(style, true, 2);
}

std::string GotText(const std::vector<std::string>& nodes, std::uint32_t cpus, Bytes memory,
                    std::uint32_t gpus) {
  return nodes.empty() ? ""
                       : absl::StrCat(CompressHostlist(nodes), ": ", Counted(cpus, "cpu"), ", ",
                                      BytesText(memory.value()),
                                      gpus == 0 ? "" : ", " + Counted(gpus, "GPU"));
}

std::string LimitText(Duration limit) {
  if (limit == Duration(0)) {
    return "the default";
  }
  return limit >= kTimeLimitMax ? "unlimited" : ElapsedText(limit);
}

void AddTimes(std::string& page, const JobView& job, Time now, const Style& style) {
  AddLine(page, "submitted", MomentText(job.submit_time, style.zone));
  if (job.start_time != kNoTime) {
    AddLine(page, "started",
            absl::StrCat(MomentText(job.start_time, style.zone), ", after ",
                         ElapsedText(job.start_time - job.submit_time)));
  }
  if (job.start_time == kNoTime && job.expected_start != kNoTime) {
    AddLine(page, "expected",
            absl::StrCat("to start by ", MomentText(job.expected_start, style.zone)));
  }
  if (IsTerminal(job.state)) {
    AddLine(page, "ended",
            absl::StrCat(MomentText(job.end_time, style.zone),
                         job.start_time == kNoTime
                             ? ""
                             : absl::StrCat(", ran for ", PreciseText(Elapsed(job, now)))));
    AddLine(page, "exit", EndText(job));
  } else if (job.start_time != kNoTime) {
    AddLine(page, "running", absl::StrCat("for ", ElapsedText(Elapsed(job, now))));
  }
  if (job.suspended_since != kNoTime) {
    AddLine(page, "suspended",
            absl::StrCat("since ", MomentText(job.suspended_since, style.zone),
                         job.suspended == Duration(0)
                             ? ""
                             : absl::StrCat(", before that for ", ElapsedText(job.suspended))));
  } else if (job.suspended > Duration(0)) {
    AddLine(page, "suspended", absl::StrCat("for ", ElapsedText(job.suspended), " in all"));
  }
  AddLine(page, "limit", LimitText(job.time_limit));
  AddLine(page, "cost",
          job.start_time == kNoTime && job.restarts == 0 ? "" : CostText(job.cost, job.currency));
}

// "alpine:3, /data:/data:ro, writable"
std::string ContainerText(const ContainerView& container) {
  std::vector<std::string> parts = {container.image};
  parts.insert(parts.end(), container.mounts.begin(), container.mounts.end());
  const auto add = [&parts](bool said, const std::string& text) {
    if (said) {
      parts.push_back(text);
    }
  };
  add(!container.name.empty(), absl::StrCat("kept as ", container.name));
  add(container.writable, "writable");
  add(container.remap_root, "root inside");
  add(!container.save.empty(), absl::StrCat("saved to ", container.save));
  return absl::StrJoin(parts, ", ");
}

// What else the job asked for: after what, where, when, with which licences.
void AddTerms(std::string& page, const JobDetail& detail, const Style& style) {
  const JobView& job = detail.job;
  AddLine(page, "after", job.dependency);
  AddLine(page, "features", detail.constraint);
  AddLine(page, "nodes", CompressHostlist(detail.request.nodelist));
  AddLine(page, "not on", CompressHostlist(detail.request.exclude));
  AddLine(page, "licences", job.licenses);
  AddLine(page, "begin", job.begin_time == kNoTime ? "" : MomentText(job.begin_time, style.zone));
  AddLine(page, "every", detail.every.substr(0, detail.every.find(';')));
  AddLine(page, "deadline", job.deadline == kNoTime ? "" : MomentText(job.deadline, style.zone));
  AddLine(page, "nice", job.nice == 0 ? "" : absl::StrCat(job.nice));
  AddLine(page, "comment", job.comment);
  AddLine(page, "container", detail.container.has_value() ? ContainerText(*detail.container) : "");
  AddLine(page, "data", absl::StrJoin(detail.node_data, ", "));
  std::vector<std::string> told;
  std::vector<std::string> without;
  for (const std::string& option : detail.recorded) {
    const bool is_notice = absl::StartsWith(option, "mail-") || absl::StartsWith(option, "notify=");
    (is_notice ? told : without).push_back(option);
  }
  AddLine(page, "tells", absl::StrJoin(told, " "));
  AddLine(page, "no effect", absl::StrJoin(without, " "));
  AddLine(page, "record", absl::StrJoin(detail.record, ", "));
  for (const JobNote& note : detail.notes) {
    if (note.name != "Comment") {
      AddLine(page, "note", absl::StrCat(note.name, ": ", note.text));
    }
  }
}

// What it did, and what bounds it: that only where `whole`, since what some nodes have not told may
// be just that.
void AddWork(std::string& page, const Usage& usage, const Had& had, bool whole) {
  AddLine(page, "GPU work", GpuWorkText(usage));
  AddLine(page, "I/O", StorageText(usage, had));
  AddLine(page, "files", FileSystemsText(usage));
  AddLine(page, "page cache", PageCacheText(usage));
  AddLine(page, "network", NetworkText(usage, had));
  AddLine(page, "fabric", FabricText(usage));
  AddLine(page, "bound by", whole ? BoundText(usage, had) : "");
}

// What it has used so far. How well it used what it has is known once all its nodes have spoken.
void AddLiveUsage(std::string& page, const JobDetail& detail, const AttemptView& attempt,
                  const Style& style) {
  const NodeUsage sum = SumOf(detail.live_usage);
  const Duration elapsed = Elapsed(detail.job, sum.time);
  const bool all = detail.live_usage.size() == attempt.nodes.size();
  AddLine(
      page, "used",
      absl::StrCat(
          "by ", MomentText(sum.time, style.zone),
          all ? "" : absl::StrCat(" on ", detail.live_usage.size(), " of its nodes"), ": ",
          UsageText(sum.usage, elapsed, all ? attempt.cpus : 0, all ? attempt.memory : Bytes())));
  AddLine(page, "GPU use", GpuUseText(sum.usage, elapsed, all ? attempt.gpus : 0));
  AddWork(page, sum.usage,
          {elapsed, detail.live_usage.size(), all ? attempt.cpus : 0, all ? attempt.gpus : 0}, all);
  AddLine(page, "energy", EnergyLine(sum.usage));
  if (attempt.nodes.size() > 1) {
    page += PrintNodeUsage(detail.live_usage, sum.time - elapsed, style);
  }
}

void AddStragglers(std::string& page, const JobDetail& detail, const Style& style) {
  if (detail.stragglers.has_value()) {
    for (const std::string& line : StragglerLines(*detail.stragglers, style)) {
      AddLine(page, "slower", line);
    }
    AddLine(page, "peers", PeersText(*detail.stragglers));
    AddLine(page, "not by", UnjudgedText(*detail.stragglers));
  }
}

// "12:00:00 to 12:05:00, for 5:00: suspended by ada"
std::string SuspensionText(const Suspension& suspension, const Style& style) {
  const std::string why = suspension.text.empty() ? "" : ": " + suspension.text;
  if (suspension.end == kNoTime) {
    return absl::StrCat("since ", MomentText(suspension.begin, style.zone), why);
  }
  return absl::StrCat(MomentText(suspension.begin, style.zone), " to ",
                      MomentText(suspension.end, style.zone), ", for ",
                      PreciseText(suspension.end - suspension.begin), why);
}

void AddAttempt(std::string& page, const JobDetail& detail, const AttemptView& attempt,
                const Style& style) {
  absl::StrAppend(&page, "\n",
                  Painted(absl::StrCat("attempt ", attempt.number.value()), Paint::kBold, style),
                  "\n");
  AddLine(page, "on", GotText(attempt.nodes, attempt.cpus, attempt.memory, attempt.gpus));
  AddLine(page, "started", MomentText(attempt.start_time, style.zone));
  for (const Suspension& suspension : attempt.suspensions) {
    AddLine(page, "suspended", SuspensionText(suspension, style));
  }
  if (attempt.end_time != kNoTime) {
    const Duration elapsed = attempt.end_time - attempt.start_time - attempt.suspended;
    AddLine(
        page, "ended",
        absl::StrCat(MomentText(attempt.end_time, style.zone), ", ran for ", PreciseText(elapsed)));
    AddLine(page, "exit",
            absl::StrCat(ExitText(attempt.exit),
                         attempt.cause.empty() ? "" : ", cause: ", attempt.cause));
    AddLine(page, "used", UsageText(attempt.usage, elapsed, attempt.cpus, attempt.memory));
    AddLine(page, "GPU use", GpuUseText(attempt.usage, elapsed, attempt.gpus));
    AddWork(page, attempt.usage, {elapsed, attempt.nodes.size(), attempt.cpus, attempt.gpus}, true);
    AddLine(page, "energy", EnergyLine(attempt.usage));
  } else if (!detail.live_usage.empty()) {
    AddLiveUsage(page, detail, attempt, style);
    AddStragglers(page, detail, style);
  }
  AddLine(page, "saved", CheckpointText(attempt, style));
  AddLine(page, "limits", attempt.limits);
  AddLine(page, "image", attempt.image);
  AddLine(page, "data", attempt.data);
  for (const std::string& error : attempt.gpu_errors) {
    AddLine(page, "GPU error", error);
  }
  if (!attempt.ranks.empty()) {
    page += RankTable(attempt.ranks, style);
  }
}

}  // namespace

std::string RequestText(const ResourceRequest& request) {
  std::vector<std::string> parts = {Counted(std::max(1U, request.tasks), "task"),
                                    absl::StrCat(Counted(request.cpus_per_task, "cpu"), " each")};
  if (request.min_nodes != 0) {
    parts.push_back(
        request.max_nodes > request.min_nodes
            ? absl::StrCat(request.min_nodes, " to ", Counted(request.max_nodes, "node"))
            : Counted(request.min_nodes, "node"));
  }
  if (request.tasks_per_node != 0) {
    parts.push_back(absl::StrCat(Counted(request.tasks_per_node, "task"), " a node"));
  }
  if (!request.memory_per_node.zero()) {
    parts.push_back(BytesText(request.memory_per_node.value()) + " a node");
  }
  if (!request.memory_per_cpu.zero()) {
    parts.push_back(BytesText(request.memory_per_cpu.value()) + " a cpu");
  }
  for (const std::string& gpus :
       {GpuText(request.gpus, " in all"), GpuText(request.gpus_per_node, " a node"),
        GpuText(request.gpus_per_task, " a task")}) {
    if (!gpus.empty()) {
      parts.push_back(gpus);
    }
  }
  if (!request.gpu_share.zero()) {
    parts.push_back(GpuShareText(request.gpu_share.value()) + " of each GPU");
  }
  if (request.gpu_occupied) {
    parts.emplace_back("beside other users of GPUs");
  }
  if (request.exclusive) {
    parts.emplace_back("whole nodes");
  }
  if (request.exclusive_user) {
    parts.emplace_back("beside jobs of the same user only");
  }
  if (request.overcommit) {
    parts.emplace_back("overcommitted");
  }
  return absl::StrJoin(parts, ", ");
}

std::string EndText(const JobView& job) {
  if (job.start_time == kNoTime) {
    return job.exit_text.empty() ? "without having started" : job.exit_text;
  }
  const std::string exit = ExitText({.code = job.exit_code, .signal = job.exit_signal});
  return job.exit_text.empty() ? exit : absl::StrCat(exit, ": ", job.exit_text);
}

std::string PrintJobSheet(const JobDetail& detail, Time now, const Style& style) {
  const JobView& job = detail.job;
  std::string page = absl::StrCat(Painted("job " + Printable(job.label), Paint::kBold, style), "  ",
                                  Printable(job.name), "  ",
                                  Painted(job.state, StatePaint(job.state), style), "\n");
  AddLine(page, "user",
          job.account.empty() ? job.user : absl::StrCat(job.user, ", account ", job.account));
  AddLine(page, "asked", RequestText(detail.request));
  AddTerms(page, detail, style);
  AddLine(page, "policy", PolicyText(job));
  if (!job.reason.kind.empty() && !IsTerminal(job.state)) {
    AddLine(page, "waits",
            absl::StrCat(job.reason.kind, job.reason.text.empty() ? "" : ": ", job.reason.text));
  }
  AddLine(page, "alert", job.alert);
  for (const Warning& warning : job.warnings) {
    AddLine(page, "warning", warning.text);
  }
  AddLine(page, "priority", job.priority > 0 ? absl::StrCat(job.priority) : "");
  AddTimes(page, job, now, style);
  AddLine(page, "got", GotText(job.nodes, job.cpus, job.memory, job.gpus));
  AddLine(page, "elastic", detail.elastic);
  AddLine(page, "binding", job.binding);
  AddLine(page, "locality", LocalityText(detail.placement));
  AddLine(page, "predicted", CollectiveText(detail.placement, job));
  if (job.restarts != 0) {
    AddLine(page, "restarts", absl::StrCat(job.restarts));
  }
  AddLine(page, "interval", detail.checkpoint_interval);
  AddLine(page, "saved",
          CheckpointText(job.checkpoints, IsTerminal(job.state) || job.start_time == kNoTime
                                              ? Duration(0)
                                              : Elapsed(job, now)));
  AddLine(page, "command", ShellWords(detail.command));
  AddLine(page, "directory", detail.work_dir);
  AddLine(page, "output", detail.stdout_path);
  AddLine(page, "errors", detail.stderr_path == detail.stdout_path ? "" : detail.stderr_path);
  for (const AttemptView& attempt : detail.attempts) {
    AddAttempt(page, detail, attempt, style);
  }
  if (!detail.steps.empty()) {
    absl::StrAppend(&page, "\n", Painted("steps", Paint::kBold, style), "\n",
                    PrintSteps({{job.label, detail.steps}}, now, style));
  }
  return page;
}

}  // namespace muster::cli
