#include "cli/page/straggler_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"

namespace muster::cli {
namespace {

std::string MeasureTitle(const std::string& name) {
  constexpr std::pair<const char*, const char*> kTitles[] = {{"gpu_clock", "GPU clock"},
                                                             {"cpu_time", "CPU time"},
                                                             {"cpu_clock", "CPU clock"},
                                                             {"gpu_work", "GPU work"}};
  for (const auto& [known, title] : kTitles) {
    if (name == known) {
      return title;
    }
  }
  return name;
}

}  // namespace

std::vector<std::string> StragglerLines(const StragglersView& stragglers, const Style& style) {
  std::vector<std::string> lines;
  for (const StragglerView& rank : stragglers.found) {
    lines.push_back(absl::StrCat(rank.text, "; since ", MomentText(rank.since, style.zone)));
  }
  return lines;
}

std::string PeersText(const StragglersView& stragglers) {
  if (stragglers.judged == 0) {
    return absl::StrCat("cannot tell yet: ", absl::StrJoin(stragglers.unknown, "; "));
  }
  std::vector<std::string> titles;
  for (const std::string& measure : stragglers.measures) {
    titles.push_back(MeasureTitle(measure));
  }
  return absl::StrCat(stragglers.found.empty() ? "none" : absl::StrCat(stragglers.found.size()),
                      " of ", stragglers.judged, " ranks slower over the last minute, by ",
                      absl::StrJoin(titles, ", "));
}

std::string UnjudgedText(const StragglersView& stragglers) {
  return stragglers.judged == 0 ? "" : absl::StrJoin(stragglers.unknown, "; ");
}

}  // namespace muster::cli
