#include "daemon/agents/usage_curves.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// What an amount has more than it had, where it is told.
template <class Amount>
Amount More(const Amount& now, const Amount& before) {
  return now > before ? now - before : Amount{};
}
template <class Amount>
std::optional<Amount> More(const std::optional<Amount>& now, const std::optional<Amount>& before) {
  return now.has_value() ? std::optional(More(*now, before.value_or(Amount{}))) : std::nullopt;
}

Usage Grown(const Usage& now, const Usage& before) {
  Usage grown;
  Usage::Amounts([&](auto... amount) {
    ((grown.*(amount.member) = More(now.*(amount.member), before.*(amount.member))), ...);
  });
  return grown;
}

double CpuSeconds(const Usage& usage) {
  return Seconds(usage.user_cpu + usage.system_cpu);
}

double Joules(const Usage& usage) {
  return static_cast<double>(usage.gpu_energy_mj + usage.cpu_energy_mj) / 1000.0;
}

// NaN for what nobody could tell.
float MibOf(std::optional<Bytes> bytes) {
  return bytes.has_value() ? static_cast<float>(static_cast<double>(bytes->value()) / kMib) : NAN;
}

float SecondsOf(std::optional<Duration> duration) {
  return duration.has_value() ? static_cast<float>(Seconds(*duration)) : NAN;
}

// What two parts moved together, of which one may not be told.
std::optional<Bytes> Together(std::optional<Bytes> a, std::optional<Bytes> b) {
  return a.has_value() && b.has_value() ? *a + *b : a.has_value() ? a : b;
}

std::optional<double> Rate(float amount, double of) {
  return std::isnan(amount) || of <= 0 ? std::nullopt : std::optional(amount / of);
}

}  // namespace

UsageCurves::Sums UsageCurves::SumsOf(const Usage& usage) {
  Sums sums;
  sums.cpu_seconds = static_cast<float>(CpuSeconds(usage));
  sums.gpu_seconds = static_cast<float>(Seconds(usage.gpu_busy));
  sums.read_mib = MibOf(usage.read_bytes);
  sums.written_mib = MibOf(usage.written_bytes);
  sums.io_blocked_seconds = SecondsOf(usage.io_blocked);
  sums.counted_seconds = static_cast<float>(Seconds(usage.gpu_counted));
  sums.sm_seconds = SecondsOf(usage.sm_active);
  sums.tensor_seconds = SecondsOf(usage.tensor_active);
  sums.dram_seconds = SecondsOf(usage.dram_active);
  sums.link_mib = MibOf(Together(usage.nvlink_bytes, usage.pcie_bytes));
  sums.sent_mib = MibOf(Together(usage.net_sent, usage.fabric_sent));
  sums.received_mib = MibOf(Together(usage.net_received, usage.fabric_received));
  sums.net_blocked_seconds = SecondsOf(usage.net_blocked);
  return sums;
}

UsageCurves::Series& UsageCurves::SeriesOf(const Job& job) {
  Series& series = series_[job.id];
  if (series.label.empty()) {
    series.submission = job.submission;
    series.is_element = job.array_index.has_value();
    series.element = job.array_index.value_or(0);
    series.label = series.is_element ? absl::StrCat(job.submission.value(), "_", series.element)
                                     : ToString(job.id);
  } else {
    by_touch_.erase(series.touched);
  }
  series.touched = ++touches_;
  by_touch_[series.touched] = job.id;
  return series;
}

// The point of that number; an old one that its row has dropped counts for the oldest.
UsageCurves::Point& UsageCurves::PointAt(Series& series, std::size_t row, std::int64_t number) {
  std::deque<Point>& points = series.rows[row];
  const auto found = std::lower_bound(
      points.begin(), points.end(), number,
      [](const Point& point, std::int64_t wanted) { return point.number < wanted; });
  if (found != points.end() && found->number == number) {
    return *found;
  }
  if (found == points.begin() && points.size() >= kRows[row].points) {
    return points.front();
  }
  Point fresh;
  fresh.number = number;
  const auto at = points.insert(found, fresh);
  ++points_;
  if (points.size() <= kRows[row].points) {
    return *at;
  }
  points.pop_front();
  --points_;
  return *std::lower_bound(
      points.begin(), points.end(), number,
      [](const Point& point, std::int64_t wanted) { return point.number < wanted; });
}

void UsageCurves::AddPart(const Sums& used, double part, Sums& sums) {
  sums.ForEach(used, [part](float& sum, float more) {
    if (!std::isnan(more)) {
      sum = (std::isnan(sum) ? 0 : sum) + more * static_cast<float>(part);
    }
  });
}

