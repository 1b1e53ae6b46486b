#pragma once

// The images, named containers and copies of data of a user, as a table: one line for each,
// whichever nodes have it.
//
// Pure. Invariants: an image that two nodes have by one name and digest stands in one line; what
// was not told is "-".

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/request/image_questions.h"

namespace muster::cli {

// With a line for each node that did not answer.
std::string PrintImages(const ImageTable& images, Time now, const Style& style);

// Copies of data, likewise.
std::string PrintCopies(const ImageTable& copies, Time now, const Style& style);

// What a removal did, a line for each: where it went from, or where it is in use.
std::string PrintPruned(const ImageTable& images, bool data = false);

// Those of that name, with or without the digest that it was pinned to.
std::vector<NodeImage> ImagesNamed(const std::vector<NodeImage>& images, const std::string& name);

}  // namespace muster::cli
