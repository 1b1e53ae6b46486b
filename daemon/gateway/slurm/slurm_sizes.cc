#include "daemon/gateway/slurm/slurm_sizes.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/parse/request/rank_layout.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"

namespace muster::daemon::slurm {
namespace {

constexpr std::uint64_t kMebibytes = std::uint64_t{1} << 20;

ResourceRequest& RequestOf(SubmitJob& job) {
  return job.spec.request;
}

RankLayout& LayoutOf(SubmitJob& job) {
  std::optional<RankLayout>& layout = RequestOf(job).layout;
  return layout.has_value() ? *layout : layout.emplace();
}

// "2" or "1-3".
absl::Status ReadNodes(const std::string& name, const Json& value, SubmitJob& job) {
  ResourceRequest& request = RequestOf(job);
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  if (value.is_string() && ends.size() == 2 && absl::SimpleAtoi(ends[0], &least) &&
      absl::SimpleAtoi(ends[1], &most)) {
    request.min_nodes = least;
    request.max_nodes = most;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(least, CountIn(name, value));
  request.min_nodes = least;
  request.max_nodes = least;
  return absl::OkStatus();
}

// "gres/gpu:2", "gpu:a100:2", "gres:gpu=2".
FieldReader Gpus(GpuRequest ResourceRequest::*gpus) {
  return [gpus](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string text, TextIn(name, value));
    std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar("/:="));
    if (words.front() == "gres") {
      words.erase(words.begin());
    }
    std::uint32_t count = 1;
    if (words.empty() || words.size() > 3 || words.front() != "gpu" ||
        (words.size() > 1 && !absl::SimpleAtoi(words.back(), &count))) {
      return BadField(name, "GPUs alone, as \"gres/gpu:2\" or \"gres/gpu:a100:2\"");
    }
    GpuRequest& asked = RequestOf(job).*gpus;
    asked.count = count;
    if (words.size() == 3) {
      asked.type = words[1];
    }
    return absl::OkStatus();
  };
}

FieldReader NamedNodes(std::vector<std::string> ResourceRequest::*nodes) {
  return [nodes](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    std::string text;
    if (value.is_string()) {
      text = value.get<std::string>();
    } else {
      ASSIGN_OR_RETURN(const std::vector<std::string> words, WordsIn(name, value));
      text = absl::StrJoin(words, ",");
    }
    absl::StatusOr<std::vector<std::string>> names = NodeNames(text);
    RETURN_IF_ERROR(InField(name, names.status()));
    RequestOf(job).*nodes = *std::move(names);
    return absl::OkStatus();
  };
}

// All memory of the nodes has only who has them alone.
absl::Status ReadMemory(const std::string& name, const Json& value, SubmitJob& job) {
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> number, NumberIn(name, value));
  RETURN_IF_ERROR(CountIn(name, value).status());
  RequestOf(job).exclusive = RequestOf(job).exclusive || number == std::uint64_t{0};
  RequestOf(job).memory_per_node = Bytes(number.value_or(0) * kMebibytes);
  return absl::OkStatus();
}

absl::Status ReadTasksPerCore(const std::string& name, const Json& value, SubmitJob& /*job*/) {
  ASSIGN_OR_RETURN(const std::uint32_t count, CountIn(name, value));
  return count <= 1 ? absl::OkStatus()
                    : BadField(name, "a task has whole cores of its own; overcommit shares them");
}

void BeAlone(SubmitJob& job, const std::string& with) {
  RequestOf(job).exclusive_user = with == "user";
  RequestOf(job).exclusive = with != "user";
}

