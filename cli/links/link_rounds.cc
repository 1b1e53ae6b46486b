#include "cli/links/link_rounds.h"

#include <algorithm>

namespace muster::cli {

std::vector<LinkRound> LinkRounds(std::size_t nodes, std::size_t most) {
  const std::size_t even = nodes + nodes % 2;  // the one beyond the last is nobody
  const std::size_t all = even < 2 ? 0 : even - 1;
  const std::size_t count = std::min(all, most);
  std::vector<LinkRound> rounds;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t turn = i * all / count;
    // The place `at` of the circle; the last node stays beside it.
    const auto node_at = [&](std::size_t at) { return (at + turn) % all; };
    LinkRound round;
    for (std::size_t pair = 0; pair < even / 2; ++pair) {
      const std::size_t a = pair == 0 ? even - 1 : node_at(pair);
      const std::size_t b = node_at(pair == 0 ? 0 : all - pair);
      if (std::max(a, b) < nodes) {
        round.emplace_back(std::min(a, b), std::max(a, b));
      }
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace muster::cli
