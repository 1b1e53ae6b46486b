#pragma once

// What `nsys export --type json` writes of one process, as trace events like those of PyTorch's
// profiler: kernels and copies by GPU and stream, calls of CUDA and NVTX ranges by thread.
//
// It is a JSON object a line; names are places in the list "data" of one of them, or lines of their
// own of the type "String". Pure. Invariant: every range that has a begin and an end becomes an
// event; its ts counts microseconds from the begin of the profile, which is no wall clock.

#include <optional>
#include <string>

#include "cli/frame/json_output.h"

namespace muster::cli {

// The list of events; nullopt for what no nsys has written.
std::optional<Json> EventsOfNsys(const std::string& text);

}  // namespace muster::cli