void UsageCurves::Spread(Series& series, Time from, Time to, const Sums& used) {
  const double whole = Seconds(to - from);
  double memory = 0;
  double gpu_memory = 0;
  for (const auto& [node, last] : series.nodes) {
    memory +=
        static_cast<double>(std::max(last.usage.group_memory, last.usage.peak_memory).value());
    gpu_memory = std::max(gpu_memory, static_cast<double>(last.usage.gpu_memory.value()));
  }
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    const Duration span = kRows[row].span;
    const std::int64_t last = (to.time_since_epoch() - Duration(1)) / span;
    // An interval longer than the row keeps is spread over what it keeps.
    const std::int64_t first = std::max<std::int64_t>(
        from.time_since_epoch() / span, last - static_cast<std::int64_t>(kRows[row].points) + 1);
    for (std::int64_t number = first; number <= last; ++number) {
      const Time begin = std::max(from, Time(span * number));
      const Time end = std::min(to, Time(span * (number + 1)));
      const double part = Seconds(end - begin) / whole;
      Point& point = PointAt(series, row, number);
      AddPart(used, part, point.sums);
      point.memory_mib = std::max(point.memory_mib, static_cast<float>(memory / kMib));
      point.gpu_memory_mib = std::max(point.gpu_memory_mib, static_cast<float>(gpu_memory / kMib));
    }
  }
}

void UsageCurves::Add(const Job& job, NodeId node, Time time, const Usage& usage) {
  if (!job.attempt.has_value()) {
    return;
  }
  Series& series = SeriesOf(job);
  NodeBaseline& last = series.nodes[node];
  if (last.attempt != job.attempt->number) {
    last = NodeBaseline{job.attempt->number, job.attempt->started, Usage()};
  }
  if (time <= last.time) {
    return;
  }
  const Usage grown = Grown(usage, last.usage);
  Sums used = SumsOf(grown);
  if (Joules(usage) > 0) {  // a node that meters no energy has none to tell
    used.joules = static_cast<float>(Joules(grown));
  }
  const Time from = last.time;
  last.time = time;
  last.usage = usage;
  Spread(series, from, time, used);
  Evict(job.id);
}

void UsageCurves::Evict(JobId keep) {
  while (points_ > points_max_ && by_touch_.begin()->second != keep) {
    const auto oldest = series_.find(by_touch_.begin()->second);
    for (const std::deque<Point>& row : oldest->second.rows) {
      points_ -= row.size();
    }
    series_.erase(oldest);
    by_touch_.erase(by_touch_.begin());
  }
}

CurvePoint UsageCurves::Shown(const Point& point, Duration span) {
  const double seconds = Seconds(span);
  const Sums& sums = point.sums;
  CurvePoint shown;
  shown.start = Time(span * point.number);
  shown.span = span;
  shown.cpus = sums.cpu_seconds / seconds;
  shown.gpus = sums.gpu_seconds / seconds;
  shown.watts = Rate(sums.joules, seconds);
  shown.memory = Bytes(static_cast<std::uint64_t>(point.memory_mib * kMib));
  shown.gpu_memory = Bytes(static_cast<std::uint64_t>(point.gpu_memory_mib * kMib));
  shown.read = Rate(sums.read_mib * static_cast<float>(kMib), seconds);
  shown.written = Rate(sums.written_mib * static_cast<float>(kMib), seconds);
  shown.io_blocked = Rate(sums.io_blocked_seconds, seconds);
  shown.sm_active = Rate(sums.sm_seconds, sums.counted_seconds);
  shown.tensor_active = Rate(sums.tensor_seconds, sums.counted_seconds);
  shown.dram_active = Rate(sums.dram_seconds, sums.counted_seconds);
  shown.link = Rate(sums.link_mib * static_cast<float>(kMib), sums.counted_seconds);
  shown.sent = Rate(sums.sent_mib * static_cast<float>(kMib), seconds);
  shown.received = Rate(sums.received_mib * static_cast<float>(kMib), seconds);
  shown.net_blocked = Rate(sums.net_blocked_seconds, seconds);
  return shown;
}

// The finest row as far back as it goes, before that the next, and so on.
JobCurve UsageCurves::CurveOf(JobId job, const Series& series) {
  JobCurve curve{job, series.label, {}};
  Time before = Time::max();
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    const Duration span = kRows[row].span;
    const std::deque<Point>& points = series.rows[row];
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      const Time start(span * point->number);
      if (start + span > before) {
        continue;
      }
      curve.points.push_back(Shown(*point, span));
    }
    if (!points.empty()) {
      before = std::min(before, Time(span * points.front().number));
    }
  }
  std::reverse(curve.points.begin(), curve.points.end());
  return curve;
}

std::vector<JobCurve> UsageCurves::Of(JobId job, const std::vector<std::uint32_t>& elements) const {
  std::vector<JobCurve> curves;
  // The elements of an array have ids from its own on.
  for (auto it = series_.lower_bound(job); it != series_.end(); ++it) {
    const auto& [id, series] = *it;
    if (series.submission != job && id != job) {
      break;
    }
    if (elements.empty() || (series.is_element && std::find(elements.begin(), elements.end(),
                                                            series.element) != elements.end())) {
      curves.push_back(CurveOf(id, series));
    }
  }
  return curves;
}

}  // namespace muster::daemon
