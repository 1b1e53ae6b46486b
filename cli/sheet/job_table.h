#pragma once

// Many jobs, one line each: what queue and history print.
//
// Pure. Invariants: jobs keep the order in which they came; folding loses no element: the waiting
// ones of an array stand in one line, "12_[3-99]", under the first one's reason, those that are
// held in a line of their own. A view of many single jobs is one line, "[101-10100]".

#include <cstdint>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/page/table.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct TableChoice {
  bool header = true;
  bool fold = true;    // queue: waiting elements of one array in one line
  bool start = false;  // queue: a column for when each is expected to start
};

// A line of the queue: a job, and the elements of its array for which it stands, if for several.
struct QueueLine {
  const JobView* job = nullptr;
  std::vector<std::uint64_t> elements;
};
// `jobs` must outlive the lines; `fold` as in TableChoice.
std::vector<QueueLine> FoldQueue(const std::vector<JobView>& jobs, bool fold);

std::string PrintQueue(const std::vector<JobView>& jobs, TableChoice choice, Time now,
                       const Style& style);

// The same, a piece after the other.
class QueuePages {
 public:
  // `priorities`: whether there is a column for them.
  QueuePages(TableChoice choice, bool priorities, Time now, Style style);

  std::string Next(const std::vector<JobView>& jobs);

 private:
  const TableChoice choice_;
  const bool priorities_;
  const Time now_;
  const Style style_;
  Table table_;
};
std::string PrintHistory(const std::vector<JobView>& jobs, TableChoice choice, const Style& style);

// The short form of a state's name: "PD"; a name that is not known as it is.
std::string StateCode(const std::string& state);
// Green for what goes well, yellow for what waits, red for what went wrong.
Paint StatePaint(const std::string& state);
// How long the job has run, or ran; zero before it started.
Duration Elapsed(const JobView& job, Time now);

}  // namespace muster::cli
