#pragma once

// What a trace or a list of nodes holds, as a page and as a JSON document.

#include <string>

#include "cli/page/style.h"
#include "scheduler/simulator/readers/node_list.h"
#include "scheduler/simulator/workload/trace_info.h"

namespace muster::cli {

std::string PrintTraceInfo(const std::string& path, const sim::TraceInfo& info, const Style& style);
std::string TraceInfoDocument(const std::string& path, const sim::TraceInfo& info);

std::string PrintNodeList(const std::string& path, const sim::TraceNodes& list, const Style& style);
std::string NodeListDocument(const std::string& path, const sim::TraceNodes& list);

}  // namespace muster::cli
