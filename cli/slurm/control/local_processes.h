#pragma once

// The processes of jobs on this machine, as far as the caller may look into them.
//
// A process belongs to the job and the rank that its environment names. Thread promise: plain
// functions over /proc, as it is at that moment. Invariant: what may not be read is left out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::cli::slurm {

struct LocalProcess {
  std::int64_t pid = 0;
  std::uint64_t job = 0;
  std::string step;    // "0", "batch"
  std::string local;   // the rank on this node; "-": no rank itself, but below one
  std::string global;  // the rank; "-" likewise
  friend bool operator==(const LocalProcess&, const LocalProcess&) = default;
};

// By number. `proc`: where the kernel tells of processes.
std::vector<LocalProcess> LocalProcesses(const std::string& proc = "/proc");

// What the process's environment says; nothing where it names no job.
std::optional<LocalProcess> ReadLocalProcess(std::int64_t pid, const std::string& environment);

// "PID JOBID …", a line each.
std::string ProcessTable(const std::vector<LocalProcess>& processes);

}  // namespace muster::cli::slurm
