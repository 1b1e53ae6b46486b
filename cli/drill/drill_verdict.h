#pragma once

// What a drill found, and whether it proves that the job can go on from its checkpoint.
//
// Pure. Invariant: `kRecovered` is said only of a drill that came back from the checkpoint and then
// went on: to a checkpoint of its own, or to its end.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/drill/generation_print.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/curve.h"

namespace muster::cli {

// A number that both jobs reported (muster report).
struct DrillValue {
  std::string name;
  double original = 0;
  double drill = 0;
};

// How a job ended; an empty state: it has not.
struct DrillEnd {
  std::string state;
  ExitStatus exit;
};

struct DrillFacts {
  std::string original;  // "12_3"
  std::string drill;     // "15_3"; empty: none was submitted
  std::string name;      // of the original

  // The checkpoint.
  std::string directory;
  std::uint64_t generation = 0;
  Time written = kNoTime;
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
  std::string fault;                      // why it is not whole
  std::optional<std::uint64_t> fallback;  // a restart would go back to this one
  std::string copy;                       // of which the drill's directory is kept; empty: not

  // The drill's life.
  Time submitted = kNoTime;  // when it was let go
  Time started = kNoTime;
  Duration restart{0};              // from its start until it was back; 0: it restored nothing
  Time first_checkpoint = kNoTime;  // of its own
  std::string waits_for;            // while it waits
  DrillEnd end;                     // by itself
  DrillEnd original_end;
  bool interrupted = false;
  bool touched = false;  // it wrote into the original's directory
  Duration timeout{0};

  Duration lost{0};  // work since the checkpoint, when the drill was submitted
  StateComparison states;
  std::vector<DrillValue> values;
  std::vector<std::string> last_lines;  // of its output, where it failed
};

enum class DrillOutcome { kRecovered, kFailed, kNotProven };

struct DrillVerdict {
  DrillOutcome outcome = DrillOutcome::kNotProven;
  std::string text;  // one sentence, without the outcome
};

const char* NameOf(DrillOutcome outcome);

// `exact`: a state that was not compared, or differs, is a failure.
DrillVerdict JudgeDrill(const DrillFacts& facts, bool exact);

// From its being let go until it worked again; nothing: it did not, or restored nothing.
std::optional<Duration> TimeToWork(const DrillFacts& facts);

// "equal at generation 35: 4 regions of 2 ranks"; why it was not compared.
std::string StateText(const DrillFacts& facts);

// "FAILED (exit code 2)".
std::string EndText(const DrillEnd& end);

// Of each name that both have, what each said last until `original_at` and `drill_at`; kNoTime: at
// all.
std::vector<DrillValue> ValuesBeside(const JobCurve& original, Time original_at,
                                     const JobCurve& drill, Time drill_at);

}  // namespace muster::cli
