#pragma once

// What jobs' programs said of their progress over time: the last value of each sample, thinned as
// it ages, in the rows of UsageCurves.
//
// In memory alone: a restarted controller begins with none. Thread promise: one owner, LiveUsage,
// which locks. Invariants: (1) a job has at most kNamesMax curves, and of each kPointsOfCurve
// points; all jobs together kPointsMax: for more those go of the job that said nothing for longest;
// (2) a point is a number: what is none is the curve's last value alone.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/agents/usage_curves.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/curve.h"

namespace muster::daemon {

// What one node's programs said last under one name.
struct SaidValue {
  std::string name;
  double last = 0;
  Time time = kNoTime;
  std::uint64_t count = 0;  // how often it was said
};

class ReportedCurves {
 public:
  static constexpr std::size_t kNamesMax = 32;
  static constexpr std::size_t kPointsOfCurve = UsageCurves::kPointsOfJob;
  static constexpr std::size_t kPointsMax = 1'000'000;

  explicit ReportedCurves(std::size_t points_max = kPointsMax) : points_max_(points_max) {}

  void Add(const Job& job, const std::vector<SaidValue>& said);
  // By name; those of a job whose user `may_see` does not refuse.
  [[nodiscard]] std::vector<ReportedCurve> Of(
      JobId job, const std::function<bool(const std::string& user)>& may_see) const;
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  struct Point {
    std::int64_t number = 0;  // of the span since 1970
    float last = 0;
    float low = 0;
    float high = 0;
  };
  struct Curve {
    double last = 0;
    Time time = kNoTime;
    std::array<std::deque<Point>, UsageCurves::kRows.size()> rows;
  };
  struct Series {
    std::string user;
    std::map<std::string, Curve> curves;
    std::uint64_t touched = 0;
  };

  void AddPoint(Curve& curve, Time time, float value);
  void Evict(JobId keep);
  static ReportedCurve CurveOf(const std::string& name, const Curve& curve);

  const std::size_t points_max_;
  std::map<JobId, Series> series_;
  std::map<std::uint64_t, JobId> by_touch_;
  std::uint64_t touches_ = 0;
  std::size_t points_ = 0;
};

}  // namespace muster::daemon
