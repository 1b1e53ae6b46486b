#include "cli/drill/drill_verdict.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/page/quantity.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

bool HasEnded(const DrillEnd& end) {
  return !end.state.empty();
}

// Ended well, or as the original did.
bool EndedWell(const DrillFacts& facts) {
  return HasEnded(facts.end) &&
         (IsSuccess(facts.end.state) || (facts.end.state == facts.original_end.state &&
                                         facts.end.exit == facts.original_end.exit));
}

std::string From(const DrillFacts& facts) {
  return absl::StrCat("generation ", facts.generation);
}

DrillVerdict Failed(std::string text) {
  return {DrillOutcome::kFailed, std::move(text)};
}

DrillVerdict NotProven(std::string text) {
  return {DrillOutcome::kNotProven, std::move(text)};
}

DrillVerdict OfDamage(const DrillFacts& facts) {
  return Failed(
      absl::StrCat(From(facts), " is damaged: ", facts.fault, "; ",
                   facts.fallback.has_value()
                       ? absl::StrCat("a restart would go back to generation ", *facts.fallback)
                       : "a restart would begin from the beginning: no other generation is whole"));
}

DrillVerdict OfBadEnd(const DrillFacts& facts) {
  const std::string end = absl::StrCat("the drill ended ", EndText(facts.end));
  if (facts.started == kNoTime) {
    return NotProven(absl::StrCat(end, " before it started"));
  }
  if (facts.first_checkpoint != kNoTime) {
    return Failed(absl::StrCat(end, " after its first checkpoint"));
  }
  return Failed(absl::StrCat(end, facts.restart > Duration(0)
                                      ? absl::StrCat(" after it had restored ", From(facts))
                                      : absl::StrCat(" without having restored ", From(facts))));
}

DrillVerdict OfStandstill(const DrillFacts& facts) {
  const std::string within = absl::StrCat(" within ", RoughText(facts.timeout));
  if (facts.started == kNoTime) {
    return NotProven(absl::StrCat("the drill did not start", within, ": ",
                                  facts.waits_for.empty() ? "it waits" : facts.waits_for,
                                  "; give it more: --timeout"));
  }
  return facts.restart > Duration(0) ? NotProven(absl::StrCat("the drill restored ", From(facts),
                                                              ", but made no checkpoint", within,
                                                              "; give it more: --timeout"))
                                     : NotProven(absl::StrCat("the drill restored no checkpoint",
                                                              within, "; give it more: --timeout"));
}

DrillVerdict OfState(const DrillFacts& facts, bool exact) {
  const bool equal = facts.states.match == StateMatch::kEqual;
  if (exact && !equal) {
    return Failed(absl::StrCat("it goes on from ", From(facts), ", but --exact: its state is ",
                               StateText(facts)));
  }
  std::string text = absl::StrCat("job ", facts.original, " goes on from ", From(facts));
  if (equal) {
    absl::StrAppend(&text, ", and its state is the same at generation ", facts.states.generation);
  } else if (facts.states.match == StateMatch::kDiffers) {
    absl::StrAppend(&text, "; its state differs at generation ", facts.states.generation,
                    ", as that of a program that is not deterministic may");
  } else {
    absl::StrAppend(&text, "; its state was not compared");
  }
  return {DrillOutcome::kRecovered, std::move(text)};
}

// What was said last until `at`.
double ValueAt(const ReportedCurve& curve, Time at) {
  double value = curve.last;
  if (at != kNoTime && at < curve.time) {
    for (const ReportedPoint& point : curve.points) {
      if (point.start <= at) {
        value = point.last;
      }
    }
  }
  return value;
}

}  // namespace

const char* NameOf(DrillOutcome outcome) {
  switch (outcome) {
    case DrillOutcome::kRecovered:
      return "recovered";
    case DrillOutcome::kFailed:
      return "failed";
    case DrillOutcome::kNotProven:
      return "not proven";
  }
  return "unknown";
}

DrillVerdict JudgeDrill(const DrillFacts& facts, bool exact) {
  if (!facts.fault.empty()) {
    return OfDamage(facts);
  }
  if (facts.touched) {
    return Failed(absl::StrCat("the drill wrote into ", facts.directory,
                               ": its program names that directory itself"));
  }
  if (HasEnded(facts.end) && !EndedWell(facts)) {
    return OfBadEnd(facts);
  }
  const bool went_on = facts.first_checkpoint != kNoTime || HasEnded(facts.end);
  if (went_on && facts.restart == Duration(0)) {
    return Failed("the drill started from the beginning: it restored no checkpoint");
  }
  if (went_on) {
    return OfState(facts, exact);
  }
  return facts.interrupted ? NotProven("the drill was interrupted") : OfStandstill(facts);
}

std::optional<Duration> TimeToWork(const DrillFacts& facts) {
  if (facts.submitted == kNoTime || facts.started == kNoTime || facts.restart == Duration(0)) {
    return std::nullopt;
  }
  return std::max(facts.started - facts.submitted, Duration(0)) + facts.restart;
}

std::string StateText(const DrillFacts& facts) {
  const StateComparison& states = facts.states;
  const std::string where = absl::StrCat(" at generation ", states.generation, ": ");
  switch (states.match) {
    case StateMatch::kEqual:
      return absl::StrCat("equal", where, Counted(states.regions, "region"), " of ",
                          Counted(states.original_ranks, "rank"));
    case StateMatch::kDiffers: {
      const RegionPrint& first = states.differing.front();
      return absl::StrCat("differs", where, states.differing.size(), " of ",
                          Counted(states.regions, "region"), ", the first is ", first.name,
                          " of rank ", first.rank);
    }
    case StateMatch::kOtherRanks:
      return absl::StrCat("not compared", where, Counted(states.original_ranks, "rank"),
                          " wrote the original's, ", states.drill_ranks, " the drill's");
    case StateMatch::kNotCompared:
      break;
  }
  return HasEnded(facts.original_end)
             ? absl::StrCat("not compared: job ", facts.original, " has no later checkpoint")
             : "not compared: there is no later checkpoint of both with one number";
}

std::string EndText(const DrillEnd& end) {
  return IsSuccess(end.state) ? end.state : absl::StrCat(end.state, " (", ExitText(end.exit), ")");
}

std::vector<DrillValue> ValuesBeside(const JobCurve& original, Time original_at,
                                     const JobCurve& drill, Time drill_at) {
  std::vector<DrillValue> values;
  for (const ReportedCurve& curve : original.reported) {
    const auto found =
        std::find_if(drill.reported.begin(), drill.reported.end(),
                     [&curve](const ReportedCurve& other) { return other.name == curve.name; });
    if (found != drill.reported.end()) {
      values.push_back({curve.name, ValueAt(curve, original_at), ValueAt(*found, drill_at)});
    }
  }
  return values;
}

}  // namespace muster::cli
