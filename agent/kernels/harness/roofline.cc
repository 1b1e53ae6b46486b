#include "agent/kernels/harness/roofline.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

// The object in `file`; an empty one when there is none to be read.
Json Load(const std::string& file) {
  std::ifstream in(file);
  Json kept = in ? Json::parse(in, nullptr, /*allow_exceptions=*/false) : Json::object();
  return kept.is_object() ? kept : Json::object();
}

// Failing to keep a figure is no failure of the kernel.
void Store(const std::string& file, const Json& kept) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  const std::string fresh = file + "." + std::to_string(getpid());
  std::ofstream out(fresh);
  out << kept.dump(2) << "\n";
  out.close();
  if (out) {
    std::filesystem::rename(fresh, file, ignored);
  }
  std::filesystem::remove(fresh, ignored);
}

double NumberOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

Peaks PeaksOf(const Json& kept, const std::string& key) {
  const auto found = kept.find(key);
  if (found == kept.end() || !found->is_object()) {
    return {};
  }
  return {NumberOf(*found, "flop_per_s"), NumberOf(*found, "bytes_per_s")};
}

void Keep(const std::string& file, const std::string& key, const Peaks& peaks) {
  if (file.empty()) {
    return;
  }
  Json kept = Load(file);
  kept[key] = {{"flop_per_s", peaks.flop_per_s}, {"bytes_per_s", peaks.bytes_per_s}};
  Store(file, kept);
}

}  // namespace

Standing StandingOf(double flop, double bytes, double seconds, const Peaks& peaks) {
  const double compute = peaks.flop_per_s > 0 ? flop / peaks.flop_per_s : 0;
  const double memory = peaks.bytes_per_s > 0 ? bytes / peaks.bytes_per_s : 0;
  Standing standing;
  standing.floor_seconds = std::max(compute, memory);
  if (standing.floor_seconds > 0) {
    standing.bound = compute > memory ? Bound::kCompute : Bound::kMemory;
    standing.share = standing.floor_seconds / seconds;
  }
  return standing;
}

const char* ToText(Bound bound) {
  switch (bound) {
    case Bound::kMemory:
      return "memory";
    case Bound::kCompute:
      return "compute";
    case Bound::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string PeaksFile(const std::string& cache_home, const std::string& home,
                      const std::string& host) {
  // The base directory specification: a relative path is to be ignored.
  std::string folder = cache_home.starts_with("/") ? cache_home : "";
  if (folder.empty() && home.starts_with("/")) {
    folder = home + "/.cache";
  }
  return folder.empty() ? "" : folder + "/muster/peaks-" + host + ".json";
}

Peaks CachedPeaks(const std::string& file, const std::string& key,
                  const std::function<Peaks()>& measure) {
  const Peaks kept = file.empty() ? Peaks{} : PeaksOf(Load(file), key);
  if (kept.bytes_per_s > 0) {
    return kept;
  }
  const Peaks measured = measure();
  Keep(file, key, measured);
  return measured;
}

void RaisePeaks(const std::string& file, const std::string& key, const Peaks& seen) {
  const Peaks kept = file.empty() ? seen : PeaksOf(Load(file), key);
  if (seen.flop_per_s > kept.flop_per_s || seen.bytes_per_s > kept.bytes_per_s) {
    Keep(
        file, key,
        {std::max(seen.flop_per_s, kept.flop_per_s), std::max(seen.bytes_per_s, kept.bytes_per_s)});
  }
}

}  // namespace muster::kernels
