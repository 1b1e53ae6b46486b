#include "agent/kernels/harness/roofline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/kernels/harness/kept_json.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

double NumberOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

Peaks PeaksOf(const Json& kept, const std::string& key) {
  const auto found = kept.find(key);
  if (found == kept.end() || !found->is_object()) {
    return {};
  }
  return {NumberOf(*found, "flop_per_s"), NumberOf(*found, "bytes_per_s"), false};
}

void Keep(const std::string& file, const std::string& key, const Peaks& peaks) {
  if (file.empty()) {
    return;
  }
  Json kept = LoadKept(file);
  kept[key] = {{"flop_per_s", peaks.flop_per_s}, {"bytes_per_s", peaks.bytes_per_s}};
  StoreKept(file, kept);
}

}  // namespace

RooflinePoint RooflinePointOf(double flop, double bytes, double seconds, const Peaks& peaks) {
  const double compute = peaks.flop_per_s > 0 ? flop / peaks.flop_per_s : 0;
  const double memory = peaks.bytes_per_s > 0 ? bytes / peaks.bytes_per_s : 0;
  RooflinePoint point;
  point.floor_seconds = std::max(compute, memory);
  if (point.floor_seconds > 0) {
    const Bound mover = peaks.links ? Bound::kLink : Bound::kMemory;
    point.bound = compute > memory ? Bound::kCompute : mover;
    point.share = point.floor_seconds / seconds;
  }
  return point;
}

const char* ToText(Bound bound) {
  switch (bound) {
    case Bound::kMemory:
      return "memory";
    case Bound::kCompute:
      return "compute";
    case Bound::kLink:
      return "link";
    case Bound::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string PeaksFile(const std::string& cache_home, const std::string& home,
                      const std::string& host) {
  return CacheFile(cache_home, home, "peaks", host);
}

Peaks CachedPeaks(const std::string& file, const std::string& key,
                  const std::function<Peaks()>& measure) {
  const Peaks kept = file.empty() ? Peaks{} : PeaksOf(LoadKept(file), key);
  if (kept.bytes_per_s > 0) {
    return kept;
  }
  const Peaks measured = measure();
  Keep(file, key, measured);
  return measured;
}

void RaisePeaks(const std::string& file, const std::string& key, const Peaks& seen) {
  const Peaks kept = file.empty() ? seen : PeaksOf(LoadKept(file), key);
  if (seen.flop_per_s > kept.flop_per_s || seen.bytes_per_s > kept.bytes_per_s) {
    Keep(
        file, key,
        {std::max(seen.flop_per_s, kept.flop_per_s), std::max(seen.bytes_per_s, kept.bytes_per_s)});
  }
}

}  // namespace muster::kernels
