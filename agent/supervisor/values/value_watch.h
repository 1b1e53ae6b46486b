#pragma once

// What the attempt's programs say of their progress, and what is wrong with it: a value that is no
// number, a spike, throughput that dropped.
//
// A spike is looked for in what should go down smoothly: names with "loss", "norm" or "perplexity";
// a drop in names that end in "/s", "_per_s", "_per_second" or "throughput", and in how fast
// "step", "global_step" and "iteration" rise. Each is compared with the median of the last values
// of its name. Of each teller, a rank or a process, the newest such counter is kept, too, which
// says how fast it is beside others. Thread promise: one owner. Invariants: (1) at most kValuesMax
// names are known, and of each kWindow values; (2) a finding stands as long as it is so, one of a
// moment for kKept.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/reported_values.h"
#include "scheduler/base/text/named_values.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

class ValueWatch {
 public:
  static constexpr std::size_t kValuesMax = 32;
  static constexpr std::size_t kWindow = 32;
  static constexpr std::size_t kWindowLeast = 8;  // before which nothing is compared
  static constexpr double kSpike = 3;             // times the median
  static constexpr double kDrop = 0.5;            // of the median
  static constexpr int kDropsLeast = 3;           // in a row
  static constexpr std::chrono::minutes kKept{10};
  static constexpr std::size_t kMarksMax = 512;

  // Said at `now` by that process (0: it is not known by which), or for the rank that the values
  // name (kTellersStep, kTellersRank), which are no values themselves. A name beyond kValuesMax is
  // left out; of more than kMarksMax tellers those that said a step longest ago are.
  void Take(const std::vector<NamedValue>& values, Time now, pid_t who = 0);
  // What there is to tell.
  [[nodiscard]] ReportedValues Now(Time now) const;

 private:
  struct Rate {
    std::deque<double> window;
    int low = 0;  // in a row
    double last = 0;
    double usual = 0;      // the median before it dropped
    Time since = kNoTime;  // of the drop
  };
  struct Known {
    ReportedValue value;
    std::deque<double> window;    // finite ones
    Time not_a_number = kNoTime;  // since when
    Time number_again = kNoTime;
    Time spike = kNoTime;
    double spike_value = 0;
    double spike_usual = 0;
    Rate rate;
  };

  static void TakeNumber(const std::string& name, double value, Time now, Known& known);
  static void TakeRate(double rate, Time now, Rate& known);
  static void Tell(const std::string& name, const Known& known, Time now, ReportedValues& told);

  void TakeMark(double step, Time now, const Teller& who);

  std::map<std::string, Known> known_;
  std::map<Teller, ReportedMark> marks_;
};

}  // namespace muster::agent
