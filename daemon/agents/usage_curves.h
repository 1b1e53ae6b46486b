#pragma once

// What jobs used over time: their nodes' samples, thinned as they age.
//
// Each job has three rows of points, of ten seconds, a minute and ten minutes, each for so long;
// all its nodes are added up. In memory alone: a restarted controller begins with none. Thread
// promise: one owner, LiveUsage, which locks. Invariants: (1) a job has at most kPointsOfJob
// points, all jobs together kPointsMax; for more the curve that was added to longest ago goes; (2)
// what was used between two samples is spread over the points between them, so that the sum over a
// row's points is what was used.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/curve.h"

namespace muster::daemon {

// What the next sample is compared with.
struct NodeBaseline {
  AttemptNumber attempt;
  Time time = kNoTime;
  Usage usage;
};

class UsageCurves {
 public:
  struct Row {
    std::chrono::seconds span;
    std::size_t points;  // at most
  };
  static constexpr std::array<Row, 3> kRows = {Row{std::chrono::seconds(10), 180},
                                               Row{std::chrono::seconds(60), 180},
                                               Row{std::chrono::seconds(600), 1'008}};
  static constexpr std::size_t kPointsOfJob = 180 + 180 + 1'008;
  static constexpr std::size_t kPointsMax = 1'500'000;

  explicit UsageCurves(std::size_t points_max = kPointsMax) : points_max_(points_max) {}

  // A sample of the job's attempt under way on that node.
  void Add(const Job& job, NodeId node, Time time, const Usage& usage);
  // The curves of a job, or of an array's elements (all: none named), of those that have one.
  [[nodiscard]] std::vector<JobCurve> Of(JobId job,
                                         const std::vector<std::uint32_t>& elements) const;
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  // What adds up over a span; NaN: nobody could tell.
  struct Sums {
    static constexpr float kUntold = std::numeric_limits<float>::quiet_NaN();
    float cpu_seconds = 0;
    float gpu_seconds = 0;
    float joules = kUntold;
    float read_mib = kUntold;
    float written_mib = kUntold;
    float io_blocked_seconds = kUntold;
    float counted_seconds = 0;
    float sm_seconds = kUntold;
    float tensor_seconds = kUntold;
    float dram_seconds = kUntold;
    float link_mib = kUntold;
    float sent_mib = kUntold;
    float received_mib = kUntold;
    float net_blocked_seconds = kUntold;
    // Calls visit(sum, other's) for each.
    template <class Visitor>
    void ForEach(const Sums& other, Visitor visit) {
      visit(cpu_seconds, other.cpu_seconds);
      visit(gpu_seconds, other.gpu_seconds);
      visit(joules, other.joules);
      visit(read_mib, other.read_mib);
      visit(written_mib, other.written_mib);
      visit(io_blocked_seconds, other.io_blocked_seconds);
      visit(counted_seconds, other.counted_seconds);
      visit(sm_seconds, other.sm_seconds);
      visit(tensor_seconds, other.tensor_seconds);
      visit(dram_seconds, other.dram_seconds);
      visit(link_mib, other.link_mib);
      visit(sent_mib, other.sent_mib);
      visit(received_mib, other.received_mib);
      visit(net_blocked_seconds, other.net_blocked_seconds);
    }
  };
  // Sums over a span, and amounts at its end.
  struct Point {
    std::int64_t number = 0;  // of the span since 1970
    Sums sums;
    float memory_mib = 0;
    float gpu_memory_mib = 0;
  };
  struct Series {
    JobId submission;
    std::uint32_t element = 0;
    bool is_element = false;
    std::string label;
    std::map<NodeId, NodeBaseline> nodes;
    std::array<std::deque<Point>, kRows.size()> rows;
    std::uint64_t touched = 0;
  };
  Series& SeriesOf(const Job& job);
  Point& PointAt(Series& series, std::size_t row, std::int64_t number);
  static Sums SumsOf(const Usage& usage);
  static void AddPart(const Sums& used, double part, Sums& sums);
  static CurvePoint Shown(const Point& point, Duration span);
  void Spread(Series& series, Time from, Time to, const Sums& used);
  void Evict(JobId keep);
  static JobCurve CurveOf(JobId job, const Series& series);

  const std::size_t points_max_;
  std::map<JobId, Series> series_;
  std::map<std::uint64_t, JobId> by_touch_;
  std::uint64_t touches_ = 0;
  std::size_t points_ = 0;
};

}  // namespace muster::daemon
