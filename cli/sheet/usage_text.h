#pragma once

// What jobs used, in words and tables: how well they used what they had, and the energy.
//
// Pure. Invariant: what was not measured is not shown as nothing: it is left out, or marked as not
// measured.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// "-" for none, which was not measured.
std::string BytesOrDash(Bytes bytes);

// CPU time, CPU efficiency over `cpus`, memory of `memory`; what is zero of these is not known.
std::string UsageText(const Usage& usage, Duration elapsed, std::uint32_t cpus, Bytes memory);

// "1.2 Wh of CPUs, 3.4 Wh of GPUs, 4.6 Wh in all"; "" when nothing of the CPUs is known (the GPUs'
// stands beside what else they did).
std::string EnergyLine(const Usage& usage);

// What all nodes used together, and the newest of their times.
NodeUsage SumOf(const std::vector<NodeUsage>& nodes);

// A line for each node; `start` is when the attempt began, without the time that it was suspended.
std::string PrintNodeUsage(const std::vector<NodeUsage>& nodes, Time start, const Style& style);

}  // namespace muster::cli
