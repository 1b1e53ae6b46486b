#include "cli/live/rank_sheet.h"

#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
  Table table({{"Node", false, 8},
               {"Rank"},
               {"Pid", true},
               {"Command", false, 6},
               {"State"},
               {"Procs", true},
               {"Threads", true},
               {"CPU %", true},
               {"CPUs", false, 6},
               {"Memory", true},
               {"GPU %", true},
               {"GPU memory", true},
               {"GPU MHz", true},
               {"Slower"}});
  for (const RankRow& row : rows) {
    const RankUse& use = row.use;
    const bool metered = use.gpu_busy >= 0 || !use.gpu_memory.zero();
    table.Add(
        {{use.node},
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
         {use.gpu_clock.has_value() ? absl::StrCat(*use.gpu_clock) : "-"},
         {use.slower.empty() ? "" : "yes", use.slower.empty() ? Paint::kPlain : Paint::kRed}});
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
