#pragma once

// Amounts of resources as request options write them: memory, node ranges, GPUs.
//
// Slurm's forms: "4G", "2-4", "h100:2". Pure; errors as in number.h. Invariants: an accepted amount
// is positive and far below what 64 bits hold.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

// The most memory one request may name, per node or per CPU.
inline constexpr Bytes kMemoryMax{std::uint64_t{1} << 60};

struct NodeRange {
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};

// A whole number with K, M, G or T (powers of 1024, either case); plain numbers are MiB.
absl::StatusOr<Bytes> ParseMemory(std::string_view text);

// MIN or MIN-MAX.
absl::StatusOr<NodeRange> ParseNodeRange(std::string_view text);

// COUNT or TYPE:COUNT; a type has letters, digits, ".", "_" and "-".
absl::StatusOr<GpuRequest> ParseGpus(std::string_view text);
// A part of one GPU, in thousandths: "0.25", "25%", "1".
absl::StatusOr<GpuShare> ParseGpuShare(std::string_view text);
// "4G" of huge pages of 2M, or "16G:1G": as many as that takes, of a node's pool of them.
absl::StatusOr<GresCount> ParseHugePages(std::string_view text);
// gpu, gpu:COUNT, gpu:TYPE or gpu:TYPE:COUNT.
absl::StatusOr<GpuRequest> ParseGres(std::string_view text);

}  // namespace muster::cli
