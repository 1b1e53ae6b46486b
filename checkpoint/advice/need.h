#pragma once

// Whether a checkpoint is needed now, and whether one that is done on the node is to be copied:
// pure decisions on the pace so far and the scheduler's hints.
//
// Times are seconds. Invariants: a notice is answered by one checkpoint, not by one after another;
// nothing is asked for that would not be done before the deadline.

#include <cstdint>

#include "checkpoint/advice/hints.h"

namespace muster::checkpoint {

// The numbers are those of the C interface.
enum class Need : int {
  kNone = 0,
  kInterval = 1,    // the interval is over
  kPreemption = 2,  // another job wants the place
  kDrain = 3,       // the node goes out of service
  kResize = 4,      // the job gets more or fewer nodes
  kTimeLimit = 5,   // the job's time is nearly over
};

struct Pace {
  double since_last_s = 0;            // since the end of the last checkpoint, or the start
  double cost_s = 0;                  // of a checkpoint, the mean measured; 0: none yet
  std::uint32_t answered_notice = 0;  // the number of the notice last answered by a checkpoint
  double interval_s = 0;              // the program's own wish; a hint overrides it; 0: none
  bool deadline_answered = false;     // the last checkpoint was one for the deadline
};

// A notice that was not answered; else the deadline, when so little is left that a checkpoint that
// began after another interval of its own cost might be late; else the interval, which waits for
// its write slot for one interval more at most.
Need Decide(const Hints& hints, const Pace& pace, double unix_now_s);

// One that was committed on the node, before it is copied anywhere.
struct Committed {
  std::uint64_t since_copy = 1;  // of those after the newest that is copied, itself among them
  bool answers = false;          // a notice, or the deadline
  double cost_s = 0;             // of a checkpoint
};

// Whether it is copied to the shared directory: of those for the interval each copy_every-th, and
// each that answers, or after which so little time is left that there may be no other.
bool IsCopied(const Hints& hints, const Committed& committed, double unix_now_s);

// The rule of SCR's SCR_Need_checkpoint (A. Moody et al., SC 2010; scr.c of release 3): each limit
// that is not 0 counts.
struct ScrLimits {
  std::uint64_t every_calls = 0;
  std::uint64_t every_seconds = 0;
  double overhead_percent = 0;  // of checkpoints in all time
};

// `call` counts from 1; `cost_s` is the mean cost so far, negative before the first checkpoint.
bool NeedByScr(const ScrLimits& limits, std::uint64_t call, double since_last_s, double cost_s);

}  // namespace muster::checkpoint
