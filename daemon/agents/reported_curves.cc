#include "daemon/agents/reported_curves.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::daemon {

void ReportedCurves::Add(const Job& job, const std::vector<SaidValue>& said) {
  if (said.empty()) {
    return;
  }
  Series& series = series_[job.id];
  by_touch_.erase(series.touched);
  series.user = job.spec->user.name;
  series.touched = ++touches_;
  by_touch_[series.touched] = job.id;
  for (const SaidValue& value : said) {
    if (series.curves.size() >= kNamesMax && !series.curves.contains(value.name)) {
      continue;
    }
    Curve& curve = series.curves[value.name];
    if (value.time <= curve.time) {
      continue;  // nothing new, or another node said something later
    }
    curve.time = value.time;
    curve.last = value.last;
    if (std::isfinite(value.last)) {
      AddPoint(curve, value.time, static_cast<float>(value.last));
    }
  }
  Evict(job.id);
}

void ReportedCurves::AddPoint(Curve& curve, Time time, float value) {
  for (std::size_t row = 0; row < UsageCurves::kRows.size(); ++row) {
    const Duration span = UsageCurves::kRows[row].span;
    const std::int64_t number = time.time_since_epoch() / span;
    std::deque<Point>& points = curve.rows[row];
    if (points.empty() || points.back().number < number) {
      points.push_back({number, value, value, value});
      ++points_;
    }
    Point& newest = points.back();
    newest.last = value;
    newest.low = std::min(newest.low, value);
    newest.high = std::max(newest.high, value);
    if (points.size() > UsageCurves::kRows[row].points) {
      points.pop_front();
      --points_;
    }
  }
}

void ReportedCurves::Evict(JobId keep) {
  while (points_ > points_max_ && by_touch_.begin()->second != keep) {
    const auto oldest = series_.find(by_touch_.begin()->second);
    for (const auto& [name, curve] : oldest->second.curves) {
      for (const std::deque<Point>& row : curve.rows) {
        points_ -= row.size();
      }
    }
    series_.erase(oldest);
    by_touch_.erase(by_touch_.begin());
  }
}

// The finest row as far back as it goes, before that the next, and so on.
ReportedCurve ReportedCurves::CurveOf(const std::string& name, const Curve& curve) {
  ReportedCurve shown{name, curve.last, curve.time, {}};
  Time before = Time::max();
  for (std::size_t row = 0; row < UsageCurves::kRows.size(); ++row) {
    const Duration span = UsageCurves::kRows[row].span;
    const std::deque<Point>& points = curve.rows[row];
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      const Time start(span * point->number);
      if (start + span <= before) {
        shown.points.push_back({start, span, point->last, point->low, point->high});
      }
    }
    if (!points.empty()) {
      before = std::min(before, Time(span * points.front().number));
    }
  }
  std::reverse(shown.points.begin(), shown.points.end());
  return shown;
}

std::vector<ReportedCurve> ReportedCurves::Of(
    JobId job, const std::function<bool(const std::string& user)>& may_see) const {
  std::vector<ReportedCurve> shown;
  const auto found = series_.find(job);
  if (found == series_.end() || !may_see(found->second.user)) {
    return shown;
  }
  for (const auto& [name, curve] : found->second.curves) {
    shown.push_back(CurveOf(name, curve));
  }
  return shown;
}

}  // namespace muster::daemon
