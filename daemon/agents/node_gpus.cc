#include "daemon/agents/node_gpus.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/convert/node.h"
#include "scheduler/model/machine/xid_error.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kUuidMax = 256;
constexpr std::size_t kNameMax = 64;
constexpr std::chrono::hours kXidKept{1};

template <class Number>
void Add(const std::optional<Number>& more, std::optional<std::uint64_t>& sum) {
  if (more.has_value()) {
    sum = sum.value_or(0) + *more;
  }
}

GpuSample ReadGpuSample(const wire::GpuSample& gpu) {
  GpuSample sample;
  sample.gpu = gpu.gpu();
  sample.xid = gpu.xid();
  const auto told = [](bool has, auto value) { return has ? std::optional(value) : std::nullopt; };
  sample.uncorrected_ecc = told(gpu.has_uncorrected_ecc(), gpu.uncorrected_ecc());
  sample.xids = told(gpu.has_xids(), gpu.xids());
  sample.corrected_ecc = told(gpu.has_corrected_ecc(), gpu.corrected_ecc());
  sample.memory_used = told(gpu.has_memory_used(), Bytes(gpu.memory_used()));
  sample.power_mw = told(gpu.has_power(), gpu.power());
  sample.celsius = told(gpu.has_temperature(), static_cast<int>(gpu.temperature()));
  sample.busy_percent = told(gpu.has_busy(), gpu.busy());
  sample.energy_mj = told(gpu.has_energy(), gpu.energy());
  sample.lost_links = told(gpu.has_lost_links(), gpu.lost_links());
  if (GpuPace pace; gpu.has_pace() && FromWire(gpu.pace(), &pace).ok()) {
    sample.pace = pace;
  }
  return sample;
}

// A count that becomes known says nothing of when it rose.
template <class Number>
bool HasRisen(const std::optional<Number>& before, const std::optional<Number>& now) {
  return before.has_value() && now > before;
}

std::string LostText(const GpuSample& gpu) {
  const std::uint32_t lost = gpu.lost_links.value_or(0);
  return absl::StrCat(lost,
                      lost == 1 ? " NVLink that was up is down" : " NVLinks that were up are down");
}

}  // namespace

std::vector<GpuSample> ReadGpuSamples(const wire::UsageSamples& message) {
  std::vector<GpuSample> gpus;
  for (const wire::GpuSample& gpu : message.gpus()) {
    if (gpus.size() < NodeGpus::kGpusMax && gpu.gpu().size() <= kUuidMax) {
      gpus.push_back(ReadGpuSample(gpu));
    }
  }
  return gpus;
}

std::optional<TakeGpuOccupants> ReadGpuOccupants(NodeId node, const wire::UsageSamples& message) {
  if (!message.has_users_of_gpus()) {
    return std::nullopt;
  }
  TakeGpuOccupants said{node, {}};
  for (const wire::GpuOccupant& one : message.users_of_gpus().occupants()) {
    GpuOccupant occupant;
    if (said.occupants.size() < kGpuOccupantsMax && FromWire(one, &occupant).ok()) {
      for (std::string* const name : {&occupant.user, &occupant.program}) {
        *name = name->size() > kNameMax ? "?" : *name;
      }
      said.occupants.push_back(std::move(occupant));
    }
  }
  return said;
}

std::optional<TakeGpuOccupants> NewsOf(const std::optional<TakeGpuOccupants>& said,
                                       const core::ClusterState& state) {
  const Node* const node = said.has_value() ? state.FindNode(said->node) : nullptr;
  return node != nullptr && node->gpu_occupants != said->occupants ? said : std::nullopt;
}

void NodeGpus::Take(NodeId node, const std::vector<GpuSample>& gpus, Time now) {
  if (gpus.empty()) {
    Forget(node);
    return;
  }
  std::vector<Told>& before = nodes_[node];
  std::vector<Told> told;
  told.reserve(gpus.size());
  for (const GpuSample& sample : gpus) {
    const auto known = std::find_if(before.begin(), before.end(), [&sample](const Told& one) {
      return one.sample.gpu == sample.gpu;
    });
    Told gpu = known == before.end() ? Told() : std::move(*known);
    if (sample.uncorrected_ecc != gpu.sample.uncorrected_ecc) {
      gpu.ecc_since = now;
    }
    if (sample.xids != gpu.sample.xids) {
      gpu.xid_since = now;
    }
    if (sample.lost_links != gpu.sample.lost_links) {
      gpu.links_since = now;
    }
    if (HasRisen(gpu.sample.lost_links, sample.lost_links)) {
      gpu.links_rose = now;
    }
    if (HasRisen(gpu.sample.uncorrected_ecc, sample.uncorrected_ecc)) {
      gpu.ecc_rose = now;
    }
    if (HasRisen(gpu.sample.xids, sample.xids)) {
      gpu.xid_rose = now;
    }
    gpu.sample = sample;
    told.push_back(std::move(gpu));
  }
  before = std::move(told);
}

