#pragma once

// A schedule as trace events, which ui.perfetto.dev and chrome://tracing show.
//
// Format: the JSON object format of "Trace Event Format" (Google, 2016): complete events ("X") with
// times in microseconds, counters ("C"), and names ("M"). Each user is a process; its jobs go on as
// few lanes (threads) as keep them apart. Counters: processors in use, jobs waiting.

#include <cstdint>
#include <string>

#include "scheduler/simulator/readers/name_table.h"
#include "scheduler/simulator/report/drawn_jobs.h"

namespace muster::sim {

// `partial`: why it is not all; empty when it is.
std::string SchedulePerfetto(const DrawnJobs& jobs, const TraceNames& names,
                             const std::string& partial);

}  // namespace muster::sim
