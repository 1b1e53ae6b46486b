#pragma once

// Traces written: as the Standard Workload Format, and as a table of everything that is known.
//
// SWF: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html, version 2.2; names become the
// numbers of the trace's tables, what has no field there (GPUs, nodes) is not written. The table is
// read back by the format "csv"; a comma in a name becomes ';'.

#include <string>

#include "scheduler/simulator/readers/trace_reader.h"
#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

// The comment lines; `note` says where the records come from, in one line.
std::string SwfHeaderText(const TraceHeader& header, const std::string& note);
void AppendSwf(const TraceRecord& record, std::string* text);
// A scheduled job: its wait is the schedule's, its status 1, or 0 when it was cut off.
TraceRecord RecordOf(const ScheduleRow& row);

std::string TraceCsvHeader();
void AppendTraceCsv(const TraceRecord& record, const TraceNames& names, std::string* text);

}  // namespace muster::sim
