#pragma once

// What a figure was measured on: the names and versions that make two documents comparable, and the
// sizes of the caches.
//
// Thread promise: reads files and the system's identity only; safe from any thread.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace muster::kernels {

// Raised whenever a kernel's arithmetic, its count of bytes or its blocks change: cached figures of
// another version are not used.
constexpr int kKernelsVersion = 2;

// The name of this host, "unknown" when it has none.
std::string HostName();

// The model that /proc/cpuinfo tells, "unknown" when it tells none. `root` is put before /proc.
std::string CpuModel(const std::string& root = "");

// Bytes of one last-level cache of CPU 0 (data or unified); 32 MiB when the system does not say.
// `root` is put before /sys.
int64_t LastLevelCacheBytes(const std::string& root = "");

// {"host","cpu","last_level_cache","system","compiler","kernels_version"}.
nlohmann::ordered_json NodeJson();

}  // namespace muster::kernels