// true, or "true", "false", "user", "mcs" in a list. A label of security is the whole node here.
absl::Status ReadExclusive(const std::string& name, const Json& value, SubmitJob& job) {
  const Json words = value.is_boolean() ? Json::array({value == true ? "true" : "false"}) : value;
  ASSIGN_OR_RETURN(const std::vector<std::string> said, WordsIn(name, words));
  for (const std::string& word : said) {
    if (word == "true" || word == "user" || word == "mcs") {
      BeAlone(job, word);
    } else if (word != "false") {
      return BadField(name, "true, false, user or mcs");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadShared(const std::string& name, const Json& value, SubmitJob& job) {
  ASSIGN_OR_RETURN(const std::vector<std::string> said, WordsIn(name, value));
  for (const std::string& word : said) {
    if (word == "none" || word == "user" || word == "mcs") {
      BeAlone(job, word);
    } else if (word == "oversubscribe") {
      job.spec.recorded.push_back(word);
    } else {
      return BadField(name, "none, oversubscribe, user or mcs");
    }
  }
  return absl::OkStatus();
}

// sbatch sends "block:cyclic:fcyclic,Pack": cores within a socket are given whole here.
absl::Status ReadDistribution(SubmitJob& job, const std::string& text) {
  std::vector<std::string> levels = absl::StrSplit(text.substr(0, text.find(',')), ':');
  levels.resize(std::min<std::size_t>(levels.size(), 2));
  return cli::ParseDistribution(absl::AsciiStrToLower(absl::StrJoin(levels, ":")), &LayoutOf(job));
}

void SetPlane(SubmitJob& job, std::uint32_t size) {
  if (size > 0) {
    LayoutOf(job).nodes = Dealing::kPlane;
    LayoutOf(job).plane = size;
  }
}

struct BindingWord {
  std::string_view flag;
  std::string_view kind;  // as the option says it; empty: only talk
};
constexpr BindingWord kCpuBindings[] = {{"CPU_BIND_NONE", "none"},
                                        {"CPU_BIND_TO_THREADS", "threads"},
                                        {"CPU_BIND_TO_CORES", "cores"},
                                        {"CPU_BIND_TO_SOCKETS", "sockets"},
                                        {"CPU_BIND_TO_LDOMS", "ldoms"},
                                        {"CPU_BIND_LDRANK", "rank_ldom"},
                                        {"CPU_BIND_ONE_THREAD_PER_CORE", ""},
                                        {"VERBOSE", ""}};
constexpr BindingWord kMemoryBindings[] = {{"NONE", "none"}, {"RANK", "rank"}, {"LOCAL", "local"},
                                           {"VERBOSE", ""},  {"SORT", ""},     {"PREFER", ""}};

using ReadLayout = absl::Status (*)(const std::string& text, RankLayout* layout);

// A map or a mask is a list in a field beside this one; both are refused.
FieldReader Binding(std::span<const BindingWord> known, ReadLayout read) {
  return [known, read](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<std::string> said, WordsIn(name, value));
    for (const std::string& word : said) {
      const auto found = std::find_if(known.begin(), known.end(),
                                      [&word](const BindingWord& one) { return one.flag == word; });
      if (found == known.end()) {
        return BadField(name, absl::StrCat(word, " is not done here"));
      }
      if (!found->kind.empty()) {
        RETURN_IF_ERROR(InField(name, read(std::string(found->kind), &LayoutOf(job))));
      }
    }
    return absl::OkStatus();
  };
}

// "gres/gpu:single:2".
absl::Status ReadTresBind(SubmitJob& job, const std::string& text) {
  for (const std::string_view before : {"gres/gpu:", "gres:gpu:"}) {
    if (text.rfind(before, 0) == 0) {
      return cli::ParseGpuBind(text.substr(before.size()), &LayoutOf(job));
    }
  }
  return absl::InvalidArgumentError("GPUs alone, as \"gres/gpu:closest\"");
}

void AddCounts(FieldTable& table) {
  table["tasks"] = Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).tasks = n; });
  table["tasks_per_node"] =
      Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).tasks_per_node = n; });
  table["tasks_per_socket"] =
      Whole([](SubmitJob& j, std::uint32_t n) { LayoutOf(j).tasks_per_socket = n; });
  table["tasks_per_core"] = ReadTasksPerCore;
  table["cpus_per_task"] =
      Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).cpus_per_task = n; });
  table["minimum_nodes"] = Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).min_nodes = n; });
  table["maximum_nodes"] = Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).max_nodes = n; });
  table["memory_per_node"] = ReadMemory;
  table["memory_per_cpu"] = Whole(
      [](SubmitJob& j, std::uint32_t n) { RequestOf(j).memory_per_cpu = Bytes(n * kMebibytes); });
  table["minimum_cpus_per_node"] =
      Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).min_cpus = n; });
  table["temporary_disk_per_node"] =
      Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).tmp = Bytes(n * kMebibytes); });
  table["sockets_per_node"] =
      Whole([](SubmitJob& j, std::uint32_t n) { RequestOf(j).sockets_per_node = n; });
  table["cores_per_socket"] =
      Whole([](SubmitJob& j, std::uint32_t n) { LayoutOf(j).cores_per_socket = n; });
  table["threads_per_core"] =
      Whole([](SubmitJob& j, std::uint32_t n) { LayoutOf(j).threads_per_core = n; });
  table["distribution_plane_size"] = Whole(SetPlane);
  table["overcommit"] = Switch([](SubmitJob& j, bool on) { RequestOf(j).overcommit = on; });
}

}  // namespace

void AddSizes(FieldTable& table) {
  AddCounts(table);
  table["nodes"] = ReadNodes;
  table["tres_per_job"] = Gpus(&ResourceRequest::gpus);
  table["tres_per_node"] = Gpus(&ResourceRequest::gpus_per_node);
  table["tres_per_task"] = Gpus(&ResourceRequest::gpus_per_task);
  table["required_nodes"] = NamedNodes(&ResourceRequest::nodelist);
  table["excluded_nodes"] = NamedNodes(&ResourceRequest::exclude);
  table["exclusive"] = ReadExclusive;
  table["shared"] = ReadShared;
  table["oversubscribe"] = Recorded("oversubscribe");
  table["distribution"] = Worded(ReadDistribution);
  table["cpu_binding_flags"] = Binding(kCpuBindings, cli::ParseCpuBind);
  table["memory_binding_type"] = Binding(kMemoryBindings, cli::ParseMemBind);
  table["tres_bind"] = Worded(ReadTresBind);
}

}  // namespace muster::daemon::slurm
