#pragma once

// The reports as people and as programs read them.
//
// Documents that other programs read: keys may be added, none renamed. Pure. Invariant: a share of
// nothing is "-", and null.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/report/report_tally.h"

namespace muster::cli {

// What a report of use or sizes has columns of, beside jobs: "cpu", "gpu", "mem", "node", "energy",
// "cost"; one of utilization has "cpu" and "gpu".
using ReportedTres = std::vector<std::string>;
// nullopt for other words, and for none.
std::optional<ReportedTres> ReadReportedTres(const std::string& words);

std::string PrintUsage(const std::vector<UsageRow>& rows, const std::vector<ReportBy>& by,
                       const ReportedTres& tres, bool header, const Style& style);
std::string PrintWaits(const std::vector<WaitRow>& rows, const std::vector<ReportBy>& by,
                       bool header, const Style& style);
std::string PrintSizes(const std::vector<SizeRow>& rows, const std::vector<ReportBy>& by,
                       const ReportedTres& tres, bool header, const Style& style);
std::string PrintLoad(const std::vector<LoadRow>& rows, const std::vector<ReportBy>& by,
                      const ReportedTres& tres, bool header, const Style& style);

// {"since","until","by","usage":[{"name","jobs","failed","cpu_hours","gpu_hours",
// "memory_gib_hours","node_hours","energy_kwh","cost","currency","cpu_efficiency"}]}; each with the
// names of its keys, and `name` is all of them with commas; without prices the cost is null, and so
// is an energy that was not measured
std::string UsageDocument(const std::vector<UsageRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window);
// {"since","until","by","waits":[{"name","jobs","median","p90","p99","longest"}]}, in seconds
std::string WaitsDocument(const std::vector<WaitRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window);
// {"since","until","by","sizes":[{"of","least","most", as usage, "median"}]}; names only with keys
std::string SizesDocument(const std::vector<SizeRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window);
// {"since","until","by","utilization":[{"since","until","jobs","cpus","gpus"}]}: shares of what
// there is; names only with keys
std::string LoadDocument(const std::vector<LoadRow>& rows, const std::vector<ReportBy>& by,
                         const UsageWindow& window);

}  // namespace muster::cli
