#include "tests/unit/scheduler/simulator/flat_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster::sim::oracle {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

enum class State { kFuture, kWaiting, kRunning, kEnded };

struct Entry {
  OracleJob job;
  State state = State::kFuture;
  std::int64_t estimate = 0;
  std::int64_t start = kNone;        // of a waiting job: its reservation, if any
  std::int64_t planned_end = kNone;  // of a running job
  std::size_t corrections = 0;
  std::size_t started = 0;  // the how-manyeth start
};

class Oracle {
 public:
  Oracle(const std::vector<OracleJob>& jobs, const OracleRules& rules) : rules_(rules) {
    for (const OracleJob& job : jobs) {
      entries_.push_back({.job = job});
    }
  }

  std::map<std::int64_t, std::int64_t> Run() {
    for (std::int64_t now = NextMoment(); now != kNone; now = NextMoment()) {
      rules_.submit_first ? SubmitFirst(now) : EndsFirst(now);
    }
    std::map<std::int64_t, std::int64_t> starts;
    for (const Entry& entry : entries_) {
      starts[entry.job.id] = entry.start;
    }
    return starts;
  }

 private:
  std::int64_t NextMoment() const {
    std::int64_t next = kNone;
    for (const Entry& entry : entries_) {
      if (entry.state == State::kFuture) {
        next = std::min(next, entry.job.submit);
      } else if (entry.state == State::kRunning) {
        next = std::min(next, entry.start + entry.job.run);
      } else if (entry.state == State::kWaiting) {
        next = std::min(next, entry.start);
      }
    }
    return next;
  }

  // Running jobs that end at `now`, in the order in which they started.
  std::vector<Entry*> EndingAt(std::int64_t now) {
    std::vector<Entry*> ending;
    for (Entry& entry : entries_) {
      if (entry.state == State::kRunning && entry.start + entry.job.run == now) {
        ending.push_back(&entry);
      }
    }
    std::sort(ending.begin(), ending.end(),
              [](const Entry* a, const Entry* b) { return a->started < b->started; });
    return ending;
  }

  void EndsFirst(std::int64_t now) {
    bool early = false;
    for (Entry* entry : EndingAt(now)) {
      early = End(*entry, now) || early;
    }
    std::vector<Entry*> arrived;
    for (Entry& entry : entries_) {
      if (entry.state == State::kFuture && entry.job.submit == now) {
        Arrive(entry);
        arrived.push_back(&entry);
      }
    }
    RunCycle(now, early, arrived);
  }

  void SubmitFirst(std::int64_t now) {
    for (Entry& entry : entries_) {
      if (entry.state == State::kFuture && entry.job.submit == now) {
        Arrive(entry);
        RunCycle(now, false, {&entry});
      }
    }
    for (Entry* entry : EndingAt(now)) {
      const bool early = End(*entry, now);
      RunCycle(now, early, {});
    }
    RunCycle(now, false, {});
  }

  void Arrive(Entry& entry) {
    entry.state = State::kWaiting;
    entry.estimate = EstimateOf(entry.job);
  }

  // True when it ended before it was planned to.
  bool End(Entry& entry, std::int64_t now) {
    entry.state = State::kEnded;
    history_[entry.job.user].push_back(entry.job.run);
    return entry.planned_end > now;
  }

  std::int64_t EstimateOf(const OracleJob& job) const {
    if (rules_.estimates == "exact") {
      return job.run;
    }
    if (rules_.estimates == "x2") {
      return 2 * job.requested;
    }
    const auto past = history_.find(job.user);
    if (rules_.estimates != "user-last-2" || past == history_.end() || past->second.size() < 2) {
      return job.requested;
    }
    const std::vector<std::int64_t>& runs = past->second;
    const std::int64_t mean = (runs[runs.size() - 1] + runs[runs.size() - 2]) / 2;
    return std::min(std::max<std::int64_t>(mean, 1), job.requested);
  }

