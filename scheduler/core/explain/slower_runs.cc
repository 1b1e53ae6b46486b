#include "scheduler/core/explain/slower_runs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::core {
namespace {

constexpr const char* kOfAllVariables = "environment";
// Another one for each run, as a rule; it says nothing of how fast that is.
constexpr const char* kOfThePlace = "checkpoint.directory";

// Of up to kBaseMost runs that end with the one before `end`. REQUIRES: end > 0.
Duration MedianBefore(const std::vector<FinishedRun>& runs, std::size_t end) {
  std::vector<Duration> base;
  for (std::size_t i = end - std::min(end, kBaseMost); i < end; ++i) {
    base.push_back(runs[i].ran);
  }
  const auto middle = base.begin() + static_cast<std::ptrdiff_t>(base.size() / 2);
  std::nth_element(base.begin(), middle, base.end());
  return *middle;
}

bool IsSlower(Duration ran, Duration median) {
  return ran - median >= kSlowerLeast &&
         ran.count() * (100 - kSlowerPercent) > median.count() * 100;
}

// How many of the last runs are slower than those before all of them.
std::size_t SlowerInARow(const std::vector<FinishedRun>& runs) {
  std::size_t found = 0;
  for (std::size_t count = kInARow; count + kBaseLeast <= runs.size(); ++count) {
    const std::size_t first = runs.size() - count;
    const Duration median = MedianBefore(runs, first);
    const bool all =
        std::all_of(runs.begin() + static_cast<std::ptrdiff_t>(first), runs.end(),
                    [median](const FinishedRun& run) { return IsSlower(run.ran, median); });
    if (!all) {
      break;
    }
    found = count;
  }
  return found;
}

std::map<std::string, std::string> NamesOf(const FinishedRun& run) {
  std::map<std::string, std::string> names;
  for (const std::string& line : run.record) {
    const std::size_t end = std::min(line.find('='), line.size());
    if (line.compare(0, end, kOfThePlace) == 0) {
      continue;
    }
    names[line.substr(0, end)] = line.substr(std::min(end + 1, line.size()));
  }
  return names;
}

void NameDifference(const FinishedRun& before, const FinishedRun& first, SlowerRuns& slower) {
  const std::map<std::string, std::string> was = NamesOf(before);
  const std::map<std::string, std::string> is = NamesOf(first);
  std::map<std::string, std::string> all = is;
  all.insert(was.begin(), was.end());
  const auto value = [](const std::map<std::string, std::string>& names, const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? std::string() : found->second;
  };
  // The hash of all variables differs with each of them: what has a name of its own goes before.
  std::string differs;
  for (const auto& [name, text] : all) {
    if (value(was, name) != value(is, name) && (differs.empty() || differs == kOfAllVariables)) {
      differs = name;
    }
  }
  if (!differs.empty()) {
    slower.name = differs;
    slower.was = value(was, differs);
    slower.is = value(is, differs);
  } else if (before.nodes != first.nodes) {
    slower.name = "nodes";
    slower.was = absl::StrJoin(before.nodes, ",");
    slower.is = absl::StrJoin(first.nodes, ",");
  }
}

}  // namespace

std::optional<SlowerRuns> FindSlowerRuns(const std::vector<FinishedRun>& runs) {
  const std::size_t count = SlowerInARow(runs);
  if (count == 0) {
    return std::nullopt;
  }
  const std::size_t first = runs.size() - count;
  SlowerRuns slower;
  slower.in_a_row = static_cast<std::uint32_t>(count);
  slower.first = runs[first].job;
  slower.before = runs[first - 1].job;
  slower.ran = runs.back().ran;
  slower.median = MedianBefore(runs, first);
  slower.fall = static_cast<std::uint32_t>(100 - slower.median.count() * 100 / slower.ran.count());
  NameDifference(runs[first - 1], runs[first], slower);
  return slower;
}

std::string ToSentence(const SlowerRuns& slower) {
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("not there") : value;
  };
  std::string text =
      absl::StrCat("has a rate ", slower.fall, " % below that of its earlier runs (",
                   SecondsText(slower.ran), ", median ", SecondsText(slower.median), "), ",
                   slower.in_a_row, " times in a row since job ", ToString(slower.first));
  if (slower.name.empty()) {
    return absl::StrCat(text, "; nothing that is recorded differs from job ",
                        ToString(slower.before));
  }
  return absl::StrCat(text, "; ", slower.name, " was ", shown(slower.was), ", is ",
                      shown(slower.is), ": muster diff ", ToString(slower.before), " ",
                      ToString(slower.first));
}

}  // namespace muster::core
