#include "tests/golden/scenario.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/core/explain/explain.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::golden {
namespace {

constexpr Time kNow{std::chrono::seconds(1'000'000)};

// The words of one line: "key=value" or "flag". What was not asked for by the end is a mistake.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      words_[pair.first] = pair.second;
    }
  }
  bool Flag(const std::string& name) { return words_.erase(name) > 0; }
  std::string Text(const std::string& name, const std::string& otherwise = "") {
    const auto found = words_.find(name);
    if (found == words_.end()) {
      return otherwise;
    }
    std::string text = found->second;
    words_.erase(found);
    return text;
  }
  std::uint32_t Number(const std::string& name, std::uint32_t otherwise) {
    const std::string text = Text(name);
    std::uint32_t number = otherwise;
    if (!text.empty() && !absl::SimpleAtoi(text, &number)) {
      words_[name] = text;  // not a number: left over
    }
    return number;
  }
  std::int32_t Nice() {
    std::int32_t nice = 0;
    static_cast<void>(absl::SimpleAtoi(Text("nice", "0"), &nice));
    return nice;
  }
  [[nodiscard]] std::string left() const { return words_.empty() ? "" : words_.begin()->first; }

 private:
  std::map<std::string, std::string> words_;
};

Machine ReadMachine(Words& words) {
  const std::uint32_t numa = words.Number("numa", 1);
  const std::uint32_t cores = words.Number("cores", 4);
  const std::uint32_t threads = words.Number("threads", 1);
  const std::uint32_t gpus = words.Number("gpus", 0);
  const Bytes memory = kGibibyte * words.Number("memory", 8);
  const std::string model = words.Text("model", "A100");
  Machine machine;
  std::uint32_t cpu = 0;
  for (std::uint32_t n = 0; n < numa; ++n) {
    machine.numa_nodes.push_back(NumaNode{n, CpuSet(), memory});
    machine.memory += memory;
    for (std::uint32_t c = 0; c < cores; ++c) {
      Core core;
      core.os_index = n * cores + c;
      core.numa = n;
      for (std::uint32_t t = 0; t < threads; ++t) {
        core.cpus.Insert(cpu++);
      }
      machine.numa_nodes[n].cpus |= core.cpus;
      machine.cores.push_back(core);
    }
    for (std::uint32_t g = 0; g < gpus; ++g) {
      Gpu gpu;
      gpu.os_index = n * gpus + g;
      gpu.model = model;
      gpu.numa = n;
      machine.gpus.push_back(gpu);
    }
  }
  return machine;
}

absl::Status ReadNode(const std::string& name, Words& words, Snapshot& snapshot) {
  NodeSnapshot node;
  node.id = NodeId(static_cast<std::uint32_t>(snapshot.nodes.size()) + 1);
  node.name = name;
  node.machine = std::make_shared<const Machine>(ReadMachine(words));
  node.up = !words.Flag("down");
  node.drained = words.Flag("drained");
  ASSIGN_OR_RETURN(node.taken.cpus, CpuSet::Parse(words.Text("taken")));
  node.taken.memory = kGibibyte * words.Number("taken_memory", 0);
  snapshot.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

// "MIN", "MIN-MAX" or, of an array, "FIRST-LAST".
std::pair<std::uint32_t, std::uint32_t> ReadPair(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('-', 1));
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  static_cast<void>(absl::SimpleAtoi(parts.first, &low));
  static_cast<void>(absl::SimpleAtoi(parts.second, &high));
  return {low, high};
}

ResourceRequest ReadRequest(Words& words) {
  ResourceRequest request;
  request.tasks = words.Number("tasks", 0);
  request.cpus_per_task = words.Number("cpus", 1);
  std::tie(request.min_nodes, request.max_nodes) = ReadPair(words.Text("nodes"));
  request.tasks_per_node = words.Number("per_node", 0);
  request.memory_per_node = kGibibyte * words.Number("mem", 0);
  request.memory_per_cpu = kGibibyte * words.Number("mem_per_cpu", 0);
  const std::string type = words.Text("type");
  request.gpus = {type, words.Number("gpus", 0)};
  request.gpus_per_node = {type, words.Number("gpus_per_node", 0)};
  request.gpus_per_task = {type, words.Number("gpus_per_task", 0)};
  request.exclusive = words.Flag("exclusive");
  request.overcommit = words.Flag("overcommit");
  return request;
}

