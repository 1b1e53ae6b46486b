#pragma once

// How long a session has been idle, by what its job used and by keys.
//
// Pure; the caller looks at regular intervals. Invariant: what was not measured counts as use, so
// that no session ends whose use is not known.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

class IdleClock {
 public:
  // Servers that wait use less of one CPU than this share of it: an idle JupyterLab with a page
  // open about a hundredth.
  static constexpr double kIdleShare = 0.03;

  // The session is in use at `began`.
  explicit IdleClock(Time began) : used_(began) {}

  // What the job's processes did, all of them, as they were read at `now`; nothing: they could not
  // be read.
  void Looked(const std::optional<RankTable>& table, Time now);
  // A key was typed then.
  void Typed(Time then) { used_ = std::max(used_, then); }

  // Since when nothing is in use.
  Time Since() const { return used_; }

 private:
  // By node, step and rank.
  using Use = std::map<std::string, Duration>;

  Time used_;
  std::optional<Use> before_;
  Time looked_ = kNoTime;
};

}  // namespace muster::cli
