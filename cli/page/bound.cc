#include "cli/page/bound.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/page/quantity.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kTimeLeast{1};

std::optional<double> Rate(std::optional<Bytes> bytes, Duration time) {
  return bytes.has_value() && time.count() > 0
             ? std::optional(static_cast<double>(bytes->value()) /
                             std::chrono::duration<double>(time).count())
             : std::nullopt;
}

// Of the time on all its nodes, that in which something of it waited for storage.
std::optional<double> IoWaits(const Usage& usage, const Had& had) {
  return ShareOf(usage.io_blocked, had.elapsed * static_cast<std::int64_t>(had.nodes));
}

std::optional<double> CpuShare(const Usage& usage, const Had& had) {
  return IsMeasured(usage) ? ShareOf(CpuTime(usage), had.elapsed * had.cpus) : std::nullopt;
}

bool AtLeast(std::optional<double> share, double bound) {
  return share.has_value() && *share >= bound;
}

std::string MovedText(std::optional<Bytes> bytes, const char* how, Duration elapsed) {
  if (!bytes.has_value()) {
    return absl::StrCat("not known how much was ", how);
  }
  const std::optional<double> rate = Rate(bytes, elapsed);
  return absl::StrCat(BytesText(bytes->value()), " ", how,
                      rate.has_value() ? absl::StrCat(" (", ByteRateText(*rate), ")") : "");
}

std::string WaitsText(std::optional<double> waits) {
  return waits.has_value() ? absl::StrCat("waits for storage ", PercentText(*waits), " of the time")
                           : "waits for storage not known";
}

std::string CpusText(std::optional<double> cpus) {
  return cpus.has_value() ? absl::StrCat("CPUs busy ", PercentText(*cpus)) : "CPUs not sampled";
}

std::string StorageBound(const Usage& usage, const Had& had) {
  const bool output = usage.written_bytes > usage.read_bytes;
  return absl::StrCat(output ? "output: " : "input: ", StorageText(usage, had));
}

// Why its GPUs do little, as far as the host tells.
std::string IdleGpus(const Usage& usage, const Had& had, const std::string& figures) {
  const std::optional<double> cpus = CpuShare(usage, had);
  if (AtLeast(IoWaits(usage, had), kIoWaits)) {
    return absl::StrCat(StorageBound(usage, had), "; ", figures);
  }
  return absl::StrCat(AtLeast(cpus, kCpusBusy) ? "waiting for its CPUs: " : "waiting: ", figures,
                      "; ", CpusText(cpus), ", ", WaitsText(IoWaits(usage, had)));
}

std::string BoundByCounters(const Usage& usage, const Had& had) {
  const std::string figures = GpuWorkText(usage);
  if (AtLeast(ShareOf(usage.dram_active, usage.gpu_counted), kDramBusy)) {
    return "memory: " + figures;
  }
  if (AtLeast(ShareOf(usage.sm_active, usage.gpu_counted), kSmsBusy)) {
    // A pause of the program makes both less, and says nothing of the kernels.
    const bool memory = AtLeast(ShareOf(usage.dram_active, *usage.sm_active), kDramBusy);
    return absl::StrCat(memory ? "memory: " : "compute: ", figures);
  }
  const bool links = AtLeast(Rate(usage.nvlink_bytes, usage.gpu_counted), kNvLinkBusy) ||
                     AtLeast(Rate(usage.pcie_bytes, usage.gpu_counted), kPcieBusy);
  return links && !AtLeast(IoWaits(usage, had), kIoWaits) ? "communication: " + figures
                                                          : IdleGpus(usage, had, figures);
}

std::string BoundByLooks(const Usage& usage, const Had& had) {
  const std::string busy = GpuEfficiency(usage, had.elapsed, had.gpus);
  if (busy.empty()) {
    return "unknown: its GPUs were not sampled";
  }
  const Duration time = usage.gpu_watched.count() > 0 ? usage.gpu_watched : had.elapsed * had.gpus;
  const std::string figures = absl::StrCat("GPUs busy ", busy);
  return AtLeast(ShareOf(usage.gpu_busy, time), kSmsBusy)
             ? absl::StrCat("compute or memory: ", figures,
                            ", by no performance counters that would tell them apart")
             : IdleGpus(usage, had, figures);
}

// Of CPUs that are busy: with what, where the processors' counters tell.
std::string BusyCpus(const Usage& usage, std::optional<double> cpus) {
  if (!usage.cache_misses.has_value() || usage.instructions.value_or(0) == 0) {
    return absl::StrCat("compute or memory: ", CpusText(cpus));
  }
  const double misses =
      1000 * static_cast<double>(*usage.cache_misses) / static_cast<double>(*usage.instructions);
  return absl::StrCat(
      misses >= kMissesMany ? "memory: " : "compute: ", CpusText(cpus),
      absl::StrFormat(", %.*f cache misses in 1,000 instructions", misses < 10 ? 2 : 0, misses));
}

std::string BoundOfCpus(const Usage& usage, const Had& had) {
  const std::optional<double> cpus = CpuShare(usage, had);
  const std::optional<double> waits = IoWaits(usage, had);
  if (!cpus.has_value()) {
    return "unknown: not sampled";
  }
  if (*cpus >= kCpusBusy) {
    return BusyCpus(usage, cpus);
  }
  if (AtLeast(waits, kIoWaits)) {
    return StorageBound(usage, had);
  }
  return absl::StrCat(waits.has_value() ? "waiting: " : "waiting, or input: ", CpusText(cpus), ", ",
                      WaitsText(waits));
}

}  // namespace

std::string StorageText(const Usage& usage, const Had& had) {
  if (!usage.read_bytes.has_value() && !usage.written_bytes.has_value() &&
      !usage.io_blocked.has_value()) {
    return "not sampled";
  }
  return absl::StrCat(MovedText(usage.read_bytes, "read", had.elapsed), ", ",
                      MovedText(usage.written_bytes, "written", had.elapsed), ", ",
                      WaitsText(IoWaits(usage, had)));
}

std::string GpuWorkText(const Usage& usage) {
  const std::optional<double> sms = ShareOf(usage.sm_active, usage.gpu_counted);
  const std::optional<double> tensor = ShareOf(usage.tensor_active, usage.gpu_counted);
  const std::optional<double> dram = ShareOf(usage.dram_active, usage.gpu_counted);
  if (!sms.has_value() || !tensor.has_value() || !dram.has_value()) {
    return "";
  }
  std::vector<std::string> links;
  for (const auto& [name, bytes] :
       {std::pair("NVLink ", usage.nvlink_bytes), std::pair("PCIe ", usage.pcie_bytes)}) {
    if (const std::optional<double> rate = Rate(bytes, usage.gpu_counted)) {
      links.push_back(name + ByteRateText(*rate));
    }
  }
  return absl::StrCat("SMs ", PercentText(*sms), ", tensor cores ", PercentText(*tensor),
                      ", device memory ", PercentText(*dram), " of its bandwidth",
                      links.empty() ? "" : ", " + absl::StrJoin(links, " and ") + " a GPU");
}

std::string BoundText(const Usage& usage, const Had& had) {
  if (had.elapsed < kTimeLeast) {
    return "unknown: it ran for less than a second";
  }
  if (had.gpus == 0) {
    return BoundOfCpus(usage, had);
  }
  return usage.gpu_counted.count() > 0 ? BoundByCounters(usage, had) : BoundByLooks(usage, had);
}

}  // namespace muster::cli
