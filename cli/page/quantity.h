#pragma once

// Amounts, durations and moments as people read them.
//
// Pure. Invariants: a value that is exactly a whole number of its unit is printed without decimals;
// kNoTime is "-".

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

// "2026-03-14 09:26:53" in `zone`.
std::string MomentText(Time time, absl::TimeZone zone);

// CPU time used, user and system.
Duration CpuTime(const Usage& usage);
// Whether the processes' use was measured: each has memory. False where a node was lost.
bool IsMeasured(const Usage& usage);
// The share of `cpus` over `elapsed` that was used: "93 %"; "" when it could not be measured, or
// was not.
std::string CpuEfficiency(const Usage& usage, Duration elapsed, std::uint32_t cpus);

// The share in which GPUs worked, of the time over which looks told, or of `gpus` over `elapsed`
// where an earlier version did not note that time: "31 %"; "" when nothing was sampled.
std::string GpuEfficiency(const Usage& usage, Duration elapsed, std::uint32_t gpus);

// The part of `time` that `amount` is: 0.31; nothing where either is not told.
std::optional<double> ShareOf(std::optional<Duration> amount, Duration time);
// "31 %".
std::string PercentText(double share);
// "180 MiB/s".
std::string ByteRateText(double bytes_a_second);

// "31 % of 4 GPUs, at most 62.5 GiB of one, 1.2 kWh"; what of it was not sampled says so. Empty for
// a job without GPUs.
std::string GpuUseText(const Usage& usage, Duration elapsed, std::uint32_t gpus);

// What was measured of it, in millijoules.
std::uint64_t EnergyOf(const Usage& usage);
// "812 J", "1.2 kWh".
std::string EnergyText(std::uint64_t millijoules);

// "12.34 EUR"; "" where nothing has a price. What is less than a hundredth says so.
std::string CostText(Cost cost, const std::string& currency);

// "exit code 3", "signal 15 (SIGTERM)".
std::string ExitText(ExitStatus status);

}  // namespace muster::cli
