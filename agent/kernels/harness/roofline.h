#pragma once

// The roofline model (Williams, Waterman, Patterson, CACM 52(4), 2009): no kernel runs faster than
// its floating-point operations at the peak rate, nor than its bytes at the peak bandwidth. Peaks
// are measured, never looked up, and kept per node in a file of the user's cache.
//
// Thread promise: the arithmetic is pure; the file is read whole and replaced whole, so that two
// processes at once leave one of two good files. Invariant: a peak of another kernels version,
// processor or set of CPUs is never used.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace muster::kernels {

// Measured peaks of one device. 0: not known.
struct Peaks {
  double flop_per_s = 0;   // single precision
  double bytes_per_s = 0;  // of the device's memory, or of the links between ranks
  bool links = false;      // which of the two
};

enum class Bound { kMemory, kCompute, kLink, kUnknown };

// Where an operation stands under the roof.
struct RooflinePoint {
  Bound bound = Bound::kUnknown;
  double floor_seconds = 0;  // no run is shorter
  double share = 0;          // floor over the time taken: 1 is the roof
};

// `flop` and `bytes` of one repeat that took `seconds` > 0. An unknown peak bounds nothing.
RooflinePoint RooflinePointOf(double flop, double bytes, double seconds, const Peaks& peaks);

const char* ToText(Bound bound);

// $XDG_CACHE_HOME/muster/peaks-HOST.json, else ~/.cache/muster/…; "" without either. The arguments
// are the two variables' values.
std::string PeaksFile(const std::string& cache_home, const std::string& home,
                      const std::string& host);

// The peaks kept in `file` under `key`, or, when there are none, what `measure` finds, which is
// then kept. A file that cannot be read or written costs a measurement, nothing else.
Peaks CachedPeaks(const std::string& file, const std::string& key,
                  const std::function<Peaks()>& measure);

// Raises what `file` keeps under `key` to `seen` where that is higher: a roof below a figure that
// was reached was measured on a busy machine.
void RaisePeaks(const std::string& file, const std::string& key, const Peaks& seen);

}  // namespace muster::kernels
