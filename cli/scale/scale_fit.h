#pragma once

// What limits a program that was measured at several sizes: its serial fraction, and the knee.
//
// T(n) is the time at n ranks, S(n) its speed-up, E(n) = S(n) / n its efficiency.
//
//   Strong scaling, one problem for every n.  Amdahl: a fraction s of the time of one rank is not
//   shared, so T(n) = a + b/n with a = s T(1), b = (1 - s) T(1), and no n is faster than 1/s times.
//     G. M. Amdahl, Validity of the single processor approach to achieving large scale computing
//     capabilities, AFIPS Spring Joint Computer Conference 30 (1967), 483-485.
//   Weak scaling, n times the work at n ranks.  Gustafson: of the time at n ranks a fraction s is
//   serial, so S(n) = n - s (n - 1), where S(n) = n T(1) / T(n).
//     J. L. Gustafson, Reevaluating Amdahl's law, Communications of the ACM 31 (1988), 532-533.
//
// Both are fitted by least squares: a and b, none below 0, to the times (so that the time of one
// rank counts as one measurement among others); s, from 0 to 1, to the speed-ups. Pure. Invariant:
// 0 <= serial <= 1.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/picture/scaling_plot.h"

namespace muster::cli {

struct ScaleFit {
  double serial = 0;  // s
  double misses = 0;  // a measured time by at most this share of it: how far the law holds
};

// Of a result whose first point is one rank. InvalidArgument for less than two points.
absl::StatusOr<ScaleFit> FitScaling(const ScalingResult& result);

// The knee: the most ranks up to which every point's efficiency is `floor` or more.
int KneeOf(const ScalingResult& result, double floor);

}  // namespace muster::cli
