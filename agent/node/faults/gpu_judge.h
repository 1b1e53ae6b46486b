#pragma once

// What goes wrong with the GPUs of this node while it is looked at: errors, which the jobs there
// are told, and faults, after which nothing should run on the GPU.
//
// XIDs count from the meter's beginning, errors of memory from the first look that could read
// their count; one that cannot does not make it begin again. A link is lost once two looks in a row
// found fewer than were up before; a slower one is not lost. Thread promise: the loop's thread.
// Invariant: an error is told once.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/time.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

// A GPU that is broken, and why: "" where it has fallen off the bus.
struct GpuFault {
  std::string uuid;
  std::string why;
  std::string by = {};  // who told it; empty: the library of its vendor
  friend bool operator==(const GpuFault&, const GpuFault&) = default;
};

// What a GPU met between two looks.
struct GpuError {
  std::string uuid;
  std::string text;      // "XID 31 (GPU memory page fault)"
  Time after = kNoTime;  // of the look before
  Time seen = kNoTime;
  friend bool operator==(const GpuError&, const GpuError&) = default;
};

class GpuJudge {
 public:
  static constexpr std::size_t kErrorsKept = 256;
  // Looks that are nearer to one another are one look at links.
  static constexpr std::chrono::milliseconds kLinkLooksApart{500};

  // Which faults are new.
  std::vector<GpuFault> Judge(const std::vector<topology::GpuReading>& gpus, Time now);

  // The newest, the oldest first.
  [[nodiscard]] const std::deque<GpuError>& errors() const { return errors_; }
  // Of its NVLinks that were up, how many are not; nothing: it has none, or does not say.
  [[nodiscard]] std::optional<std::uint32_t> LostLinks(const std::string& uuid) const;

 private:
  struct Known {
    bool lost = false;
    std::map<std::uint64_t, std::uint64_t> xids;
    std::uint64_t breaking_xids = 0;
    std::optional<std::uint64_t> uncorrected_ecc;  // as it was told last
    std::uint32_t links_most = 0;                  // that were up at one look
    std::optional<std::uint32_t> links;            // at the last look
    std::uint32_t links_lost = 0;                  // that were told
  };
  std::optional<std::string> FaultOf(const topology::GpuReading& gpu, Known& known, Time now);
  void TakeXids(const topology::GpuReading& gpu, Known& known, Time now);
  std::optional<std::string> TakeLinks(const topology::GpuReading& gpu, Known& known, Time now);
  void Tell(const std::string& uuid, std::string text, Time now);

  std::map<std::string, Known> known_;
  std::deque<GpuError> errors_;
  Time last_ = kNoTime;
};

}  // namespace muster::agent
