#include "daemon/client/views/detail_views.h"

#include <algorithm>
#include <string>
#include <vector>

namespace muster::daemon {

void AddDigest(JobDetail& detail) {
  if (detail.container.has_value() && !detail.attempts.empty() &&
      !detail.attempts.back().image.empty()) {
    detail.container->digest = detail.attempts.back().image;
  }
}

void TakePage(const ShowJob& asked, JobDetail& detail) {
  for (AttemptView& attempt : detail.attempts) {
    std::vector<RankView>& ranks = attempt.ranks;
    attempt.rank_count = static_cast<std::uint32_t>(ranks.size());
    attempt.ranks_differ = static_cast<std::uint32_t>(
        std::count_if(ranks.begin(), ranks.end(),
                      [](const RankView& rank) { return rank.verdict == "differs"; }));
    const auto first = std::min<std::size_t>(asked.ranks_from, ranks.size());
    ranks.erase(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(first));
    if (asked.ranks_limit > 0 && ranks.size() > asked.ranks_limit) {
      ranks.resize(asked.ranks_limit);
    }
  }
}

void Conceal(JobDetail& detail) {
  for (std::string* const text : {&detail.work_dir, &detail.stdout_path, &detail.stderr_path,
                                  &detail.checkpoint_interval, &detail.submit_host}) {
    text->clear();
  }
  for (AttemptView& attempt : detail.attempts) {
    attempt.data.clear();
  }
  detail.container.reset();
  detail.recorded.clear();  // addresses of mail and webhooks among them, which may be secrets
  detail.record.clear();
  detail.node_data.clear();
}

}  // namespace muster::daemon
