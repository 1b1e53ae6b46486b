#include "cli/sheet/usage_text.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

std::string MemoryUse(const Usage& usage, Bytes memory) {
  if (usage.group_memory.value() == 0 || memory.value() == 0) {
    return "";
  }
  return absl::StrFormat(", memory %s of %s (%.0f %%)", BytesText(usage.group_memory.value()),
                         BytesText(memory.value()),
                         100.0 * static_cast<double>(usage.group_memory.value()) /
                             static_cast<double>(memory.value()));
}

std::string BytesOrDash(std::optional<Bytes> bytes) {
  return bytes.has_value() ? BytesText(bytes->value()) : "-";
}

std::string ShareOrDash(std::optional<Duration> part, Duration time) {
  const std::optional<double> share = ShareOf(part, time);
  return share.has_value() ? PercentText(*share) : "-";
}

// How many were at work on average: "1.97".
std::string BusyText(Duration busy, Duration elapsed) {
  return elapsed.count() <= 0 ? "-"
                              : absl::StrFormat("%.2f", static_cast<double>(busy.count()) /
                                                            static_cast<double>(elapsed.count()));
}

// What the nodes' processes used, beside processors and memory.
struct UsageParts {
  bool gpus = false;
  bool storage = false;
  bool network = false;
  bool energy = false;
};

UsageParts PartsOf(const Usage& all) {
  UsageParts parts;
  parts.gpus = all.gpu_busy.count() > 0 || all.gpu_memory.value() > 0;
  parts.energy = EnergyOf(all) > 0;
  parts.network = all.net_sent.has_value();
  parts.storage =
      all.read_bytes.has_value() || all.written_bytes.has_value() || all.io_blocked.has_value();
  return parts;
}

Table UsageTable(const UsageParts& parts) {
  std::vector<Column> columns = {{.title = "NODE", .right = false, .least = 0},
                                 {.title = "CPUTIME", .right = true, .least = 0},
                                 {.title = "CPUS-BUSY", .right = true, .least = 0},
                                 {.title = "MEM", .right = true, .least = 0}};
  if (parts.gpus) {
    columns.push_back({.title = "GPUS-BUSY", .right = true, .least = 0});
    columns.push_back({.title = "GPU-MEM", .right = true, .least = 0});
  }
  if (parts.storage) {
    columns.push_back({.title = "READ", .right = true, .least = 0});
    columns.push_back({.title = "WRITTEN", .right = true, .least = 0});
    columns.push_back({.title = "IO-WAIT", .right = true, .least = 0});
  }
  if (parts.network) {
    columns.push_back({.title = "SENT", .right = true, .least = 0});
    columns.push_back({.title = "RECEIVED", .right = true, .least = 0});
    columns.push_back({.title = "NET-BUSY", .right = true, .least = 0});
  }
  if (parts.energy) {
    columns.push_back({.title = "ENERGY", .right = true, .least = 0});
  }
  return Table(std::move(columns));
}

}  // namespace

std::string BytesOrDash(Bytes bytes) {
  return bytes.value() == 0 ? "-" : BytesText(bytes.value());
}

std::string UsageText(const Usage& usage, Duration elapsed, std::uint32_t cpus, Bytes memory) {
  if (!IsMeasured(usage)) {
    return "not sampled";
  }
  const std::string efficiency = CpuEfficiency(usage, elapsed, cpus);
  return absl::StrCat(
      "CPU time ", PreciseText(CpuTime(usage)), " (user ", PreciseText(usage.user_cpu), ", system ",
      PreciseText(usage.system_cpu), ")",
      efficiency.empty() ? "" : ", CPU efficiency " + efficiency, MemoryUse(usage, memory),
      usage.peak_memory.value() == 0
          ? ""
          : absl::StrCat(", peak memory of one process ", BytesText(usage.peak_memory.value())));
}

std::string EnergyLine(const Usage& usage) {
  if (usage.cpu_energy_mj == 0) {
    return "";
  }
  const std::string cpus = EnergyText(usage.cpu_energy_mj) + " of CPUs";
  return usage.gpu_energy_mj == 0
             ? cpus
             : absl::StrCat(cpus, ", ", EnergyText(usage.gpu_energy_mj), " of GPUs, ",
                            EnergyText(usage.cpu_energy_mj + usage.gpu_energy_mj), " in all");
}

NodeUsage SumOf(const std::vector<NodeUsage>& nodes) {
  NodeUsage sum;
  for (const NodeUsage& node : nodes) {
    sum.usage.Add(node.usage);
    sum.time = std::max(sum.time, node.time);
  }
  return sum;
}

std::string PrintNodeUsage(const std::vector<NodeUsage>& nodes, Time start, const Style& style) {
  const UsageParts parts = PartsOf(SumOf(nodes).usage);
  Table table = UsageTable(parts);
  for (const NodeUsage& node : nodes) {
    const Usage& usage = node.usage;
    std::vector<Cell> cells = {{.text = node.node},
                               {.text = PreciseText(CpuTime(usage))},
                               {.text = BusyText(CpuTime(usage), node.time - start)},
                               {.text = BytesOrDash(usage.group_memory)}};
    if (parts.gpus) {
      cells.push_back(
          {.text = usage.gpu_busy.count() > 0 ? BusyText(usage.gpu_busy, node.time - start) : "-"});
      cells.push_back({.text = BytesOrDash(usage.gpu_memory)});
    }
    if (parts.storage) {
      cells.push_back({.text = BytesOrDash(usage.read_bytes)});
      cells.push_back({.text = BytesOrDash(usage.written_bytes)});
      cells.push_back({.text = ShareOrDash(usage.io_blocked, node.time - start)});
    }
    if (parts.network) {
      cells.push_back({.text = BytesOrDash(usage.net_sent)});
      cells.push_back({.text = BytesOrDash(usage.net_received)});
      cells.push_back({.text = ShareOrDash(usage.net_blocked, node.time - start)});
    }
    if (parts.energy) {
      const std::uint64_t taken = EnergyOf(usage);
      cells.push_back({.text = taken > 0 ? EnergyText(taken) : "-"});
    }
    table.Add(cells);
  }
  return table.Print(style, true, 2);
}

}  // namespace muster::cli
