#pragma once

// Programs that the health program starts: they die with it, however it is killed.
//
// Thread promise: one caller at a time.

#include <optional>
#include <string>
#include <vector>

namespace muster::kernels {

// Has the kernel kill this process when the one that started it dies. False when it is dead
// already.
bool DieWithParent();

// Runs a program, found as a shell would, and returns what it wrote to its standard output, at most
// 16 MiB; nothing when it could not be run or did not exit with 0 or 1.
std::optional<std::string> RunChild(const std::vector<std::string>& words);

}  // namespace muster::kernels
