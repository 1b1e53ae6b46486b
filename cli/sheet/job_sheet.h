#pragma once

// One job in full: what show prints.
//
// Pure. Invariants: everything that JobDetail holds is on the page but empty fields; GPU names are
// shortened to what the vendor's tools accept, the full ones are in the JSON document.

#include <string>

#include "cli/page/style.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

std::string PrintJobSheet(const JobDetail& detail, Time now, const Style& style);

// Why a job has ended: "exit code 3: out of memory"; of one that never ran, what kept it from it.
std::string EndText(const JobView& job);

// "2 tasks, 4 cpus each, 2 nodes, 2 GiB a node, 1 GPU a task, whole nodes".
std::string RequestText(const ResourceRequest& request);

}  // namespace muster::cli
