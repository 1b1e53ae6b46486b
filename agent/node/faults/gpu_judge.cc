#include "agent/node/faults/gpu_judge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/xid_error.h"

namespace muster::agent {

std::vector<GpuFault> GpuJudge::Judge(const std::vector<topology::GpuReading>& gpus, Time now) {
  std::vector<GpuFault> faults;
  for (const topology::GpuReading& gpu : gpus) {
    if (std::optional<std::string> why = FaultOf(gpu, known_[gpu.uuid], now)) {
      const bool by_xid = *why == XidText(gpu.breaking_xid);
      faults.push_back({gpu.uuid, *std::move(why), by_xid ? gpu.breaking_by : ""});
    }
  }
  last_ = now;
  return faults;
}

// Errors of memory that could not be corrected count where the driver tells no XIDs, which say
// more.
std::optional<std::string> GpuJudge::FaultOf(const topology::GpuReading& gpu, Known& known,
                                             Time now) {
  TakeXids(gpu, known, now);
  const std::uint64_t breaking = std::exchange(known.breaking_xids, gpu.breaking_xids);
  std::uint64_t ecc = 0;
  if (gpu.uncorrected_ecc.has_value()) {
    const std::uint64_t before = known.uncorrected_ecc.value_or(*gpu.uncorrected_ecc);
    ecc = *gpu.uncorrected_ecc - std::min(before, *gpu.uncorrected_ecc);
    known.uncorrected_ecc = gpu.uncorrected_ecc;
  }
  if (ecc > 0) {
    Tell(gpu.uuid, "errors of memory that ECC could not correct", now);
  }
  const std::optional<std::string> links = TakeLinks(gpu, known, now);
  if (gpu.lost) {
    if (std::exchange(known.lost, true)) {
      return std::nullopt;
    }
    Tell(gpu.uuid, "a GPU that fell off the bus", now);
    return "";
  }
  known.lost = false;
  if (gpu.breaking_xids > breaking) {
    return XidText(gpu.breaking_xid);
  }
  if (ecc > 0 && !gpu.xids.has_value()) {
    return absl::StrCat(ecc, " errors that ECC could not correct");
  }
  return links;
}

void GpuJudge::TakeXids(const topology::GpuReading& gpu, Known& known, Time now) {
  for (const auto& [number, count] : gpu.xid_counts) {
    if (count > std::exchange(known.xids[number], count)) {
      Tell(gpu.uuid, XidText(number), now);
    }
  }
}

std::optional<std::string> GpuJudge::TakeLinks(const topology::GpuReading& gpu, Known& known,
                                               Time now) {
  if (last_ != kNoTime && now - last_ < kLinkLooksApart) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> up = gpu.lost ? std::nullopt : gpu.link.nvlinks;
  const std::optional<std::uint32_t> before = std::exchange(known.links, up);
  if (!up.has_value()) {
    return std::nullopt;
  }
  known.links_most = std::max(known.links_most, *up);
  // A link that trains again is down for a moment.
  const std::uint32_t down = known.links_most - std::max(*up, before.value_or(known.links_most));
  if (down <= known.links_lost) {
    known.links_lost = std::min(known.links_lost, known.links_most - *up);
    return std::nullopt;
  }
  known.links_lost = down;
  std::string text = absl::StrCat(down, " of its ", known.links_most, " NVLinks ",
                                  down == 1 ? "is" : "are", " down");
  Tell(gpu.uuid, absl::StrCat("a lost link (", text, ")"), now);
  return text;
}

void GpuJudge::Tell(const std::string& uuid, std::string text, Time now) {
  errors_.push_back({uuid, std::move(text), last_, now});
  if (errors_.size() > kErrorsKept) {
    errors_.pop_front();
  }
}

std::optional<std::uint32_t> GpuJudge::LostLinks(const std::string& uuid) const {
  const auto found = known_.find(uuid);
  return found == known_.end() || found->second.links_most == 0
             ? std::nullopt
             : std::optional(found->second.links_lost);
}

}  // namespace muster::agent