absl::Status ReadJob(Words& words, JobId& next, Snapshot& snapshot) {
  JobSpec spec;
  spec.request = ReadRequest(words);
  spec.held = words.Flag("held");
  spec.nice = words.Nice();
  const std::uint32_t begin = words.Number("begin", 0);
  spec.begin = begin > 0 ? kNow + std::chrono::seconds(begin) : kNoTime;
  const std::string array = words.Text("array");
  if (!array.empty()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(array, absl::MaxSplits('%', 1));
    const auto [first, last] = ReadPair(parts.first);
    spec.array = ArraySpec{{{first, last, 1}}, ReadPair(parts.second).first};
  }
  ASSIGN_OR_RETURN(spec, core::Normalise(std::move(spec), SchedulerConfig()));
  const auto shared = std::make_shared<const JobSpec>(spec);
  const JobId submission = next;
  const std::uint64_t count = spec.array.has_value() ? ElementCount(*spec.array) : 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    WaitingJob job;
    job.id = next;
    job.submission = submission;
    job.spec = shared;
    job.held = spec.held;
    snapshot.waiting.push_back(std::move(job));
    next = next.Next();
  }
  return absl::OkStatus();
}

absl::Status ReadLine(const std::string& line, JobId& next, Snapshot& snapshot) {
  std::vector<std::string> fields =
      absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (fields.empty()) {
    return absl::OkStatus();
  }
  const std::string kind = fields.front();
  const bool is_node = kind == "node";
  if ((!is_node && kind != "job") || (is_node && fields.size() < 2)) {
    return absl::InvalidArgumentError("begins with neither \"node NAME\" nor \"job\"");
  }
  const std::string name = is_node ? fields[1] : "";
  fields.erase(fields.begin(), fields.begin() + (is_node ? 2 : 1));
  Words words(fields);
  RETURN_IF_ERROR(is_node ? ReadNode(name, words, snapshot) : ReadJob(words, next, snapshot));
  if (!words.left().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("does not know \"", words.left(), "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Snapshot> ReadScenario(const std::string& text) {
  Snapshot snapshot;
  snapshot.version = Version(1);
  snapshot.now = kNow;
  JobId next(1);
  int number = 0;
  for (const auto& line : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::Status status = ReadLine(std::string(line), next, snapshot);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", std::string(status.message())));
    }
  }
  std::sort(snapshot.waiting.begin(), snapshot.waiting.end(), core::GoesBefore);
  return snapshot;
}

std::string Describe(const Snapshot& snapshot, const Plan& plan) {
  std::string text;
  for (const PlannedStart& start : plan.starts) {
    absl::StrAppend(&text, "start ", start.job.value(), "\n");
    for (const NodeAllocation& part : start.allocation.nodes) {
      absl::StrAppend(&text, "  ", part.name, " cpus ", part.cpus.ToList(), " memory ",
                      part.memory.value() >> 20U, " MiB\n");
      for (const RankPlacement& rank : part.ranks) {
        absl::StrAppend(&text, "    rank ", rank.rank, " cpus ", rank.cpus.ToList(), " numa ",
                        rank.mem_nodes.ToList());
        for (const std::uint32_t gpu : rank.gpus) {
          absl::StrAppend(&text, " gpu ", gpu);
        }
        absl::StrAppend(&text, "\n");
      }
    }
  }
  for (const LeftWaiting& left : plan.waiting) {
    absl::StrAppend(&text, "wait ", left.job.value(),
                    left.count > 1 ? absl::StrCat(" and ", left.count - 1, " after it") : "", " ",
                    Name(left.reason.kind), "\n");
    const Explanation explanation = core::ExplainWaiting(snapshot, left.job, plan);
    absl::StrAppend(&text, "  ", explanation.summary, "\n");
    for (const NodeAnswer& node : explanation.nodes) {
      absl::StrAppend(&text, "    ", node.node, node.fits ? " + " : " - ", node.text, "\n");
    }
  }
  if (plan.wake != kNoTime) {
    absl::StrAppend(&text, "wake ", plan.wake.time_since_epoch().count() / 1000, "\n");
  }
  absl::StrAppendFormat(&text, "hash %016x\n", plan.hash);
  return text;
}

}  // namespace muster::golden
