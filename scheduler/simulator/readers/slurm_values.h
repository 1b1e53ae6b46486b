#pragma once

// Values as Slurm's sacct writes them: times, durations, TRES lists, states, job ids.
//
// Source: sacct(1) of Slurm 22.05 to 24.05, "FORMAT" and "JOB STATE CODES". Each returns false
// where the text is none of the kind.

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::sim {

// "2026-03-14T09:26:53", or seconds since 1970 (SLURM_TIME_FORMAT=%s), in s as if the zone were
// UTC; -1 for "Unknown", "None" and "N/A".
bool ReadSlurmTime(std::string_view text, std::int64_t* seconds);

// "[D-]HH:MM:SS", "MM:SS" with or without a fraction, in s; -1 for "UNLIMITED", "Partition_Limit",
// "INVALID", "Unknown".
bool ReadSlurmDuration(std::string_view text, std::int64_t* seconds);

// The GPUs of a list such as "cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G", in thousandths; -1 for
// none named. The untyped entry counts; without it the sum of the typed ones.
bool ReadSlurmGpus(std::string_view text, std::int64_t* gpu_milli);

// The countable things of such a list but its GPUs, "scratch:2,tape:1"; types are left out.
std::string SlurmGres(std::string_view text);

// 1 COMPLETED, 5 CANCELLED, -1 what has not ended, 0 all others, as in the Standard Workload
// Format.
std::int64_t SlurmStatus(std::string_view text);

// "12" is 12; the array task "12_3" is 12,000,003; the component "12+1" of a heterogeneous job is
// 13, as Slurm numbers it. `is_step`: "12.batch", or the tasks "12_[4-9]" that were never started.
bool ReadSlurmJobId(std::string_view text, std::int64_t* id, bool* is_step);

}  // namespace muster::sim
