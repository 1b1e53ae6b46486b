#pragma once

// The rooms: which folder of a wing may include which other, and what no circle may be.
//
// tests/tidy/floors says which wing sees which; this says the same of the folders inside a wing, in
// one table, so that a new dependency is a line that a reviewer sees. A unit is a header and the
// source of its name together: a source may need a header whose own source needs it back, and the
// two cannot be compiled, tested or understood apart. Invariant: what a list excuses is still
// there, so that lists only shrink.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// A room and the rooms of its wing that it may include, by their paths below the wing, with blanks
// between them; "." is the wing's own folder.
struct RoomRow {
  std::string_view wing;
  std::string_view room;
  std::string_view may;
};

// The table of this tree.
const std::vector<RoomRow>& RoomTable();

// Includes of product code from room to room of one wing that `table` does not allow, rows of it
// that nothing needs, and rooms that it does not know.
std::vector<Finding> CheckRooms(const std::vector<Source>& tree, const std::vector<RoomRow>& table);

// Rooms whose page (README.md), where it says "May include:", leaves out what `table` allows.
std::vector<Finding> CheckRoomPagesSay(const std::vector<Source>& tree,
                                       const std::vector<RoomRow>& table);

// Rooms that include one another in a circle.
std::vector<Finding> CheckRoomCircles(const std::vector<Source>& tree);

// Units that do. `known`: circles that are there, each as its units with blanks between them.
std::vector<Finding> CheckUnitCircles(const std::vector<Source>& tree,
                                      const std::set<std::string>& known);

}  // namespace muster::tidy
