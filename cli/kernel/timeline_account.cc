#include "cli/kernel/timeline_account.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"

namespace muster::cli {
namespace {

constexpr double kMicroseconds = 1e6;
constexpr std::size_t kMostShown = 3;
constexpr std::size_t kNameMost = 40;
constexpr double kAwaitedPart = 0.5;
constexpr double kAwaitedLess = 0.05;

struct Span {
  double begin = 0;
  double end = 0;
};
using Spans = std::vector<Span>;

// The time in which at least one of them runs, in seconds.
double Covered(Spans spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  double covered = 0;
  double until = spans.empty() ? 0 : spans.front().begin;
  for (const Span& span : spans) {
    covered += std::max(0.0, span.end - std::max(until, span.begin));
    until = std::max(until, span.end);
  }
  return covered / kMicroseconds;
}

// Differences of sums may be a hair below nothing.
double Beyond(double all, double part) {
  return std::max(0.0, all - part);
}

Spans Both(Spans spans, const Spans& more) {
  spans.insert(spans.end(), more.begin(), more.end());
  return spans;
}

// What ran on one GPU.
struct GpuRanges {
  Spans compute;
  Spans communication;
  Spans copies;
};

// A range of a thread.
struct ThreadRange {
  Span span;
  std::string name;
};

// "gemm" of "void gemm<float, 4>(float*)".
std::string ShortName(const std::string& name) {
  const std::string bare(absl::StripPrefix(name, "void "));
  const std::size_t end = bare.find_first_of("<(", 1);
  return bare.substr(0, std::min(end, kNameMost));
}

bool HasLength(const Json& event) {
  return event.is_object() && TextIn(event, "ph") == "X" && IsNumber(event, "ts") &&
         IsNumber(event, "dur") && event["dur"].get<double>() > 0;
}

// Of one thread, by name: what is inside another range is not that one's time.
void AddOwnTimes(std::vector<ThreadRange>& ranges, std::map<std::string, double>& times) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const ThreadRange& a, const ThreadRange& b) {
    return std::pair(a.span.begin, -a.span.end) < std::pair(b.span.begin, -b.span.end);
  });
  std::vector<const ThreadRange*> open;
  for (const ThreadRange& range : ranges) {
    while (!open.empty() && open.back()->span.end <= range.span.begin) {
      open.pop_back();
    }
    const double length = (range.span.end - range.span.begin) / kMicroseconds;
    if (!open.empty()) {
      times[open.back()->name] -=
          (std::min(range.span.end, open.back()->span.end) - range.span.begin) / kMicroseconds;
    }
    times[range.name] += length;
    open.push_back(&range);
  }
}

// All that is known of one rank.
class RankRanges {
 public:
  void Add(const Json& event) {
    const double begin = event["ts"].get<double>();
    const Span span = {begin, begin + event["dur"].get<double>()};
    const std::string pid = event.contains("pid") ? event["pid"].dump() : "";
    if (!IsOnGpu(event)) {
      const std::string tid = event.contains("tid") ? event["tid"].dump() : "";
      threads_[{pid, tid}].push_back({span, ShortName(TextIn(event, "name"))});
      return;
    }
    GpuRanges& gpu = gpus_[pid];
    const bool kernel = TextIn(event, "cat") == "kernel";
    Spans& spans = !kernel ? gpu.copies : IsCommunication(event) ? gpu.communication : gpu.compute;
    spans.push_back(span);
    on_gpus_[ShortName(TextIn(event, "name"))] += (span.end - span.begin) / kMicroseconds;
  }

  RankAccount Account(int rank) {
    RankAccount account{.rank = rank};
    for (const auto& [pid, gpu] : gpus_) {
      AddGpu(gpu, account);
    }
    std::map<std::string, double> times = on_gpus_;
    if (times.empty()) {
      for (auto& [thread, ranges] : threads_) {
        AddOwnTimes(ranges, times);
      }
    }
    for (const auto& [name, seconds] : times) {
      account.seconds += seconds;
      account.most.push_back({name, seconds});
    }
    std::stable_sort(
        account.most.begin(), account.most.end(),
        [](const TimedRange& a, const TimedRange& b) { return a.seconds > b.seconds; });
    account.most.resize(std::min(account.most.size(), kMostShown));
    return account;
  }

 private:
  static void AddGpu(const GpuRanges& gpu, RankAccount& account) {
    const Spans kernels = Both(gpu.compute, gpu.communication);
    const Spans all = Both(kernels, gpu.copies);
    const auto [first, last] =
        std::tuple(std::min_element(all.begin(), all.end(),
                                    [](const Span& a, const Span& b) { return a.begin < b.begin; }),
                   std::max_element(all.begin(), all.end(),
                                    [](const Span& a, const Span& b) { return a.end < b.end; }));
    const double whole = (last->end - first->begin) / kMicroseconds;
    const double compute = Covered(gpu.compute);
    const double worked = Covered(kernels);
    const double busy = Covered(all);
    account.gpu_seconds += whole;
    account.compute += compute;
    account.communication += Beyond(worked, compute);
    account.hidden += Beyond(Covered(gpu.communication), worked - compute);
    account.copies += Beyond(busy, worked);
    account.idle += Beyond(whole, busy);
  }

