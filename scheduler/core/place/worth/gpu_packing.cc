#include "scheduler/core/place/worth/gpu_packing.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace muster::core {
namespace {

constexpr std::uint32_t kWhole = 1000;

// A whole node of 128 cores, or one of 8 GPUs, that stays weighs as 50 thousandths of a GPU that
// fragment: 1/2560 for each thousandth of a core, 1/160 for each of a GPU.
constexpr std::int64_t kUnit = 2560;
constexpr std::int64_t kGpuWeight = 16;
// A 40th of what fragments. A tenth packs 0.1 % more in the end, and has refused wide jobs before.
constexpr std::int64_t kUnfedWeight = 64;

bool IsPart(const PackingClass& job) {
  return job.gpus == 1 && job.gpu_milli < kWhole;
}

// Thousandths of idle GPUs for which the idle cores do not last, when jobs ask for cores as those
// of the mix with GPUs do on average.
std::int64_t Unfed(const PackingRoom& room, std::int64_t idle, const PackingMix& mix) {
  return mix.cpu_milli() == 0
             ? 0
             : std::max<std::int64_t>(0, idle - room.cpu_milli * mix.gpu_milli() / mix.cpu_milli());
}

std::int64_t CostOf(const PackingRoom& room, const PackingMix& mix) {
  const std::int64_t gpus = std::accumulate(room.gpus.begin(), room.gpus.end(), std::int64_t{0});
  return kUnit * static_cast<std::int64_t>(Fragmentation(room, mix)) +
         mix.jobs() * (std::int64_t{room.cpu_milli} + kGpuWeight * gpus +
                       kUnfedWeight * Unfed(room, gpus, mix));
}

// What stays counts whole, what fragments only as far as it grows beyond `before`.
std::int64_t CostBeyond(std::uint64_t before, const PackingRoom& room, const PackingClass& job,
                        const PackingMix& mix, std::size_t gpu) {
  return CostOf(Without(room, job, gpu), mix) - kUnit * static_cast<std::int64_t>(before);
}

}  // namespace

PackingMix::PackingMix(std::vector<PackingClass> classes) : classes_(std::move(classes)) {
  std::int64_t with_gpus = 0;
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;
  for (const PackingClass& one : classes_) {
    const auto count = static_cast<std::int64_t>(one.count);
    jobs_ += count;
    if (one.gpus > 0) {
      with_gpus += count;
      cpu += count * one.cpu_milli;
      gpu += count * one.gpus * one.gpu_milli;
    }
  }
  if (with_gpus > 0) {
    cpu_milli_ = cpu / with_gpus;
    gpu_milli_ = gpu / with_gpus;
  }
}

bool Holds(const PackingRoom& room, const PackingClass& job) {
  if (room.cpu_milli < job.cpu_milli) {
    return false;
  }
  if (job.gpus == 0) {
    return true;
  }
  const auto enough = std::count_if(room.gpus.begin(), room.gpus.end(),
                                    [&job](std::uint32_t free) { return free >= job.gpu_milli; });
  return (job.models >> room.model & 1U) != 0 && enough >= static_cast<std::ptrdiff_t>(job.gpus);
}

PackingRoom Without(PackingRoom room, const PackingClass& job, std::size_t gpu) {
  room.cpu_milli -= job.cpu_milli;
  if (IsPart(job)) {
    room.gpus[gpu] -= job.gpu_milli;
    return room;
  }
  std::uint32_t missing = job.gpus;
  for (std::uint32_t& free : room.gpus) {
    if (missing > 0 && free >= job.gpu_milli) {
      free -= job.gpu_milli;
      --missing;
    }
  }
  return room;
}

std::uint64_t Fragmentation(const PackingRoom& room, const PackingMix& mix) {
  const std::uint64_t idle = std::accumulate(room.gpus.begin(), room.gpus.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (const PackingClass& one : mix) {
    std::uint64_t lost = idle;
    if (one.gpus > 0 && Holds(room, one)) {
      lost = std::accumulate(room.gpus.begin(), room.gpus.end(), std::uint64_t{0},
                             [&one](std::uint64_t so_far, std::uint32_t free) {
                               return so_far + (free < one.gpu_milli ? free : 0);
                             });
    }
    sum += one.count * lost;
  }
  return sum;
}

std::int64_t CostOn(const PackingRoom& room, const PackingClass& job, const PackingMix& mix,
                    std::size_t gpu) {
  return CostBeyond(Fragmentation(room, mix), room, job, mix, gpu);
}

PackingChoice CheapestGpu(const PackingRoom& room, const PackingClass& job, const PackingMix& mix) {
  const std::uint64_t before = Fragmentation(room, mix);
  const auto cost = [&](std::size_t gpu) { return CostBeyond(before, room, job, mix, gpu); };
  if (!IsPart(job)) {
    return {cost(0), 0};
  }
  PackingChoice best;
  bool found = false;
  for (std::size_t gpu = 0; gpu < room.gpus.size(); ++gpu) {
    if (room.gpus[gpu] < job.gpu_milli) {
      continue;
    }
    const std::int64_t its = cost(gpu);
    if (!found || its < best.cost) {
      best = {its, gpu};
      found = true;
    }
  }
  return best;
}

}  // namespace muster::core
