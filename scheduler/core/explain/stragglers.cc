#include "scheduler/core/explain/stragglers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "scheduler/model/value/time.h"

namespace muster::core {
namespace {

// Who says most of what is slow comes first: a rank is named by the first of its measures.
enum class Measure : std::uint8_t { kProgress, kGpuClock, kCpuTime, kCpuClock, kGpuWork };

struct MeasureRow {
  Measure measure;
  const char* name;
  const char* title;
  const char* unit;
  double parts;         // of a unit, in which its values are
  const char* why_not;  // it is not known of ranks that were looked at
};
constexpr std::array<MeasureRow, 5> kMeasures = {{
    {Measure::kProgress, "progress", "progress", "steps/s", 1e6, "its programs report no steps"},
    {Measure::kGpuClock, "gpu_clock", "GPU clock", "MHz", 1,
     "no GPUs of their own that were busy and tell their clocks"},
    {Measure::kCpuTime, "cpu_time", "CPU time", "%", 10,
     "they want less than half a CPU, or the kernel keeps no times of threads"},
    {Measure::kCpuClock, "cpu_clock", "CPU clock", "MHz", 1,
     "they want less than half a CPU, or the kernel tells no clocks"},
    {Measure::kGpuWork, "gpu_work", "GPU work", "%", 10,
     "no GPUs of their own with performance counters"},
}};

// One value of a rank.
struct Figure {
  std::size_t rank = 0;  // its position
  const PacedGpu* gpu = nullptr;
  std::int64_t value = 0;  // the higher, the faster
};

// A measure by which a rank is slower.
struct Fall {
  const MeasureRow* row = nullptr;
  Figure figure;
  std::int64_t median = 0;
  std::uint32_t ranks = 0;
};

constexpr std::int64_t kFigureMost = 1'000'000'000'000;  // so that products fit

bool IsPaced(const PacedRank& rank) {
  return rank.pace.has_value() && rank.pace->span >= kPacedLeast;
}

bool IsPaced(const PacedGpu& gpu) {
  return gpu.pace.has_value() && gpu.pace->span >= kPacedLeast &&
         gpu.pace->looks >= kPacedLooksLeast && 2 * gpu.pace->busy >= gpu.pace->span;
}

// GPUs that several of the ranks have say nothing of one of them.
std::map<std::string, std::size_t> CountOwners(const std::vector<PacedRank>& ranks,
                                               const std::vector<std::size_t>& step) {
  std::map<std::string, std::size_t> owners;
  for (const std::size_t rank : step) {
    for (const PacedGpu& gpu : ranks[rank].gpus) {
      ++owners[absl::StrCat(ranks[rank].node, "/", gpu.uuid)];
    }
  }
  return owners;
}

std::optional<std::int64_t> ValueOf(Measure measure, const RankPace& pace) {
  constexpr std::int64_t kAll = 1000;
  if (measure == Measure::kProgress) {
    return pace.progress.has_value() ? std::optional(static_cast<std::int64_t>(
                                           std::min<std::uint64_t>(*pace.progress, kFigureMost)))
                                     : std::nullopt;
  }
  if (pace.wanted.value_or(0) < kWantedLeast) {
    return std::nullopt;
  }
  if (measure == Measure::kCpuClock) {
    return pace.cpu_mhz;
  }
  return pace.granted.has_value()
             ? std::optional(*pace.granted *
                             (kAll - std::min<std::int64_t>(pace.stolen.value_or(0), kAll)) / kAll)
             : std::nullopt;
}

std::optional<std::int64_t> ValueOf(Measure measure, const GpuPace& pace) {
  constexpr std::int64_t kAll = 1000;
  if (measure == Measure::kGpuClock) {
    return pace.clock_mhz;
  }
  return pace.work.has_value() ? std::optional(kAll - std::min<std::int64_t>(*pace.work, kAll))
                               : std::nullopt;
}

// The figures that are compared with each other: of a step, for GPUs of one model of it.
std::map<std::string, std::vector<Figure>> FiguresOf(Measure measure,
                                                     const std::vector<PacedRank>& ranks,
                                                     const std::vector<std::size_t>& step) {
  std::map<std::string, std::vector<Figure>> figures;
  if (measure != Measure::kGpuClock && measure != Measure::kGpuWork) {
    for (const std::size_t rank : step) {
      const std::optional<std::int64_t> value =
          IsPaced(ranks[rank]) ? ValueOf(measure, *ranks[rank].pace) : std::nullopt;
      if (value.has_value()) {
        figures[""].push_back({rank, nullptr, *value});
      }
    }
    return figures;
  }
  const std::map<std::string, std::size_t> owners = CountOwners(ranks, step);
  for (const std::size_t rank : step) {
    for (const PacedGpu& gpu : ranks[rank].gpus) {
      const bool own = owners.at(absl::StrCat(ranks[rank].node, "/", gpu.uuid)) == 1;
      const std::optional<std::int64_t> value =
          own && IsPaced(ranks[rank]) && IsPaced(gpu) ? ValueOf(measure, *gpu.pace) : std::nullopt;
      if (value.has_value()) {
        figures[gpu.model].push_back({rank, &gpu, *value});
      }
    }
  }
  return figures;
}

// The element at that place of the order. REQUIRES: place < numbers.size().
std::int64_t Ordered(std::vector<std::int64_t> numbers, std::size_t place) {
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

bool IsFall(Measure measure, std::int64_t value, std::int64_t median, std::int64_t mad) {
  constexpr double kNormal = 0.6745;  // the MAD of a normal distribution, in its deviations
  constexpr std::int64_t kHundred = 100;
  const std::int64_t below = median - value;
  const bool enough = measure == Measure::kGpuWork
                          ? below >= kWaitsLessLeast
                          : median > 0 && below * kHundred >= median * kFallPercent;
  return enough && kNormal * static_cast<double>(below) > kScoreLeast * static_cast<double>(mad);
}

std::vector<Fall> FallsIn(const MeasureRow& row, const std::vector<Figure>& figures) {
  std::vector<std::int64_t> values;
  for (const Figure& figure : figures) {
    values.push_back(figure.value);
  }
  const std::int64_t median = Ordered(values, values.size() / 2);
  std::vector<std::int64_t> deviations;
  for (const std::int64_t value : values) {
    deviations.push_back(std::max(value - median, median - value));
  }
  const std::int64_t mad = Ordered(deviations, (deviations.size() - 1) / 2);
  std::vector<Fall> falls;
  for (const Figure& figure : figures) {
    if (IsFall(row.measure, figure.value, median, mad)) {
      falls.push_back({&row, figure, median, static_cast<std::uint32_t>(figures.size())});
    }
  }
  return falls;
}

bool OfSeveralRanks(const std::vector<Figure>& figures) {
  return std::any_of(figures.begin(), figures.end(), [&figures](const Figure& figure) {
    return figure.rank != figures.front().rank;
  });
}

std::vector<std::string> BrakeNames(std::uint32_t brakes) {
  constexpr std::pair<std::uint32_t, const char*> kNames[] = {
      {kBrakePower, "power limit"},   {kBrakeHeat, "heat"},
      {kBrakeHardware, "hardware"},   {kBrakeSupply, "power supply"},
      {kBrakeSetting, "a set clock"}, {kBrakeGroup, "the clock of a group"}};
  std::vector<std::string> names;
  for (const auto& [bit, name] : kNames) {
    if ((brakes & bit) != 0) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::string LinkText(const StragglerView& view) {
  std::vector<std::string> parts;
  if (view.link.has_value() && view.link->pcie_generation.has_value()) {
    parts.push_back(absl::StrCat(
        "PCIe ", *view.link->pcie_generation,
        view.link->pcie_lanes.has_value() ? absl::StrCat(" x", *view.link->pcie_lanes) : ""));
  }
  if (view.link.has_value() && view.link->nvlinks.has_value()) {
    parts.push_back(absl::StrCat(*view.link->nvlinks, " NVLinks up"));
  }
  if (!view.nic.empty()) {
    parts.push_back(absl::StrCat("NIC ", view.nic));
  }
  return absl::StrJoin(parts, ", ");
}

std::string NumberText(double value) {
  return value >= 100 || value == static_cast<double>(static_cast<std::int64_t>(value))
             ? absl::StrFormat("%.0f", value)
             : absl::StrFormat("%.3g", value);
}

// "GPU clock 1395 MHz, 30 % below the median of 8 ranks, 1980 MHz"
std::string FallText(const Fall& fall, std::uint32_t percent, double value, double median) {
  if (fall.row->measure == Measure::kGpuWork) {
    return absl::StrCat("its GPU has no work for ", NumberText(value), " % of the time, where the ",
                        "median of ", fall.ranks, " GPUs of its step is ", NumberText(median),
                        " %: the others may wait for it, or its part is larger");
  }
  const std::string unit = absl::StrCat(" ", fall.row->unit);
  return absl::StrCat(fall.row->title, " ", NumberText(value), unit, ", ", percent,
                      " % below the median of ", fall.ranks, " ",
                      fall.row->measure == Measure::kGpuClock ? "GPUs" : "ranks", " of its step, ",
                      NumberText(median), unit);
}

// What the rank's slowest GPU says besides.
void AddGpu(const PacedGpu& gpu, StragglerView& view) {
  constexpr std::size_t kShort = 12;  // "GPU-1a2b3c4d"
  view.gpu = gpu.uuid;
  if (gpu.pace.has_value()) {
    view.gpu_clock_mhz = gpu.pace->clock_mhz;
    view.gpu_clock_most_mhz = gpu.pace->clock_most_mhz;
    view.brakes = BrakeNames(gpu.pace->brakes.value_or(0));
    view.link = gpu.pace->link;
  }
  absl::StrAppend(&view.text, "; ", gpu.uuid.substr(0, kShort));
  if (view.measure != "gpu_clock" && view.gpu_clock_mhz.has_value()) {
    absl::StrAppend(&view.text, " at ", *view.gpu_clock_mhz, " MHz");
  }
  if (view.gpu_clock_most_mhz.has_value()) {
    absl::StrAppend(&view.text, ", which can do ", *view.gpu_clock_most_mhz, " MHz");
  }
  if (!view.brakes.empty()) {
    absl::StrAppend(&view.text, ", held down by: ", absl::StrJoin(view.brakes, ", "));
  }
}

const PacedGpu* SlowestGpu(const PacedRank& rank) {
  const PacedGpu* slowest = nullptr;
  for (const PacedGpu& gpu : rank.gpus) {
    const auto clock = [](const PacedGpu& one) {
      return one.pace.has_value() ? one.pace->clock_mhz.value_or(~0U) : ~0U;
    };
    slowest = slowest == nullptr || clock(gpu) < clock(*slowest) ? &gpu : slowest;
  }
  return slowest;
}

// `falls` of one rank, in the order of the measures.
StragglerView ViewOf(const PacedRank& rank, const std::vector<Fall>& falls) {
  constexpr std::int64_t kHundred = 100;
  constexpr std::int64_t kTenth = 10;
  const Fall& main = falls.front();
  const std::int64_t below = main.median - main.figure.value;
  StragglerView view;
  view.step = rank.step;
  view.rank = rank.rank;
  view.node = rank.node;
  view.nic = rank.nic;
  view.measure = main.row->name;
  view.unit = main.row->unit;
  view.value = static_cast<double>(main.figure.value) / main.row->parts;
  view.median = static_cast<double>(main.median) / main.row->parts;
  view.suspected = main.row->measure == Measure::kGpuWork;
  view.percent =
      static_cast<std::uint32_t>(view.suspected ? below / kTenth : below * kHundred / main.median);
  view.ranks = main.ranks;
  view.text = absl::StrCat("rank ", rank.rank, " on ", rank.node, ": ",
                           FallText(main, view.percent, view.value, view.median));
  const PacedGpu* const gpu = main.figure.gpu != nullptr ? main.figure.gpu : SlowestGpu(rank);
  if (gpu != nullptr) {
    AddGpu(*gpu, view);
  }
  if (const std::string link = LinkText(view); !link.empty()) {
    absl::StrAppend(&view.text, "; ", link);
  }
  for (const Fall& fall : falls) {
    if (fall.row != main.row &&
        std::find(view.also.begin(), view.also.end(), fall.row->name) == view.also.end()) {
      view.also.emplace_back(fall.row->name);
      absl::StrAppend(&view.text, fall.row->measure == Measure::kGpuWork
                                      ? std::string("; it waits least")
                                      : absl::StrCat("; its ", fall.row->title, ", too"));
    }
  }
  return view;
}

// Judges the ranks of one step.
class StepJudge {
 public:
  StepJudge(const std::vector<PacedRank>& ranks, const std::vector<std::size_t>& step)
      : ranks_(ranks), step_(step) {}

  void JudgeBy(const MeasureRow& row) {
    for (const auto& [model, figures] : FiguresOf(row.measure, ranks_, step_)) {
      if (!OfSeveralRanks(figures)) {
        continue;
      }
      measures_.push_back(&row);
      for (const Figure& figure : figures) {
        judged_[figure.rank] = true;
      }
      for (const Fall& fall : FallsIn(row, figures)) {
        falls_[fall.figure.rank].push_back(fall);
      }
    }
  }

  void Tell(StragglersView& view, std::vector<const MeasureRow*>& measures) {
    view.ranks += static_cast<std::uint32_t>(step_.size());
    view.judged += static_cast<std::uint32_t>(judged_.size());
    measures.insert(measures.end(), measures_.begin(), measures_.end());
    for (auto& [rank, falls] : falls_) {
      // Of several GPUs that are slow the slowest is named.
      std::stable_sort(falls.begin(), falls.end(), [](const Fall& a, const Fall& b) {
        return std::pair(a.row->measure, a.figure.value) <
               std::pair(b.row->measure, b.figure.value);
      });
      view.found.push_back(ViewOf(ranks_[rank], falls));
    }
  }

 private:
  const std::vector<PacedRank>& ranks_;
  const std::vector<std::size_t>& step_;
  std::vector<const MeasureRow*> measures_;
  std::map<std::size_t, bool> judged_;
  std::map<std::size_t, std::vector<Fall>> falls_;
};

// The steps of which a rank has told, and that have several.
std::map<StepId, std::vector<std::size_t>> StepsOf(const std::vector<PacedRank>& ranks) {
  std::map<StepId, std::vector<std::size_t>> steps;
  std::map<StepId, bool> told;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    steps[ranks[i].step].push_back(i);
    told[ranks[i].step] = told[ranks[i].step] || ranks[i].pace.has_value();
  }
  std::erase_if(
      steps, [&told](const auto& step) { return step.second.size() < 2 || !told.at(step.first); });
  return steps;
}

void AddUnknown(const std::vector<PacedRank>& ranks,
                const std::map<StepId, std::vector<std::size_t>>& steps,
                const std::vector<const MeasureRow*>& measures, StragglersView& view) {
  std::size_t silent = 0;
  std::size_t young = 0;
  for (const auto& [id, step] : steps) {
    for (const std::size_t rank : step) {
      silent += ranks[rank].pace.has_value() ? 0 : 1;
      young += ranks[rank].pace.has_value() && !IsPaced(ranks[rank]) ? 1 : 0;
    }
  }
  if (silent > 0) {
    view.unknown.push_back(absl::StrCat(silent, " of ", view.ranks, " ranks: nothing is known"));
  }
  if (young > 0) {
    view.unknown.push_back(
        absl::StrCat(young, " of ", view.ranks, " ranks: looked at for less than a minute"));
  }
  for (const MeasureRow& row : kMeasures) {
    const bool known = std::find(measures.begin(), measures.end(), &row) != measures.end();
    if (known) {
      view.measures.emplace_back(row.name);
    } else if (silent + young < view.ranks) {
      view.unknown.push_back(absl::StrCat(row.title, ": ", row.why_not));
    }
  }
}

}  // namespace

std::optional<StragglersView> FindStragglers(const std::vector<PacedRank>& ranks) {
  const std::map<StepId, std::vector<std::size_t>> steps = StepsOf(ranks);
  if (steps.empty()) {
    return std::nullopt;
  }
  StragglersView view;
  std::vector<const MeasureRow*> measures;
  for (const auto& [id, step] : steps) {
    StepJudge judge(ranks, step);
    for (const MeasureRow& row : kMeasures) {
      judge.JudgeBy(row);
    }
    judge.Tell(view, measures);
  }
  view.span = view.judged > 0 ? std::chrono::duration_cast<Duration>(kPacedLeast) : Duration(0);
  std::sort(view.found.begin(), view.found.end(),
            [](const StragglerView& a, const StragglerView& b) {
              return std::tie(a.step, a.rank, a.node) < std::tie(b.step, b.rank, b.node);
            });
  AddUnknown(ranks, steps, measures, view);
  return view;
}

std::string StragglerWarning(const StragglersView& stragglers) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  std::size_t count = 0;
  for (const StragglerView& rank : stragglers.found) {
    if (!rank.suspected && ++count <= kNamed) {
      named.push_back(rank.text);
    }
  }
  if (count == 0) {
    return "";
  }
  return absl::StrCat(count == 1 ? "a rank is" : absl::StrCat(count, " ranks are"),
                      " slower than the peers: ", absl::StrJoin(named, " | "),
                      count > kNamed ? absl::StrCat(" | and ", count - kNamed, " more") : "");
}

}  // namespace muster::core
