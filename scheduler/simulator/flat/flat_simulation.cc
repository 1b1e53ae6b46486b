#include "scheduler/simulator/flat/flat_simulation.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/prompt/run_time_estimates.h"
#include "scheduler/core/prompt/run_time_prediction.h"
#include "scheduler/model/value/value_bytes.h"
#include "scheduler/simulator/flat/flat_queue.h"
#include "scheduler/simulator/flat/processor_map.h"
#include "scheduler/simulator/flat/queue_choice.h"

namespace muster::sim {
namespace {

constexpr std::uint64_t kInstantsBetweenQuestions = 4096;

const char* Name(FlatCause cause) {
  switch (cause) {
    case FlatCause::kHead:
      return "head";
    case FlatCause::kBackfilled:
      return "backfilled";
    case FlatCause::kReserved:
      return "reserved";
  }
  return "";
}

// The result of a cycle.
struct FlatDecision {
  Tick now = 0;
  std::vector<FlatStart> starts;
  static constexpr auto Fields(auto list) {
    return list(Field{"now", &FlatDecision::now}, Field{"starts", &FlatDecision::starts});
  }
};

absl::Status NotOurs(const DecisionLog& log) {
  return absl::DataLossError(absl::StrCat(
      log.path(), ": its decisions do not fit this simulation: begin again with --checkpoint"));
}

class FlatSimulation {
 public:
  FlatSimulation(const FlatRun& run, std::int64_t processors, Arrivals arrivals,
                 FlatObserver& observer)
      : run_(run),
        observer_(observer),
        arrivals_(std::move(arrivals)),
        queue_(MakeFlatQueue(run.policy, processors, -1)),
        map_(processors) {
    result_.processors = processors;
  }

  absl::StatusOr<FlatResult> Run();

 private:
  // A job from its arrival to its end, by handle.
  struct Live {
    TraceJob job;
    Tick start = 0;
    FlatCause cause = FlatCause::kHead;
    Tick promised = kNever;
    core::RunTimeEstimate learned;  // where it is asked for
    ProcessorRanges processors;
  };
  using Ending = std::tuple<Tick, std::uint64_t, std::uint32_t>;  // end, number of start, handle

  absl::StatusOr<bool> RunInstant();
  absl::Status RunEndsFirst(Tick now);
  absl::Status RunSubmitFirst(Tick now);
  absl::Status Arrive(const TraceJob& job);
  absl::Status EndNext(Tick now);
  absl::Status RunCycle(Tick now);
  absl::StatusOr<const std::vector<FlatStart>*> Decide(Tick now);
  absl::Status LookAhead();
  absl::Status KeepDecisions(bool stopped);
  void PlaceStarted();
  [[nodiscard]] Tick EstimateOf(const Live& live) const;
  [[nodiscard]] static core::JobLikeness LikenessOf(const TraceJob& job) {
    return {job.user, job.requested_time, job.processors};
  }
  void LearnFrom(const Live& live);
  [[nodiscard]] bool EndsAt(Tick now) const {
    return !endings_.empty() && std::get<0>(endings_.top()) == now;
  }
  void FillRow(const Live& live);
  void Report(FlatProgress* progress) const;

