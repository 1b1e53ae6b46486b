#include "scheduler/core/place/grid_numbers.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "scheduler/model/job/rank_layout.h"

namespace muster::core {
namespace {

using Sizes = std::vector<std::uint32_t>;

// How far apart two places are: 0 on one socket, to 3 below different leaf switches.
int Apart(const GridPlace& a, const GridPlace& b) {
  if (a.leaf != b.leaf) {
    return 3;
  }
  if (a.node != b.node) {
    return 2;
  }
  return a.socket != b.socket ? 1 : 0;
}

// How much further numbers are apart of ranks that neighbour in each dimension.
Sizes StridesOf(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * sizes[i];
  }
  return strides;
}

// A part of the grid: its first rank, and how many there are in each dimension.
struct Box {
  std::uint32_t first = 0;
  Sizes sizes;
};

class Bisection {
 public:
  Bisection(const Sizes& sizes, const std::vector<GridPlace>& places)
      : strides_(StridesOf(sizes)), places_(places), numbers_(places.size()) {
    Part({0, sizes}, 0, places.size());
  }

  std::vector<std::uint32_t> Take() { return std::move(numbers_); }

 private:
  struct Cut {
    std::size_t dimension = 0;
    std::uint32_t behind = 0;  // that many of the dimension come before it
    std::size_t place = 0;
  };

  // Gives the ranks of the box to the places [first, last).
  void Part(const Box& box, std::size_t first, std::size_t last) {
    for (int level = 3; level > 0; --level) {
      const std::optional<Cut> cut = BestCut(box, first, last, level);
      if (!cut.has_value()) {
        continue;
      }
      Box low = box;
      Box high = box;
      low.sizes[cut->dimension] = cut->behind;
      high.sizes[cut->dimension] -= cut->behind;
      high.first += cut->behind * strides_[cut->dimension];
      Part(low, first, cut->place);
      Part(high, cut->place, last);
      return;
    }
    Fill(box, first);
  }

  // The smallest plane that parts the places where they are as far apart; of equals the one that is
  // nearest to the middle.
  [[nodiscard]] std::optional<Cut> BestCut(const Box& box, std::size_t first, std::size_t last,
                                           int level) const {
    std::optional<Cut> best;
    std::tuple<std::size_t, std::size_t> least;
    for (std::size_t i = 0; i < box.sizes.size(); ++i) {
      const std::size_t plane = (last - first) / box.sizes[i];
      for (std::uint32_t behind = 1; behind < box.sizes[i]; ++behind) {
        const std::size_t place = first + behind * plane;
        const std::size_t low = place - first;
        const std::size_t high = last - place;
        const std::tuple its(plane, low > high ? low - high : high - low);
        if (Apart(places_[place - 1], places_[place]) >= level &&
            (!best.has_value() || its < least)) {
          best = Cut{i, behind, place};
          least = its;
        }
      }
    }
    return best;
  }

  // One by one, along the shortest side first: those that follow one another lie close together.
  void Fill(const Box& box, std::size_t first) {
    Sizes order(box.sizes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&box](std::uint32_t a, std::uint32_t b) {
      return box.sizes[a] > box.sizes[b];
    });
    Sizes at(box.sizes.size(), 0);
    bool more = true;
    for (std::size_t place = first; more; ++place) {
      std::uint32_t number = box.first;
      for (std::size_t i = 0; i < at.size(); ++i) {
        number += at[i] * strides_[i];
      }
      numbers_[place] = number;
      more = false;
      for (std::size_t i = order.size(); i-- > 0 && !more;) {
        std::uint32_t& one = at[order[i]];
        more = ++one < box.sizes[order[i]];
        one = more ? one : 0;
      }
    }
  }

  const Sizes strides_;
  const std::vector<GridPlace>& places_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace

std::vector<std::uint32_t> NumbersOnGrid(const std::vector<std::uint32_t>& sizes,
                                         const std::vector<GridPlace>& places) {
  std::vector<std::uint32_t> block(places.size());
  std::iota(block.begin(), block.end(), 0U);
  std::vector<std::uint32_t> near = Bisection(sizes, places).Take();
  return GridCost(sizes, places, near) < GridCost(sizes, places, block) ? near : block;
}

std::uint64_t GridCost(const std::vector<std::uint32_t>& sizes,
                       const std::vector<GridPlace>& places,
                       const std::vector<std::uint32_t>& numbers) {
  constexpr std::uint64_t kCosts[] = {0, 1, 8, 16};
  std::vector<std::size_t> place_of(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    place_of[numbers[i]] = i;
  }
  const Sizes strides = StridesOf(sizes);
  std::uint64_t cost = 0;
  for (std::uint32_t number = 0; number < numbers.size(); ++number) {
    const Sizes at = GridCoordinates(sizes, number);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (at[i] + 1 < sizes[i]) {
        cost += kCosts[Apart(places[place_of[number]], places[place_of[number + strides[i]]])];
      }
    }
  }
  return cost;
}

}  // namespace muster::core
