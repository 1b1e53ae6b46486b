#pragma once

// The options with which muster submit asks for what an estimate says.
//
// Pure. Invariants: one task a GPU; the memory that is asked of a GPU is the estimate's, with a
// tenth more for what the estimate does not count, in whole GiB.

#include <map>
#include <string>

#include "cli/estimate/estimate_request.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

// How much of a GPU to ask for.
Bytes MemoryToAsk(Bytes estimated);

// By name, as they stand on the command line.
std::map<std::string, std::string> SubmitOptionsOf(const EstimateRequest& request, Bytes estimated);

// "muster submit --gpu-memory=46G … SCRIPT".
std::string SubmitLine(const std::map<std::string, std::string>& options);

}  // namespace muster::cli