  const FlatRun& run_;
  FlatObserver& observer_;
  Arrivals arrivals_;
  std::unique_ptr<FlatQueue> queue_;
  ProcessorMap map_;
  core::LastTwoPrediction predictions_;
  core::RunTimeEstimates learned_;
  std::vector<Live> live_;
  std::vector<std::uint32_t> released_;  // handles of jobs that have ended since the last cycle
  std::vector<std::uint32_t> unused_;    // handles that a cycle knows
  std::vector<std::uint32_t> started_;   // at this instant: they get processors when it is over
  std::vector<ProcessorRanges> ended_;   // at this instant
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::uint64_t starts_ = 0;
  bool follows_ = false;  // the decisions of an earlier run; the queue is told nothing meanwhile
  FlatDecision known_;    // of these, the one that was taken last
  FlatDecision ahead_;    // and the next; none where the log knows no more
  ScheduleRow row_;
  FlatResult result_;
};

Tick FlatSimulation::EstimateOf(const Live& live) const {
  const TraceJob& job = live.job;
  switch (run_.estimates) {
    case Estimates::kRequested:
      return job.requested_time;
    case Estimates::kExact:
      return job.run_time;
    case Estimates::kDouble:
      return 2 * job.requested_time;
    case Estimates::kLastTwo:
      return job.user < 0 ? job.requested_time : predictions_.Predict(job.user, job.requested_time);
    case Estimates::kLearned:
      return live.learned.used;
  }
  return job.requested_time;
}

absl::Status FlatSimulation::Arrive(const TraceJob& job) {
  std::uint32_t handle = 0;
  if (unused_.empty()) {
    handle = static_cast<std::uint32_t>(live_.size());
    live_.emplace_back();
  } else {
    handle = unused_.back();
    unused_.pop_back();
  }
  live_[handle].job = job;
  if (run_.estimates == Estimates::kLearned) {
    live_[handle].learned = learned_.Estimate(LikenessOf(job));
  }
  ++result_.jobs;
  arrivals_.Pop();
  if (follows_) {
    return absl::OkStatus();
  }
  const TraceJob& arrived = live_[handle].job;
  queue_->Arrive({.handle = handle,
                  .processors = arrived.processors,
                  .submit = arrived.submit,
                  .estimate = EstimateOf(live_[handle]),
                  .limit = arrived.requested_time,
                  .user = arrived.user});
  return absl::OkStatus();
}

absl::Status FlatSimulation::EndNext(Tick now) {
  const std::uint32_t handle = std::get<2>(endings_.top());
  endings_.pop();
  Live& live = live_[handle];
  if (!follows_) {
    queue_->End(handle);
  }
  MUSTER_CHECK(live.start + live.job.run_time == now);
  LearnFrom(live);
  FillRow(live);
  if (run_.with_processors) {
    ended_.push_back(std::move(live.processors));
    live.processors.clear();
  }
  released_.push_back(handle);
  ++result_.ended;
  return observer_.Ended(row_);
}

void FlatSimulation::LearnFrom(const Live& live) {
  if (run_.estimates == Estimates::kLastTwo && live.job.user >= 0) {
    predictions_.Observe(live.job.user, live.job.run_time);
  } else if (run_.estimates == Estimates::kLearned) {
    learned_.Observe(LikenessOf(live.job), live.learned, live.job.run_time);
  }
}

void FlatSimulation::FillRow(const Live& live) {
  row_.job_id = live.job.id;
  row_.submission_time = live.job.submit;
  row_.requested_resources = live.job.processors;
  row_.requested_time = live.job.requested_time;
  row_.success = !live.job.cut_off;
  row_.starting_time = live.start;
  row_.execution_time = live.job.run_time;
  row_.reason = Name(live.cause);
  row_.user = live.job.user;
  row_.group = live.job.group;
  row_.partition = live.job.partition;
  row_.promised_start = live.promised == kNever ? -1 : live.promised;
  row_.allocated_resources.clear();
  AppendRanges(live.processors, &row_.allocated_resources);
}

// The log's next decision, if it has one.
absl::Status FlatSimulation::LookAhead() {
  ahead_ = FlatDecision{.now = kNever, .starts = {}};
  if (!run_.decisions->knows_more()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string bytes, run_.decisions->Next());
  ValueReader reader(bytes);
  reader.Get(ahead_);
  return reader.AtEnd() ? absl::OkStatus() : NotOurs(*run_.decisions);
}

// What starts: as an earlier run decided, or else as the queue does.
absl::StatusOr<const std::vector<FlatStart>*> FlatSimulation::Decide(Tick now) {
  if (!follows_) {
    const std::vector<FlatStart>& starts = queue_->RunCycle(now);
    if (run_.decisions != nullptr) {
      ValueWriter writer;
      writer.Put(now);
      writer.Put(starts);
      run_.decisions->Add(writer.bytes());
    }
    return &starts;
  }
  if (ahead_.now != now) {
    return NotOurs(*run_.decisions);
  }
  known_ = std::move(ahead_);
  RETURN_IF_ERROR(LookAhead());
  return &known_.starts;
}

// Between two instants: what is decided goes to the log, and after its last known decision the
// queue goes on as it was then.
absl::Status FlatSimulation::KeepDecisions(bool stopped) {
  DecisionLog* log = run_.decisions;
  if (log == nullptr || (follows_ && ahead_.now != kNever)) {
    return absl::OkStatus();
  }
  if (follows_) {
    follows_ = false;
    return queue_->Load(log->state(), result_.now) ? absl::OkStatus() : NotOurs(*log);
  }
  return stopped || log->WantsState() ? log->AddState(queue_->Save()) : absl::OkStatus();
}

absl::Status FlatSimulation::RunCycle(Tick now) {
  ASSIGN_OR_RETURN(const std::vector<FlatStart>* starts, Decide(now));
  unused_.insert(unused_.end(), released_.begin(), released_.end());
  released_.clear();
  for (const FlatStart& start : *starts) {
    if (start.handle >= live_.size()) {
      return NotOurs(*run_.decisions);
    }
    Live& live = live_[start.handle];
    live.start = now;
    live.cause = start.cause;
    live.promised = start.promised;
    endings_.emplace(now + live.job.run_time, ++starts_, start.handle);
    if (run_.with_processors) {
      started_.push_back(start.handle);
    }
  }
  return absl::OkStatus();
}

// At one instant a job may start, in the books, before the one whose processors it gets has ended.
void FlatSimulation::PlaceStarted() {
  for (const ProcessorRanges& ranges : ended_) {
    map_.Give(ranges);
  }
  ended_.clear();
  for (const std::uint32_t handle : started_) {
    live_[handle].processors = map_.Take(live_[handle].job.processors);
  }
  started_.clear();
}

absl::Status FlatSimulation::RunEndsFirst(Tick now) {
  while (EndsAt(now)) {
    RETURN_IF_ERROR(EndNext(now));
  }
  for (;;) {
    ASSIGN_OR_RETURN(const TraceJob* job, arrivals_.Peek());
    if (job == nullptr || job->submit != now) {
      break;
    }
    RETURN_IF_ERROR(Arrive(*job));
  }
  return RunCycle(now);
}

absl::Status FlatSimulation::RunSubmitFirst(Tick now) {
  bool passed = false;
  for (;; passed = true) {
    ASSIGN_OR_RETURN(const TraceJob* job, arrivals_.Peek());
    if (job == nullptr || job->submit != now) {
      break;
    }
    RETURN_IF_ERROR(Arrive(*job));
    RETURN_IF_ERROR(RunCycle(now));
  }
  for (; EndsAt(now); passed = true) {
    RETURN_IF_ERROR(EndNext(now));
    RETURN_IF_ERROR(RunCycle(now));
  }
  return passed ? absl::OkStatus() : RunCycle(now);
}

// The next moment at which anything happens; false when nothing will.
absl::StatusOr<bool> FlatSimulation::RunInstant() {
  ASSIGN_OR_RETURN(const TraceJob* job, arrivals_.Peek());
  Tick now = follows_ ? ahead_.now : queue_->NextWake();
  now = job == nullptr ? now : std::min(now, job->submit);
  now = endings_.empty() ? now : std::min(now, std::get<0>(endings_.top()));
  if (now == kNever) {
    MUSTER_CHECK(result_.jobs == starts_);
    return false;
  }
  result_.now = now;
  RETURN_IF_ERROR(run_.instant == InstantOrder::kEndsFirst ? RunEndsFirst(now)
                                                           : RunSubmitFirst(now));
  if (run_.with_processors) {
    PlaceStarted();
  }
  result_.longest_queue = std::max(result_.longest_queue, result_.jobs - starts_);
  RETURN_IF_ERROR(KeepDecisions(false));
  return true;
}

void FlatSimulation::Report(FlatProgress* progress) const {
  const ByteSource& source = arrivals_.reader().source();
  *progress = {.bytes = source.consumed(),
               .bytes_in_all = source.file_size(),
               .arrived = result_.jobs,
               .ended = result_.ended,
               .now = result_.now};
}

absl::StatusOr<FlatResult> FlatSimulation::Run() {
  RETURN_IF_ERROR(observer_.Begin(result_.processors));
  if (run_.decisions != nullptr) {
    follows_ = run_.decisions->knows_more();
    RETURN_IF_ERROR(LookAhead());
  }
  for (std::uint64_t instants = 1;; ++instants) {
    ASSIGN_OR_RETURN(const bool more, RunInstant());
    if (!more) {
      break;
    }
    if (instants % kInstantsBetweenQuestions == 0) {
      FlatProgress progress;
      Report(&progress);
      if (!observer_.KeepGoing(progress)) {
        result_.complete = false;
        break;
      }
    }
  }
  RETURN_IF_ERROR(KeepDecisions(true));
  result_.records = arrivals_.reader().records();
  result_.dropped = arrivals_.dropped();
  result_.skipped = arrivals_.reader().skipped();
  result_.unix_start = arrivals_.reader().header().unix_start;
  result_.names = arrivals_.reader().names();
  return result_;
}

absl::Status EmptyTrace(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": the trace is empty: name one that has records"));
}

