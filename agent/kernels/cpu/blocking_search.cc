#include "agent/kernels/cpu/blocking_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "agent/kernels/cpu/micro_kernel.h"

namespace muster::kernels {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();
constexpr int kLastTurns = 5;
constexpr double kWorthwhile = 0.98;  // of the first's time; noise finds the rest

const std::array<std::vector<int64_t>, 3>& Sizes() {
  static const std::array<std::vector<int64_t>, 3> sizes = {
      {{4 * kTileRows, 8 * kTileRows, 11 * kTileRows, 16 * kTileRows, 20 * kTileRows,
        28 * kTileRows, 40 * kTileRows, 64 * kTileRows},
       {96, 128, 192, 256, 320, 384, 512, 768},
       {256, 512, 1024, 2048, 4096, 8192}}};
  return sizes;
}

int64_t& SizeOf(Blocking& blocking, size_t which) {
  return which == 0 ? blocking.rows : which == 1 ? blocking.depth : blocking.columns;
}

class Search {
 public:
  Search(double budget, const std::function<std::optional<double>(const Blocking&)>& run)
      : budget_(budget), run_(run) {}

  bool spent() const { return result.spent >= budget_; }

  // The better of two runs; each choice is tried once.
  double Try(const Blocking& blocking) {
    const auto key = std::make_tuple(blocking.rows, blocking.depth, blocking.columns);
    const auto known = seen_.find(key);
    if (known != seen_.end()) {
      return known->second;
    }
    ++result.tried;
    double best = kWrong;
    for (int i = 0; i < 2; ++i) {
      const std::optional<double> seconds = Once(blocking);
      if (!seconds.has_value()) {
        ++result.rejected;
        best = kWrong;
        break;
      }
      best = std::min(best, *seconds);
    }
    seen_.emplace(key, best);
    return best;
  }

  std::optional<double> Once(const Blocking& blocking) {
    const std::optional<double> seconds = run_(blocking);
    result.spent += seconds.value_or(0);
    return seconds;
  }

  BlockingSearch result;

 private:
  const double budget_;
  const std::function<std::optional<double>(const Blocking&)>& run_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, double> seen_;
};

// The faster of the two neighbours in one size, if one is faster than `best`.
bool Step(Search& search, size_t which, Blocking& at, double& best) {
  const std::vector<int64_t>& sizes = Sizes().at(which);
  const int64_t now = SizeOf(at, which);
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), now);
  const auto here = std::lower_bound(sizes.begin(), sizes.end(), now);
  std::vector<int64_t> neighbours;
  if (here != sizes.begin()) {
    neighbours.push_back(*(here - 1));
  }
  if (above != sizes.end()) {
    neighbours.push_back(*above);
  }
  bool moved = false;
  for (const int64_t size : neighbours) {
    Blocking other = at;
    SizeOf(other, which) = size;
    if (search.spent()) {
      return moved;
    }
    const double seconds = search.Try(other);
    if (seconds < best) {
      best = seconds;
      at = other;
      moved = true;
    }
  }
  return moved;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) {
    return kWrong;
  }
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

BlockingSearch SearchBlocking(const Blocking& first, double budget,
                              const std::function<std::optional<double>(const Blocking&)>& run) {
  Search search(budget, run);
  Blocking at = first;
  double best = search.Try(first);
  for (bool moved = true; moved && !search.spent();) {
    moved = false;
    for (size_t which = 0; which < Sizes().size(); ++which) {
      moved = Step(search, which, at, best) || moved;
    }
  }
  std::vector<double> of_first;
  std::vector<double> of_best;
  for (int turn = 0; turn < kLastTurns; ++turn) {
    of_first.push_back(search.Once(first).value_or(kWrong));
    of_best.push_back(search.Once(at).value_or(kWrong));
  }
  BlockingSearch& result = search.result;
  result.first_seconds = MedianOf(of_first);
  result.seconds = MedianOf(of_best);
  const bool worth = result.seconds < kWorthwhile * result.first_seconds;
  result.best = worth ? at : first;
  result.seconds = worth ? result.seconds : result.first_seconds;
  return result;
}

}  // namespace muster::kernels
