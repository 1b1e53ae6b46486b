#include "cli/compare/job_difference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::cli {
namespace {

using Values = std::map<std::string, std::string>;

// Every leaf by its path: "request.gpus.count".
void Flatten(const std::string& path, const Json& json, Values& values) {
  if (json.is_object()) {
    for (const auto& [name, member] : json.items()) {
      Flatten(path.empty() ? name : absl::StrCat(path, ".", name), member, values);
    }
  } else if (json.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : json) {
      items.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    }
    values[path] = absl::StrJoin(items, ",");
  } else {
    values[path] = json.is_string() ? json.get<std::string>() : json.is_null() ? "" : json.dump();
  }
}

Values ProgramOf(const JobDetail& detail) {
  Values values = {{"command", absl::StrJoin(detail.command, " ")}, {"directory", detail.work_dir}};
  if (!detail.script.empty()) {
    values["script"] = HashText(Fingerprint().Add(detail.script).value());
  }
  if (detail.container.has_value()) {
    Flatten("container", ToJson(*detail.container), values);
  }
  return values;
}

Values RecordOf(const JobDetail& detail) {
  Values values;
  for (const std::string& line : detail.record) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    values.insert(parts);
  }
  return values;
}

Values AskedOf(const JobDetail& detail) {
  const JobView& job = detail.job;
  Values values = {{"name", job.name},
                   {"user", job.user},
                   {"account", job.account},
                   {"partition", job.partition},
                   {"qos", job.qos},
                   {"reservation", job.reservation},
                   {"licenses", job.licenses},
                   {"time_limit", PeriodText(job.time_limit)},
                   {"options", absl::StrJoin(detail.recorded, " ")}};
  Flatten("request", ToJson(detail.request), values);
  return values;
}

Values GotOf(const JobDetail& detail) {
  if (detail.attempts.empty()) {
    return {};
  }
  const AttemptView& attempt = detail.attempts.back();
  std::set<std::string> gpus;
  for (const RankView& rank : attempt.ranks) {
    gpus.insert(rank.gpus.begin(), rank.gpus.end());
  }
  return {{"nodes", CompressHostlist(attempt.nodes)},
          {"cpus", absl::StrCat(attempt.cpus)},
          {"memory", SizeText(attempt.memory.value())},
          {"gpus", absl::StrCat(attempt.gpus)},
          {"ranks' GPUs", absl::StrJoin(gpus, ",")},
          {"image", attempt.image},
          {"limits", attempt.limits}};
}

Values OutcomeOf(const JobDetail& detail) {
  const JobView& job = detail.job;
  Values values = {{"state", job.state}};
  if (!IsTerminal(job.state)) {
    return values;
  }
  values["exit"] =
      job.exit_signal != 0 ? absl::StrCat("signal ", job.exit_signal) : absl::StrCat(job.exit_code);
  values["text"] = job.exit_text;
  values["binding"] = job.binding;
  values["restarts"] = absl::StrCat(job.restarts);
  values["elapsed"] = PreciseText(job.end_time - job.start_time - job.suspended);
  values["cpu"] = PreciseText(job.usage.user_cpu + job.usage.system_cpu);
  values["peak_memory"] = SizeText(job.usage.peak_memory.value());
  values["gpu_busy"] = PreciseText(job.usage.gpu_busy);
  return values;
}

void AddDifferences(const char* group, const Values& first, const Values& second,
                    std::vector<Difference>& differences) {
  Values names = first;
  names.insert(second.begin(), second.end());
  for (const auto& [name, any] : names) {
    const auto one = first.find(name);
    const auto other = second.find(name);
    Difference difference{group, name, one == first.end() ? "" : one->second,
                          other == second.end() ? "" : other->second};
    if (difference.first != difference.second) {
      differences.push_back(std::move(difference));
    }
  }
}

}  // namespace

std::vector<Difference> DifferencesOf(const JobDetail& first, const JobDetail& second) {
  std::vector<Difference> differences;
  Values one = ProgramOf(first);
  Values other = ProgramOf(second);
  if (one.contains("script") != other.contains("script") && first.batch == second.batch) {
    one.erase("script");  // of one alone it is kept
    other.erase("script");
  }
  AddDifferences("program", one, other, differences);
  AddDifferences("record", RecordOf(first), RecordOf(second), differences);
  AddDifferences("asked", AskedOf(first), AskedOf(second), differences);
  AddDifferences("got", GotOf(first), GotOf(second), differences);
  AddDifferences("outcome", OutcomeOf(first), OutcomeOf(second), differences);
  return differences;
}

std::string ScriptDifference(const std::string& first, const std::string& second) {
  const std::vector<std::string> one = absl::StrSplit(first, '\n');
  const std::vector<std::string> other = absl::StrSplit(second, '\n');
  // The longest common subsequence of lines (Hunt and Szymanski 1977 name the problem); scripts
  // have few lines, so the table of all pairs does.
  constexpr std::size_t kLinesMax = 4000;
  if (first == second || one.size() > kLinesMax || other.size() > kLinesMax) {
    return "";
  }
  std::vector<std::vector<std::uint32_t>> common(one.size() + 1,
                                                 std::vector<std::uint32_t>(other.size() + 1));
  for (std::size_t i = one.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      common[i][j] = one[i] == other[j] ? common[i + 1][j + 1] + 1
                                        : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.size() || j < other.size()) {
    if (i < one.size() && j < other.size() && one[i] == other[j]) {
      ++i;
      ++j;
    } else if (i < one.size() && (j == other.size() || common[i + 1][j] >= common[i][j + 1])) {
      absl::StrAppend(&text, "-", one[i++], "\n");
    } else {
      absl::StrAppend(&text, "+", other[j++], "\n");
    }
  }
  return text;
}

}  // namespace muster::cli
