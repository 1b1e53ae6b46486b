#pragma once

// Ranks on a Cartesian grid, numbered so that neighbours are near: on one socket, node, leaf
// switch.
//
// Numbers are MPI_Cart_create's: row by row, the last dimension fastest. Places come in order of
// leaf switches, nodes and sockets. The grid is cut in two by a plane, as small as there is one
// that parts the places between leaf switches, else nodes, else sockets, and so on with each half:
// recursive coordinate bisection (M. J. Berger, S. H. Bokhari, IEEE Trans. Computers C-36, 1987).
// Invariants: (1) each number is given once, 0 to the first place; (2) what neighbours exchange
// costs no more than in block order, which is taken where it costs as little.

#include <cstdint>
#include <vector>

namespace muster::core {

// Where a rank is; any numbers, equal for what is one leaf switch, node or socket.
struct GridPlace {
  std::uint32_t leaf = 0;
  std::uint32_t node = 0;
  std::uint32_t socket = 0;
};

// The number of the rank at each place. REQUIRES: the sizes multiply to as many as there are
// places.
std::vector<std::uint32_t> NumbersOnGrid(const std::vector<std::uint32_t>& sizes,
                                         const std::vector<GridPlace>& places);

// What neighbours on the grid have between them, summed: nothing on one socket, 1 on one node, 8
// below one leaf switch, else 16. `numbers` as above.
std::uint64_t GridCost(const std::vector<std::uint32_t>& sizes,
                       const std::vector<GridPlace>& places,
                       const std::vector<std::uint32_t>& numbers);

}  // namespace muster::core