absl::StatusOr<std::int64_t> ProcessorsOf(const FlatRun& run, const TraceReader& reader) {
  if (run.processors != 0) {
    return run.processors;
  }
  const TraceHeader& header = reader.header();
  if (header.max_procs.value_or(0) > 0 && *header.max_procs <= kProcessorsMax) {
    return *header.max_procs;
  }
  if (reader.records() == 0) {
    return EmptyTrace(run.trace);
  }
  const std::string nodes =
      header.max_nodes.has_value() ? absl::StrCat(" (MaxNodes is ", *header.max_nodes, ")") : "";
  return absl::FailedPreconditionError(
      absl::StrCat(run.trace, ": the header does not say the number of processors", nodes,
                   ": say how many with --flat P"));
}

absl::StatusOr<FlatResult> RunOnce(const FlatRun& run, FlatObserver& observer, bool sorted) {
  ASSIGN_OR_RETURN(
      OpenedTrace trace,
      OpenTrace(
          {.path = run.trace, .format = run.format, .unit = run.unit, .lenient = run.lenient}));
  ASSIGN_OR_RETURN(const std::int64_t processors, ProcessorsOf(run, *trace.reader));
  const bool file_order =
      run.instant == InstantOrder::kSubmitFirst || run.filter == RecordFilter::kSc15;
  Arrivals arrivals(
      std::move(trace.reader),
      {.processors = processors, .filter = run.filter, .file_order = file_order, .sorted = sorted});
  if (run.decisions != nullptr) {
    RETURN_IF_ERROR(run.decisions->Begin(sorted));
  }
  return FlatSimulation(run, processors, std::move(arrivals), observer).Run();
}

}  // namespace