  // True when a running job was given more time.
  bool Correct(std::int64_t now) {
    static const std::int64_t more[] = {60,    300,   900,   1800,   3600,  7200,
                                        18000, 36000, 72000, 180000, 360000};
    bool any = false;
    for (Entry& entry : entries_) {
      if (entry.state != State::kRunning) {
        continue;
      }
      const std::int64_t limit = entry.start + entry.job.requested;
      while (entry.planned_end <= now && limit > now) {
        entry.planned_end = std::min(
            entry.planned_end + more[std::min<std::size_t>(entry.corrections++, 10)], limit);
        any = true;
      }
    }
    return any;
  }

  std::int64_t FreeAt(std::int64_t at) const {
    std::int64_t free = rules_.processors;
    for (const Entry& entry : entries_) {
      const bool runs = entry.state == State::kRunning && entry.planned_end > at;
      const bool reserved = entry.state == State::kWaiting && entry.start != kNone &&
                            entry.start <= at && at < entry.start + entry.estimate;
      free -= runs || reserved ? entry.job.processors : 0;
    }
    return free;
  }

  void Start(Entry& entry, std::int64_t now) {
    entry.state = State::kRunning;
    entry.start = now;
    entry.planned_end = now + entry.estimate;
    entry.started = ++starts_;
  }

  void RunCycle(std::int64_t now, bool early, const std::vector<Entry*>& arrived) {
    const bool corrected = rules_.estimates == "user-last-2" && Correct(now);
    rules_.backfill == "conservative" ? Conservative(now, early, corrected, arrived) : Queue(now);
  }

  // Processor-seconds of the user until now, halved each week: the integral, job by job.
  double UsageOf(std::int64_t user, std::int64_t now) const {
    constexpr double kWeek = 7 * 24 * 3600;
    double usage = 0;
    for (const Entry& entry : entries_) {
      if (entry.job.user == user &&
          (entry.state == State::kRunning || entry.state == State::kEnded)) {
        const std::int64_t end = std::min(now, entry.start + entry.job.run);
        usage += static_cast<double>(entry.job.processors) * kWeek / std::log(2.0) *
                 (std::exp2(static_cast<double>(end - now) / kWeek) -
                  std::exp2(static_cast<double>(entry.start - now) / kWeek));
      }
    }
    return std::floor(usage);
  }

  double ScoreOf(const Entry& entry, std::int64_t now) const {
    if (rules_.order == "fairshare") {
      return UsageOf(entry.job.user, now);
    }
    const double r = static_cast<double>(entry.estimate);
    const double n = static_cast<double>(entry.job.processors);
    const double s = static_cast<double>(std::max<std::int64_t>(entry.job.submit, 1));
    const double w = static_cast<double>(now - entry.job.submit);
    const auto rounded = [](double score) { return std::round(score * 1e5) / 1e5; };
    if (rules_.order == "sjf") {
      return r;
    }
    if (rules_.order == "wfp3") {
      return -(w / r) * (w / r) * (w / r) * n;
    }
    if (rules_.order == "unicep") {
      const double score = w == 0 ? 0 : w / (std::log2(n) * r);
      const double unit = score == 0 ? 1 : std::exp2(std::ilogb(score) - 39);
      return std::isfinite(score) ? -std::round(score / unit) * unit : -score;
    }
    if (rules_.order == "f1") {
      return rounded(std::log10(r) * n + 870 * std::log10(s));
    }
    if (rules_.order == "f2") {
      return rounded(std::sqrt(r) * n + 25600 * std::log10(s));
    }
    if (rules_.order == "f3") {
      return rounded(r * n + 6860000 * std::log10(s));
    }
    return rules_.order == "f4" ? rounded(r * std::sqrt(n) + 530000 * std::log10(s)) : 0;
  }

