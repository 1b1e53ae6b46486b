#pragma once

// Slurm's ways to write a value of an option, turned into ours.
//
// Slurm's readers are lenient where ours are strict: minutes over 59, units with a B, words that
// only ask for talk. Thread promise: pure functions, but for SlurmNodeFile, which reads a file.
// Invariant: what is not understood here comes back as it is, so that our reader explains it.

#include <string>
#include <string_view>

namespace muster::cli {

// "0:7200" as "02:00:00", "0" and "-1" as "UNLIMITED".
std::string SlurmTimeLimit(const std::string& value);
// "4GB" as "4G".
std::string SlurmSize(const std::string& value);
// "teatime" as "16:00", "12/31/30" as "2030-12-31", "9:30" as "09:30".
std::string SlurmMoment(const std::string& value);
// "verbose,cores" as "cores"; "" when nothing but talk was asked for.
std::string SlurmBinding(const std::string& value);
// "block:cyclic:fcyclic,Pack" as "block:cyclic".
std::string SlurmDistribution(const std::string& value);
// The names in a file, with commas between; the value itself when there is no such file.
std::string SlurmNodeFile(const std::string& path);
// A list of nodes, or a path of a file of them.
std::string SlurmNodes(const std::string& value);

}  // namespace muster::cli
