#include "cli/page/bound.h"

#include <algorithm>
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

// The same, in which one of its connections at least had something to send.
std::optional<double> NetworkWaits(const Usage& usage, const Had& had) {
  return ShareOf(usage.net_blocked, had.elapsed * static_cast<std::int64_t>(had.nodes));
}

std::optional<double> FabricBusy(const Usage& usage) {
  return ShareOf(usage.fabric_busy, usage.fabric_counted);
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

// "input: ranks wait 31 % on input, 180 MiB/s from /data"; the whole account where it is not known
// of which file system most of it is.
std::string StorageBound(const Usage& usage, const Had& had) {
  const bool output = usage.written_bytes > usage.read_bytes;
  const auto moved = [output](const FileSystemUse& use) { return output ? use.written : use.read; };
  const auto most = std::max_element(
      usage.file_systems.begin(), usage.file_systems.end(),
      [&](const FileSystemUse& a, const FileSystemUse& b) { return moved(a) < moved(b); });
  const std::optional<double> waits = IoWaits(usage, had);
  if (most == usage.file_systems.end() || moved(*most).zero() || !waits.has_value()) {
    return absl::StrCat(output ? "output: " : "input: ", StorageText(usage, had));
  }
  const char* const what = output ? "output" : "input";
  return absl::StrCat(what, ": ranks wait ", PercentText(*waits), " on ", what, ", ",
                      ByteRateText(Rate(moved(*most), had.elapsed).value_or(0)),
                      output ? " to " : " from ", most->mount);
}

// "communication: network busy 62 % of the time, 24 MiB/s sent"; "" where that is too little, or
// less than it waits for storage.
std::string CommunicationBound(const Usage& usage, const Had& had) {
  const std::optional<double> waits = NetworkWaits(usage, had);
  const std::optional<double> fabric = FabricBusy(usage);
  const auto counts = [&](std::optional<double> share, double bound) {
    return AtLeast(share, bound) && *share >= IoWaits(usage, had).value_or(0);
  };
  const auto sent = [](std::optional<Bytes> bytes, Duration time) {
    const std::optional<double> rate = Rate(bytes, time);
    return rate.has_value() ? absl::StrCat(", ", ByteRateText(*rate), " sent") : "";
  };
  if (counts(waits, kNetworkWaits)) {
    return absl::StrCat("communication: network busy ", PercentText(*waits), " of the time",
                        sent(usage.net_sent, had.elapsed));
  }
  return counts(fabric, kFabricBusy)
             ? absl::StrCat("communication: InfiniBand or RoCE ports at ", PercentText(*fabric),
                            " of their rate", sent(usage.fabric_sent, usage.fabric_counted))
             : "";
}

// Why its GPUs do little, as far as the host tells.
std::string IdleGpus(const Usage& usage, const Had& had, const std::string& figures) {
  const std::optional<double> cpus = CpuShare(usage, had);
  if (const std::string bound = CommunicationBound(usage, had); !bound.empty()) {
    return absl::StrCat(bound, "; ", figures);
  }
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
  if (const std::string bound = CommunicationBound(usage, had); !bound.empty()) {
    return absl::StrCat(bound, ", ", CpusText(cpus));
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

std::string FileSystemsText(const Usage& usage) {
  std::vector<std::string> parts;
  for (const FileSystemUse& use : usage.file_systems) {
    std::vector<std::string> moved;
    for (const auto& [bytes, how] :
         {std::pair(use.read, " read"), std::pair(use.written, " written")}) {
      if (!bytes.zero()) {
        moved.push_back(BytesText(bytes.value()) + how);
      }
    }
    parts.push_back(absl::StrCat(use.mount, " ", absl::StrJoin(moved, ", ")));
  }
  return absl::StrJoin(parts, "; ");
}

std::string NetworkText(const Usage& usage, const Had& had) {
  if (!usage.net_sent.has_value()) {
    return "not sampled, or in a network namespace of its own";
  }
  const std::optional<double> waits = NetworkWaits(usage, had);
  const std::uint64_t resent = usage.net_resent.value_or(Bytes()).value();
  return absl::StrCat("at least ", MovedText(usage.net_sent, "sent", had.elapsed), ", ",
                      MovedText(usage.net_received, "received", had.elapsed),
                      resent == 0 ? "" : absl::StrCat(", ", BytesText(resent), " sent again"),
                      ", busy ",
                      waits.has_value() ? PercentText(*waits) + " of the time" : "not known");
}

std::string FabricText(const Usage& usage) {
  if (usage.fabric_counted.count() == 0) {
    return usage.fabric_shared.count() == 0
               ? ""
               : "not known: other jobs were on its nodes, whose ports count for all of them";
  }
  std::vector<std::string> parts = {
      MovedText(usage.fabric_sent, "sent", usage.fabric_counted),
      MovedText(usage.fabric_received, "received", usage.fabric_counted)};
  if (const std::optional<double> busy = FabricBusy(usage)) {
    parts.push_back(PercentText(*busy) + " of the rate");
  }
  const auto add = [&](std::optional<std::uint64_t> count, const char* what) {
    parts.push_back(count.has_value() ? absl::StrCat(*count, " ", what)
                                      : absl::StrCat(what, " not known"));
  };
  add(usage.fabric_errors, "errors");
  add(usage.fabric_retries, "retries");
  const Duration all = usage.fabric_counted + usage.fabric_shared;
  const std::optional<double> alone = ShareOf(usage.fabric_counted, all);
  return absl::StrCat(absl::StrJoin(parts, ", "),
                      usage.fabric_shared.count() == 0
                          ? ""
                          : absl::StrCat("; in ", PercentText(*alone),
                                         " of the time, when no other job was on its nodes"));
}

std::string PageCacheText(const Usage& usage) {
  std::vector<std::string> parts;
  if (usage.called_bytes.has_value() && usage.read_bytes.has_value() &&
      !usage.called_bytes->zero()) {
    // What is read ahead comes from storage, and nobody may have called for it.
    const double share = std::min(1.0, static_cast<double>(usage.read_bytes->value()) /
                                           static_cast<double>(usage.called_bytes->value()));
    parts.push_back(absl::StrCat(PercentText(share), " of the ",
                                 BytesText(usage.called_bytes->value()),
                                 " that it read by calls came from storage"));
  }
  if (usage.major_faults.has_value()) {
    parts.push_back(absl::StrCat(*usage.major_faults, " major page faults"));
  }
  return absl::StrJoin(parts, ", ");
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