  std::vector<Entry*> Waiting(std::int64_t now) {
    std::vector<std::pair<double, Entry*>> scored;
    for (Entry& entry : entries_) {
      if (entry.state == State::kWaiting) {
        scored.emplace_back(ScoreOf(entry, now), &entry);
      }
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Entry*> waiting;
    for (const auto& [score, entry] : scored) {
      waiting.push_back(entry);
    }
    return waiting;
  }

  void Queue(std::int64_t now) {
    std::vector<Entry*> waiting = Waiting(now);
    while (!waiting.empty() && waiting.front()->job.processors <= FreeAt(now)) {
      Start(*waiting.front(), now);
      waiting.erase(waiting.begin());
    }
    if (waiting.empty() || rules_.backfill != "easy") {
      return;
    }
    const Entry& head = *waiting.front();
    std::int64_t shadow = kNone;
    for (const Entry& entry : entries_) {
      if (entry.state == State::kRunning && entry.planned_end > now &&
          FreeAt(entry.planned_end) >= head.job.processors) {
        shadow = std::min(shadow, entry.planned_end);
      }
    }
    std::int64_t extra = FreeAt(shadow) - head.job.processors;
    waiting.erase(waiting.begin());
    if (rules_.shortest_first) {
      std::stable_sort(waiting.begin(), waiting.end(), [](const Entry* a, const Entry* b) {
        return a->estimate != b->estimate       ? a->estimate < b->estimate
               : a->job.submit != b->job.submit ? a->job.submit < b->job.submit
                                                : a->job.id < b->job.id;
      });
    }
    for (Entry* entry : waiting) {
      const std::int64_t wanted = entry->job.processors;
      const bool in_time = now + entry->estimate <= shadow;
      if (wanted <= FreeAt(now) && (in_time || wanted <= extra)) {
        extra -= in_time ? 0 : wanted;
        Start(*entry, now);
      }
    }
  }

  // The earliest start from `now` on: now, or where something ends or is reserved to end.
  std::int64_t EarliestStart(const Entry& wanted, std::int64_t now) const {
    std::vector<std::int64_t> changes = {now};
    for (const Entry& entry : entries_) {
      if (entry.state == State::kRunning) {
        changes.push_back(entry.planned_end);
      } else if (entry.state == State::kWaiting && entry.start != kNone) {
        changes.push_back(entry.start);
        changes.push_back(entry.start + entry.estimate);
      }
    }
    std::sort(changes.begin(), changes.end());
    for (const std::int64_t start : changes) {
      const auto blocks = [&](std::int64_t at) {
        return at >= start && at < start + wanted.estimate && FreeAt(at) < wanted.job.processors;
      };
      if (start >= now && std::none_of(changes.begin(), changes.end(), blocks)) {
        return start;
      }
    }
    return kNone;
  }

  void Conservative(std::int64_t now, bool early, bool corrected,
                    const std::vector<Entry*>& arrived) {
    const std::vector<Entry*> waiting = Waiting(now);
    const auto is_new = [&arrived](Entry* entry) {
      return std::find(arrived.begin(), arrived.end(), entry) != arrived.end();
    };
    for (Entry* entry : waiting) {
      entry->start = corrected ? kNone : entry->start;
    }
    for (Entry* entry : waiting) {
      if ((early || corrected) && !is_new(entry)) {
        entry->start = kNone;
        entry->start = EarliestStart(*entry, now);
      }
    }
    for (Entry* entry : arrived) {
      entry->start = EarliestStart(*entry, now);
    }
    for (Entry* entry : waiting) {
      if (entry->start == now) {
        Start(*entry, now);
      }
    }
  }

  OracleRules rules_;
  std::vector<Entry> entries_;
  std::map<std::int64_t, std::vector<std::int64_t>> history_;
  std::size_t starts_ = 0;
};

}  // namespace

std::map<std::int64_t, std::int64_t> OracleStarts(const std::vector<OracleJob>& jobs,
                                                  const OracleRules& rules) {
  return Oracle(jobs, rules).Run();
}

}  // namespace muster::sim::oracle
