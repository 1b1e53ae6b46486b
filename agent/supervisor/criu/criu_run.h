#pragma once

// Running CRIU, https://criu.org: the work of the program muster-criu.
//
// The supervisor starts that program for each dump and each restore, as the job's user, so that
// nothing in his directories is touched with more rights than his, and a long fsync is not ours to
// wait for. A restore becomes CRIU itself: what that restores is its sibling, the supervisor's
// child. Thread promise: one thread; called from a main. Invariant: a dump that failed leaves the
// generations before it, and the processes running.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::agent {

// Exit codes of muster-criu, beside 0 and 2 (bad usage).
inline constexpr int kCriuFailed = 1;
inline constexpr int kCriuIdsTaken = 3;  // other processes have the ids that a restore needs

// In the supervisor's environment: the path of a CRIU that works on its node.
inline constexpr const char* kCriuPath = "MUSTER_CRIU";

// What the tree is to do once it is saved.
enum class AfterDump { kRun, kStop };

struct DumpReport {
  std::uint64_t generation = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stopped_us = 0;  // for at most so long its processes stood still
};

// Saves the tree of `leader` as the next generation in `directory`.
absl::StatusOr<DumpReport> DumpTree(const std::string& criu, const std::string& directory,
                                    pid_t leader, AfterDump after);

// "3 501632 95001", as the program prints it, and back.
std::string ToText(const DumpReport& report);
absl::StatusOr<DumpReport> ParseDumpReport(const std::string& text);

// Becomes CRIU that restores the generation of that name (RestorableGeneration::Name). Returns only
// when that is not possible: the exit code, after a line on standard error.
int BecomeRestore(const std::string& criu, const std::string& directory, const std::string& name);

// Where CRIU leaves its log, in the generation's directory.
inline constexpr const char* kRestoreLog = "restore.log";
inline constexpr const char* kDumpLog = "dump.log";

// The program beside the one at `ours`, or where it is installed; "" when it is neither.
std::string FindCriuProgram(const std::string& ours);

}  // namespace muster::agent
