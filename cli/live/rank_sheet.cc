#include "cli/live/rank_sheet.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

// The process that a row is about.
auto NameOf(const RankUse& use) {
  return std::tuple(use.node, use.step, use.rank, use.pid);
}

std::string StateText(const std::string& letter) {
  static const std::map<std::string, std::string> names = {
      {"R", "runs"},    {"S", "sleeps"}, {"D", "waits"}, {"T", "stopped"},
      {"t", "stopped"}, {"Z", "ended"},  {"I", "idle"}};
  const auto found = names.find(letter);
  return found == names.end() ? letter : found->second;
}

std::string RankText(const RankUse& use) {
  return use.step.valid() ? absl::StrCat(use.step.value(), ".", use.rank) : std::string("script");
}

std::optional<double> RateOf(std::optional<Bytes> before, std::optional<Bytes> now, Duration time) {
  return before.has_value() && now.has_value() && *now >= *before && time.count() > 0
             ? std::optional(static_cast<double>((*now - *before).value()) /
                             std::chrono::duration<double>(time).count())
             : std::nullopt;
}

std::string ShareText(double share) {
  return absl::StrFormat("%.0f", share * 100);
}

// Of a column that is there only if some rank has it.
struct ToldColumn {
  const char* title;
  std::optional<double> (*value)(const RankRow& row);
  bool zero_too;  // what is known to be nothing is worth a column
  std::string (*text)(double value);
};
template <auto kRate>
std::optional<double> Moved(const RankRow& row) {
  return row.*kRate;
}
// Of the performance counters of its GPUs.
template <auto kMember>
std::optional<double> Counted(const RankRow& row) {
  return row.use.gpu_work.has_value() ? std::optional<double>((*row.use.gpu_work).*kMember)
                                      : std::nullopt;
}
template <auto kMember>
std::optional<double> CountedBytes(const RankRow& row) {
  return row.use.gpu_work.has_value() ? (*row.use.gpu_work).*kMember : std::nullopt;
}
constexpr ToldColumn kToldColumns[] = {
    {"SM %", Counted<&GpuRates::sm_active>, true, ShareText},
    {"Tensor %", Counted<&GpuRates::tensor_active>, true, ShareText},
    {"GPU band %", Counted<&GpuRates::dram_active>, true, ShareText},
    {"NVLink", CountedBytes<&GpuRates::nvlink>, false, ByteRateText},
    {"PCIe", CountedBytes<&GpuRates::pcie>, false, ByteRateText},
    {"Read", Moved<&RankRow::read>, false, ByteRateText},
    {"Written", Moved<&RankRow::written>, false, ByteRateText},
    {"Sent", Moved<&RankRow::sent>, false, ByteRateText},
    {"Received", Moved<&RankRow::received>, false, ByteRateText}};

std::vector<ToldColumn> ToldIn(const std::vector<RankRow>& rows) {
  std::vector<ToldColumn> told;
  for (const ToldColumn& column : kToldColumns) {
    if (std::any_of(rows.begin(), rows.end(), [&](const RankRow& row) {
          const std::optional<double> value = column.value(row);
          return value.has_value() && (column.zero_too || *value > 0);
        })) {
      told.push_back(column);
    }
  }
  return told;
}

}  // namespace

std::vector<RankRow> CompareRanks(const RankTable& before, const RankTable& now) {
  std::map<std::tuple<std::string, StepId, std::uint32_t, std::uint32_t>, const RankUse*> old;
  for (const RankUse& use : before.ranks) {
    old.emplace(NameOf(use), &use);
  }
  std::vector<RankRow> rows;
  for (const RankUse& use : now.ranks) {
    RankRow row{use, std::nullopt};
    const auto found = old.find(NameOf(use));
    if (found != old.end()) {
      const RankUse& was = *found->second;
      const Duration time = use.time - was.time;
      row.read = RateOf(was.read_bytes, use.read_bytes, time);
      row.written = RateOf(was.written_bytes, use.written_bytes, time);
      row.sent = RateOf(was.sent, use.sent, time);
      row.received = RateOf(was.received, use.received, time);
    }
    if (found != old.end() && use.time > found->second->time &&
        use.cpu_time >= found->second->cpu_time) {
      row.cpu_percent = 100.0 *
                        static_cast<double>((use.cpu_time - found->second->cpu_time).count()) /
                        static_cast<double>((use.time - found->second->time).count());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string PrintRanks(const std::vector<RankRow>& rows, const std::vector<std::string>& silent,
                       const Style& style) {
  std::vector<Column> columns = {{"Node", false, 8},    {"Rank"},        {"Pid", true},
                                 {"Command", false, 6}, {"State"},       {"Procs", true},
                                 {"Threads", true},     {"CPU %", true}, {"CPUs", false, 6},
                                 {"Memory", true},      {"GPU %", true}, {"GPU memory", true},
                                 {"GPU MHz", true}};
  const std::vector<ToldColumn> told = ToldIn(rows);
  for (const ToldColumn& column : told) {
    columns.push_back({column.title, true});
  }
  columns.push_back({"Slower"});
  Table table(std::move(columns));
  for (const RankRow& row : rows) {
    const RankUse& use = row.use;
    const bool metered = use.gpu_busy >= 0 || !use.gpu_memory.zero();
    std::vector<Cell> cells = {
        {use.node},
        {RankText(use)},
        {absl::StrCat(use.pid)},
        {OrDash(use.command)},
        {StateText(use.state)},
        {absl::StrCat(use.processes)},
        {absl::StrCat(use.threads)},
        {row.cpu_percent.has_value() ? absl::StrFormat("%.0f", *row.cpu_percent) : "-"},
        {OrDash(use.cpus)},
        {BytesText(use.memory.value())},
        {use.gpu_busy >= 0 ? absl::StrCat(use.gpu_busy) : "-"},
        {metered ? BytesText(use.gpu_memory.value()) : "-"},
        {use.gpu_clock.has_value() ? absl::StrCat(*use.gpu_clock) : "-"}};
    for (const ToldColumn& column : told) {
      const std::optional<double> value = column.value(row);
      cells.push_back({value.has_value() ? column.text(*value) : "-"});
    }
    cells.push_back(
        {use.slower.empty() ? "" : "yes", use.slower.empty() ? Paint::kPlain : Paint::kRed});
    table.Add(cells);
  }
  std::string page = rows.empty() ? "no process of it runs\n" : table.Print(style);
  for (const RankRow& row : rows) {
    if (!row.use.slower.empty()) {
      absl::StrAppend(&page, Printable(row.use.slower), "\n");
    }
  }
  for (const std::string& node : silent) {
    absl::StrAppend(&page, Printable(node), "\n");
  }
  return page;
}

}  // namespace muster::cli
