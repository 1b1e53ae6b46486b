#pragma once

// Who measures a link with whom, and when.
//
// The circle method of round-robin tournaments (T. P. Kirkman, 1847): one node stays, the others
// move on by one place each round. Pure. Invariants: in a round each node has one partner at most;
// in all rounds no pair meets twice; with as many rounds as it takes, each does once.

#include <cstddef>
#include <utility>
#include <vector>

namespace muster::cli {

using LinkRound = std::vector<std::pair<std::size_t, std::size_t>>;  // positions, the lower first

// At most `most` rounds; of more, those evenly between the first and the last.
std::vector<LinkRound> LinkRounds(std::size_t nodes, std::size_t most);

}  // namespace muster::cli