  std::map<std::string, GpuRanges> gpus_;  // by process
  std::map<std::pair<std::string, std::string>, std::vector<ThreadRange>> threads_;
  std::map<std::string, double> on_gpus_;  // by name
};

std::string MostText(const RankAccount& account) {
  std::vector<std::string> texts;
  for (const TimedRange& range : account.most) {
    texts.push_back(absl::StrCat(range.name, " ", PercentText(range.seconds / account.seconds)));
  }
  return absl::StrJoin(texts, ", ");
}

std::string SecondsText(double seconds) {
  return absl::StrFormat(seconds < 1 ? "%.6f s" : "%.3f s", seconds);
}

std::string PartText(const RankAccount& account, double seconds) {
  return account.gpu_seconds > 0 ? PercentText(seconds / account.gpu_seconds) : "-";
}

}  // namespace

std::vector<RankAccount> AccountsOf(const std::vector<TimelinePart>& parts) {
  std::map<int, RankRanges> ranks;
  for (const TimelinePart& part : parts) {
    for (const Json& event : part.events) {
      if (!HasLength(event)) {
        continue;
      }
      if (part.profiler) {
        ranks[part.rank].Add(event);
      } else if (event.contains("pid") && event["pid"].is_number_integer()) {
        ranks[event["pid"].get<int>()].Add(event);
      }
    }
  }
  std::vector<RankAccount> accounts;
  for (auto& [rank, ranges] : ranks) {
    accounts.push_back(ranges.Account(rank));
  }
  return accounts;
}

std::optional<int> AwaitedRank(const std::vector<RankAccount>& accounts) {
  std::vector<std::pair<double, int>> shares;
  for (const RankAccount& account : accounts) {
    if (account.gpu_seconds > 0) {
      shares.emplace_back((account.communication + account.hidden) / account.gpu_seconds,
                          account.rank);
    }
  }
  if (shares.size() < 2) {
    return std::nullopt;
  }
  std::sort(shares.begin(), shares.end());
  const double median = shares[1 + (shares.size() - 1) / 2].first;  // of the others
  const auto [least, rank] = shares.front();
  return least < kAwaitedPart * median && least < median - kAwaitedLess ? std::optional(rank)
                                                                        : std::nullopt;
}

std::string AccountPage(const std::vector<RankAccount>& accounts, const Style& style) {
  if (accounts.empty()) {
    return "";
  }
  Table table({{.title = "RANK", .right = true},
               {.title = "TIME", .right = true},
               {.title = "COMPUTE", .right = true},
               {.title = "COMMUNICATION", .right = true},
               {.title = "COPIES", .right = true},
               {.title = "IDLE", .right = true},
               {.title = "HIDDEN", .right = true},
               {.title = "MOST", .right = false, .least = 20}});
  for (const RankAccount& account : accounts) {
    table.Add({{absl::StrCat(account.rank)},
               {SecondsText(account.gpu_seconds > 0 ? account.gpu_seconds : account.seconds)},
               {PartText(account, account.compute)},
               {PartText(account, account.communication)},
               {PartText(account, account.copies)},
               {PartText(account, account.idle)},
               {PartText(account, account.hidden)},
               {MostText(account)}});
  }
  const std::optional<int> awaited = AwaitedRank(accounts);
  return absl::StrCat(
      table.Print(style),
      awaited.has_value()
          ? absl::StrCat("The others wait for rank ", *awaited,
                         ": it is in communication for less than half of their time.\n")
          : "");
}

Json AccountDocument(const std::vector<RankAccount>& accounts) {
  Json rows = Json::array();
  for (const RankAccount& account : accounts) {
    const auto seconds = [&account](double amount) {
      return account.gpu_seconds > 0 ? Json(amount) : Json(nullptr);
    };
    Json most = Json::array();
    for (const TimedRange& range : account.most) {
      most.push_back({{"name", range.name}, {"seconds", range.seconds}});
    }
    rows.push_back({{"rank", account.rank},
                    {"gpu_seconds", seconds(account.gpu_seconds)},
                    {"compute", seconds(account.compute)},
                    {"communication", seconds(account.communication)},
                    {"hidden", seconds(account.hidden)},
                    {"copies", seconds(account.copies)},
                    {"idle", seconds(account.idle)},
                    {"most", std::move(most)}});
  }
  return rows;
}

}  // namespace muster::cli
