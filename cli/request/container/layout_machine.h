#pragma once

// For which machine an image of an OCI layout is, as the layout says.
//
// Read here, for a program that reads it takes as long to start as a job may. Invariants: sizes are
// bounded, and a digest is one before it becomes a path; what cannot be learnt is "".

#include <string>

namespace muster::cli {

// "amd64"; of an index of several machines' images "". `tag`: empty: the only one there, or
// "latest".
std::string LayoutMachine(const std::string& directory, const std::string& tag);

}  // namespace muster::cli
