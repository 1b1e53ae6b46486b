#pragma once

// The reports as people and as programs read them.
//
// Documents that other programs read: keys may be added, none renamed. Pure. Invariant: a share of
// nothing is "-", and null.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/report/report_tally.h"

namespace muster::cli {

std::string PrintUsage(const std::vector<UsageRow>& rows, ReportBy by, bool header,
                       const Style& style);
std::string PrintWaits(const std::vector<WaitRow>& rows, ReportBy by, bool header,
                       const Style& style);
std::string PrintLoad(const std::vector<LoadRow>& rows, bool header, const Style& style);

// {"since","until","by","usage":[{"name","jobs","failed","cpu_hours","gpu_hours",
// "memory_gib_hours","cpu_efficiency"}]}
std::string UsageDocument(const std::vector<UsageRow>& rows, ReportBy by,
                          const UsageWindow& window);
// {"since","until","by","waits":[{"name","jobs","median","p90","p99","longest"}]}, in seconds
std::string WaitsDocument(const std::vector<WaitRow>& rows, ReportBy by, const UsageWindow& window);
// {"since","until","utilization":[{"since","until","jobs","cpus","gpus"}]}: shares of what there is
std::string LoadDocument(const std::vector<LoadRow>& rows, const UsageWindow& window);

}  // namespace muster::cli