std::vector<Warning> NodeGpus::WarningsOf(NodeId node, Time now) const {
  std::vector<Warning> warnings;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) {
    return warnings;
  }
  for (const Told& gpu : found->second) {
    const std::string& name = gpu.sample.gpu;
    const std::uint64_t uncorrected = gpu.sample.uncorrected_ecc.value_or(0);
    const std::uint64_t xids = gpu.sample.xids.value_or(0);
    if (uncorrected > 0) {
      warnings.push_back({"GpuEccErrors",
                          absl::StrCat("GPU ", name, ": ", uncorrected,
                                       " errors of its memory that ECC could not correct, since "
                                       "its driver was loaded"),
                          gpu.ecc_since});
    }
    if (xids > 0 && now - gpu.xid_since < kXidKept) {
      warnings.push_back({"GpuXid",
                          absl::StrCat("GPU ", name, ": its driver told ", XidText(gpu.sample.xid),
                                       ", of ", xids, " since the agent's start"),
                          gpu.xid_since});
    }
    if (gpu.sample.lost_links.value_or(0) > 0) {
      warnings.push_back(
          {"GpuLinkLost", absl::StrCat("GPU ", name, ": ", LostText(gpu.sample)), gpu.links_since});
    }
  }
  return warnings;
}

std::map<std::string, Warning> NodeGpus::ErrorsSince(NodeId node, Time start) const {
  std::map<std::string, Warning> errors;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) {
    return errors;
  }
  for (const Told& gpu : found->second) {
    const std::string& name = gpu.sample.gpu;
    if (gpu.links_rose != kNoTime && gpu.links_rose >= start) {
      errors[name] = {"GpuLinkLost", absl::StrCat("a lost link (", LostText(gpu.sample), ")"),
                      gpu.links_rose};
    }
    if (gpu.ecc_rose != kNoTime && gpu.ecc_rose >= start) {
      errors[name] = {"GpuEccErrors", "errors of memory that ECC could not correct", gpu.ecc_rose};
    }
    if (gpu.xid_rose != kNoTime && gpu.xid_rose >= start) {
      errors[name] = {"GpuXid", XidText(gpu.sample.xid), gpu.xid_rose};
    }
  }
  return errors;
}

std::map<std::string, GpuPace> NodeGpus::PacesOf(NodeId node) const {
  std::map<std::string, GpuPace> paces;
  if (const auto found = nodes_.find(node); found != nodes_.end()) {
    for (const Told& gpu : found->second) {
      if (gpu.sample.pace.has_value()) {
        paces.emplace(gpu.sample.gpu, *gpu.sample.pace);
      }
    }
  }
  return paces;
}

std::map<NodeId, GpuSums> NodeGpus::Sums() const {
  std::map<NodeId, GpuSums> all;
  for (const auto& [node, gpus] : nodes_) {
    GpuSums& sums = all.emplace_hint(all.end(), node, GpuSums())->second;
    for (const Told& gpu : gpus) {
      const GpuSample& sample = gpu.sample;
      Add(sample.corrected_ecc, sums.corrected_ecc);
      Add(sample.uncorrected_ecc, sums.uncorrected_ecc);
      Add(sample.xids, sums.xids);
      if (sample.memory_used.has_value()) {
        sums.memory_used = sums.memory_used.value_or(0) + sample.memory_used->value();
      }
      Add(sample.power_mw, sums.power_mw);
      Add(sample.busy_percent, sums.busy_percent);
      Add(sample.energy_mj, sums.energy_mj);
      sums.hottest = std::max(sums.hottest, sample.celsius);  // nothing is less than any number
    }
  }
  return all;
}

void RareOccupants::Say(std::optional<TakeGpuOccupants> news) {
  const MutexLock lock(&mutex_);
  news_ = std::move(news);
}

std::optional<TakeGpuOccupants> RareOccupants::Due(SteadyTime now) {
  const MutexLock lock(&mutex_);
  if (!news_.has_value() || (last_ != SteadyTime::min() && now - last_ < kEvery)) {
    return std::nullopt;
  }
  last_ = now;
  return std::exchange(news_, std::nullopt);
}

}  // namespace muster::daemon
