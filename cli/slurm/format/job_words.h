#pragma once

// Words for what a job is: its id, its state, its reason, as Slurm's tools know them.
//
// Pure. Invariants: a reason is one word and never empty; a job that is being started counts as
// running, because few tools know CONFIGURING.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// "7", "7_3"; for elements that wait together "7_[1,3-5%2]".
std::string JobLabel(const JobView& job, const std::vector<std::uint64_t>& elements);
// "1,3-5%2": the elements that wait together; "3": the one.
std::string TaskLabel(const JobView& job, const std::vector<std::uint64_t>& elements);

std::string StateWord(const JobView& job);     // RUNNING
std::string StateLetters(const JobView& job);  // R
std::string ReasonWord(const JobView& job);    // Resources

bool Waits(const JobView& job);
bool HasStarted(const JobView& job);

// Whether the job ends by a limit of its own; zero and all from UNLIMITED on are none.
bool HasLimit(const JobView& job);
// When it ended, or ends at its limit; kNoTime when neither is known.
Time ExpectedEnd(const JobView& job);
// squeue's "2:00:00" and sacct's "02:00:00"; UNLIMITED.
std::string ShortLimit(Duration limit);
std::string LongLimit(Duration limit);

// "gres:gpu:tesla:1"; empty: none.
std::string GresText(const GpuRequest& gpus);
// What each node gives: "gres:gpu:2,gres:scratch:4"; empty: nothing.
std::string NodeGresText(const ResourceRequest& asked);

// Who may be on its nodes beside it: "NO", "USER", "OK".
std::string SharingWord(const ResourceRequest& asked);

// The files of the job's output and errors, each as one path.
std::string OutputFile(const JobDetail& detail);
std::string ErrorFile(const JobDetail& detail);

// The exit code and the signal: "0:9".
std::string ExitPair(std::int32_t code, std::int32_t signal);

}  // namespace muster::cli::slurm
