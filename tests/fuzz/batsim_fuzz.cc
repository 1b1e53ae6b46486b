// Batsim's workloads: whatever the bytes, the reader ends, says what is wrong in one line, and what
// it accepts is sound.

#include "tests/fuzz/trace_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::FileOfBytes file(data, size);
  return file.good() && muster::fuzz::TraceHolds({.path = file.path(),
                                                  .format = muster::sim::TraceFormat::kBatsim,
                                                  .unit = muster::sim::TraceUnit::kUsual,
                                                  .lenient = size % 2 == 0})
             ? 0
             : 1;
}
