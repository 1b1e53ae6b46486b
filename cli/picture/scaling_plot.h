#pragma once

// How a program scales: the arithmetic of speed-up and efficiency, and the pictures of it.
//
// Pure. Invariants: the first point is the one that others are compared with; points are in the
// order of their ranks.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"

namespace muster::cli {

struct ScalingPoint {
  int ranks = 0;
  double seconds = 0;                         // of one repeat
  std::optional<double> communication_share;  // of these seconds; absent: not measured
  double bytes = 0;  // that each rank moves in these, where to move them is all its work; else 0
  double best = 0;   // the shortest repeat; 0: not measured
};

enum class Scaling { kStrong, kWeak };

struct ScalingResult {
  Scaling scaling = Scaling::kStrong;
  std::string kernel;
  std::string unit = "ranks";        // what is added, or "threads"
  std::vector<ScalingPoint> points;  // at least one

  // Strong: the first point's time over this one's. Weak: that, times the growth of the work. Of
  // what does nothing but move bytes: all that its ranks move a second, over the first point's.
  [[nodiscard]] double Speedup(std::size_t at) const;
  // Speed-up over the growth of the ranks: 1 is perfect.
  [[nodiscard]] double Efficiency(std::size_t at) const;
  // The most ranks that still pay: each point up to there has an efficiency of a half at least.
  [[nodiscard]] int PaysUpTo() const;
};

// Twenty columns, of which as many are full as the efficiency says.
std::string EfficiencyBar(double efficiency, const Style& style);

// A table with a bar for each point, and the sentence that says where it stops paying.
std::string ScalingPage(const ScalingResult& result, const Style& style);

// Speed-up over ranks beside the ideal line, as one SVG document.
std::string ScalingPicture(const ScalingResult& result);

}  // namespace muster::cli
