#pragma once

// Removing a directory with everything in it, and nothing outside it.
//
// Works by directory descriptors and never follows a symbolic link, so that what a job left in a
// directory cannot lead the agent elsewhere. Thread promise: safe from any thread.

#include <string>

#include "absl/status/status.h"

namespace muster {

// Removes `path` and its content; no error when it is absent. What is nested more than 64
// directories deep stays, and is an error that names the place.
absl::Status RemoveTree(const std::string& path);

}  // namespace muster
