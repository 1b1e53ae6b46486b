#include "cli/tell/notice_text.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli {
namespace {

std::string HowItEnded(const JobView& job) {
  std::string text = job.state;
  if (job.exit_code != 0 || job.exit_signal != 0) {
    absl::StrAppend(&text, ": ", ExitText({job.exit_code, job.exit_signal}));
  }
  if (job.start_time != kNoTime && job.end_time >= job.start_time) {
    absl::StrAppend(&text, ", after ", ElapsedText(job.end_time - job.start_time));
  }
  return text;
}

// The most common end first.
std::string HowMany(const std::vector<JobView>& ended) {
  std::map<std::string, std::size_t> counts;
  for (const JobView& each : ended) {
    ++counts[each.state];
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& each) {
    absl::StrAppend(out, each.second, " ", each.first);
  });
}

}  // namespace

std::string NoticeText(const std::string& label, const std::vector<JobView>& ended) {
  const JobView& first = ended.front();
  return Printable(absl::StrCat("muster: job ", label, " (", first.name, ") ",
                                ended.size() == 1 ? HowItEnded(first) : HowMany(ended)));
}

}  // namespace muster::cli