absl::StatusOr<FlatResult> SimulateFlat(const FlatRun& run, FlatObserver& observer) {
  const bool known_as_sorted = run.decisions != nullptr && run.decisions->sorted();
  absl::StatusOr<FlatResult> result = RunOnce(run, observer, known_as_sorted);
  if (absl::IsAborted(result.status())) {
    result = RunOnce(run, observer, true);
  }
  RETURN_IF_ERROR(result.status());
  if (result->records == 0) {
    return EmptyTrace(run.trace);
  }
  if (result->jobs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(run.trace, ": none of the ", result->records, " records can be run (",
                     result->skipped.lines, " broken, ", result->dropped.total(), " dropped, ",
                     result->dropped.too_large, " of them larger than ", result->processors,
                     " processors): see muster trace info --lenient"));
  }
  return result;
}

const char* FlatSemantics() {
  return "What is simulated, exactly (--flat: P identical processors):\n"
         "  Times are whole seconds. A job holds its processors during [start, start + run time);\n"
         "  run time = min(actual, requested time); processors = requested if given, else\n"
         "  allocated; estimate = requested time if given, else actual. Records with run time or\n"
         "  processors <= 0, or more than P, are dropped and counted. Jobs go in order of "
         "(submit,\n"
         "  job id). At one instant: all ends, then all arrivals to the tail of the queue in id\n"
         "  order, then one cycle.\n"
         "  fcfs: heads start while they fit.\n"
         "  easy: heads as fcfs. Then shadow = the earliest time with enough free processors for\n"
         "    the head if running jobs (those just started included) end at start + estimate (all\n"
         "    estimated ends <= shadow count as ended), extra = free then - the head's; each "
         "other\n"
         "    job once, in queue order, starts if its processors <= free and (now + estimate <=\n"
         "    shadow, or processors <= extra, which then shrinks by them). Nothing is kept "
         "between\n"
         "    cycles. easy-sjbf: the others in order of estimate, ties to the earlier arrival.\n"
         "  conservative: a reservation on arrival, at the earliest start in the profile. At an\n"
         "    instant with an early end every queued job, in queue order, is taken out and put\n"
         "    back as early as possible; then arrivals; jobs reserved at now start. A reservation\n"
         "    that falls due is an instant of its own.\n"
         "  sjf, wfp3, unicep, f1, f2, f3, f4: as fcfs (or, with --backfill easy, as easy), the\n"
         "    queue in order of a score, smallest first, ties to the earlier arrival. With r the\n"
         "    estimate, n processors, s = max(1, submit), w the wait: sjf r; wfp3 -(w/r)^3 n;\n"
         "    unicep -w/(log2(n) r); f1 log10(r) n + 870 log10(s); f2 sqrt(r) n + 25600 log10(s);\n"
         "    f3 r n + 6860000 log10(s); f4 r sqrt(n) + 530000 log10(s).\n"
         "  fairshare: the same, the score the user's processor-seconds up to now, of which half\n"
         "    counts after each 7 days (the integral, exactly), rounded down to whole ones; jobs\n"
         "    without a user share one.\n"
         "  prompt: a job's key is submission + 10 x estimate (not rounded), smallest first, ties "
         "to\n"
         "    the earlier arrival. On arrival it is promised a latest start: the later of the\n"
         "    earliest place beside all that is kept and (unless that is now) of the time to work\n"
         "    off the limits of all that wait and run, + 12 h; a place is kept for it, by its "
         "limit,\n"
         "    as late as that allows (ends rounded up, from 128 s off, to powers of two of at most "
         "a\n"
         "    64th of the distance). A cycle: kept places that are due start; then who has waited\n"
         "    for 16 h + half the time to work off the estimates of all that wait and run, in "
         "order\n"
         "    of arrival, then all by key, start if they fit beside all that is kept for others.\n"
         "    The first of them with too few free processors (or whose patience is over) gets the\n"
         "    earliest place instead of its late one, until another is first; if its patience is\n"
         "    over that is its promise from now on. Where places of others keep it from the\n"
         "    earliest start that running jobs allow, or the first of all from one now, those "
         "that\n"
         "    meet it are moved, the latest promise first, each as late as its promise allows; "
         "not\n"
         "    at all where one cannot be, more than 256 places end later, or more than 4096 jobs\n"
         "    wait. Where nothing ended since all were looked at,\n"
         "    only newcomers are. Estimates are learned unless --estimates says otherwise.\n"
         "  --instant submit-first: at one instant arrivals (in file order), then ends (in order\n"
         "    of start), each alone, a cycle after each; a running job whose estimated end is now\n"
         "    counts as free already.\n"
         "  --filter sc15: drop allocated or requested > P; copy one of them to the other if only\n"
         "    one is > 0, drop if none; drop run time <= 0; drop requested time <= 0; run time =\n"
         "    min(actual, requested); drop submit < 0. File order is kept.\n"
         "  --estimates exact: the run time; x2: twice the requested time; user-last-2: the mean\n"
         "    of the run times of the user's two jobs that ended last, at most the requested time\n"
         "    (which stands in where there are fewer than two); a job that outlives it is given 1\n"
         "    min more, then 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h, seen at the next "
         "instant.\n"
         "    learned: the 70 % quantile of the last 12 run times of the user's jobs of the same\n"
         "    limit and processors (at least 2), else of the same limit, else of his part of the\n"
         "    limit (at least 3) times the limit, else the limit; and the limit while his guesses\n"
         "    have been further off, in doublings, than his limits (credit and debt up to 8, a "
         "job\n"
         "    counts up to 4); corrected in the same way.\n";
}

}  // namespace muster::sim
