#include "cli/scale/scale_runs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cli/controller/connection.h"
#include "cli/controller/controller.h"
#include "cli/parse/number.h"
#include "cli/request/step_request.h"
#include "cli/run/cmd_run.h"
#include "cli/scale/measured_output.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kRepeatMost = 1000;
constexpr std::chrono::milliseconds kStepPatience{10'000};  // for the controller's word on its end
constexpr std::chrono::milliseconds kStepPause{20};

absl::StatusOr<int> ReadCount(const Invocation& invocation, const std::string& name,
                              std::uint32_t least, std::uint32_t most) {
  const std::string text = invocation.Value(name);
  const absl::StatusOr<std::uint32_t> count = ParseCount(text, most);
  if (!count.ok() || *count < least) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", name, ": ", Quote(text), " is not a whole number from ", least, " to ", most));
  }
  return static_cast<int>(*count);
}

// Of the job that we are in, as many as it has tasks; elsewhere there is no such number.
absl::StatusOr<int> ReadMax(const Invocation& invocation, bool gpus) {
  if (invocation.Has("max")) {
    return ReadCount(invocation, "max", 2, kCountMax);
  }
  const absl::StatusOr<std::uint32_t> tasks =
      ParseCount(invocation.environment.Get("MUSTER_NTASKS"));
  if (gpus || !invocation.environment.Has("MUSTER_JOB_ID") || !tasks.ok() || *tasks < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--max: say up to how many ", gpus ? "GPUs" : "ranks", " it is to be run, like --max=8"));
  }
  return static_cast<int>(*tasks);
}

std::string SizeText(const ScalingRequest& request, int n) {
  return Counted(static_cast<std::uint64_t>(n), request.gpus ? "GPU" : "rank");
}

// A line on a terminal for each run: what runs, and then what it gave.
class RunLines {
 public:
  RunLines() : terminal_(isatty(STDERR_FILENO) != 0) {}
  void Begin(std::string what) {
    what_ = std::move(what);
    if (terminal_) {
      std::cerr << what_ << " ..." << std::flush;
    }
  }
  void End(const std::string& result) const {
    if (terminal_) {
      std::cerr << "\r\x1b[K" << what_ << ": " << result << std::endl;
    }
  }

 private:
  bool terminal_;
  std::string what_;
};

const StepView* StepOf(const std::vector<JobDetail>& jobs, const EndedRun& run) {
  const StepView* last = nullptr;
  for (const JobDetail& job : jobs) {
    for (const StepView& step : job.steps) {
      if (step.step == run.step && (last == nullptr || last->attempt <= step.attempt)) {
        last = &step;
      }
    }
  }
  return last;
}

// The seconds from the step's start to its end, as the controller has them; its word on the end may
// come a little after the end itself.
absl::StatusOr<double> SecondsOf(const Address& address, const EndedRun& run) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  const SystemClock clock;
  const SteadyTime until = clock.SteadyNow() + kStepPatience;
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<JobDetail> jobs,
                     connection->Call(ShowJob{{.job = run.job}}));
    const StepView* step = StepOf(jobs, run);
    if (step != nullptr && IsTerminal(step->state) && step->start_time != kNoTime &&
        step->end_time != kNoTime) {
      const Duration took = step->end_time - step->start_time;
      if (took <= Duration(0)) {
        return absl::FailedPreconditionError(
            "took less than a millisecond: give it more work, or use --measure");
      }
      return std::chrono::duration<double>(took).count();
    }
    if (clock.SteadyNow() >= until) {
      return absl::UnavailableError(absl::StrCat("the controller does not say when step ",
                                                 run.job.value(), ".", run.step.value(),
                                                 " ended: see muster show ", run.job.value()));
    }
    std::this_thread::sleep_for(kStepPause);
  }
}

// The runs of one verb, and what they share.
class Runs {
 public:
  Runs(const Invocation& invocation, const ScalingRequest& request, Address address,
       std::unique_ptr<MeasuredOutput> output)
      : invocation_(invocation),
        request_(request),
        address_(std::move(address)),
        output_(std::move(output)) {}

  absl::StatusOr<ScaleRun> Run(int n, int number) {
    const std::string name = request_.repeat == 1 ? SizeText(request_, n)
                                                  : absl::StrCat(SizeText(request_, n), ", run ",
                                                                 number, " of ", request_.repeat);
    lines_.Begin(name);
    absl::StatusOr<ScaleRun> run = RunOnce(n);
    if (run.ok()) {
      lines_.End(output_ == nullptr ? absl::StrFormat("%.3f s", run->value)
                                    : absl::StrCat(run->value));
      return run;
    }
    lines_.End("failed");
    // What the options are refused for has nothing to do with the size.
    if (absl::IsInvalidArgument(run.status())) {
      return run;
    }
    return absl::Status(run.status().code(),
                        absl::StrCat(name, ": ", std::string(run.status().message())));
  }

 private:
  absl::StatusOr<ScaleRun> RunOnce(int n) {
    const OutputTaker taker = [this](const RankSource& rank, std::string_view bytes) {
      if (output_ != nullptr) {
        output_->Take(rank.rank, bytes);
      }
    };
    ASSIGN_OR_RETURN(const EndedRun ended, RunCommand(AtSize(invocation_, request_, n), taker));
    if (ended.exit_code != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", ended.job.value(), " failed with exit code ", ended.exit_code));
    }
    ScaleRun run{.job = ended.job, .step = ended.step};
    ASSIGN_OR_RETURN(run.value,
                     output_ != nullptr ? output_->Finish() : SecondsOf(address_, ended));
    return run;
  }

  const Invocation& invocation_;
  const ScalingRequest& request_;
  const Address address_;
  const std::unique_ptr<MeasuredOutput> output_;
  RunLines lines_;
};

}  // namespace

double ScalePoint::Median() const {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const ScaleRun& run : runs) {
    values.push_back(run.value);
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double ScalePoint::Spread() const {
  const auto [low, high] =
      std::minmax_element(runs.begin(), runs.end(),
                          [](const ScaleRun& a, const ScaleRun& b) { return a.value < b.value; });
  return (high->value - low->value) / Median();
}

std::vector<Option> ScaleOptions() {
  return {{.name = "max", .letter = 0, .metavar = "N", .text = "The most ranks or GPUs"},
          {.name = "gpus",
           .letter = 0,
           .metavar = "",
           .text = "Let the GPUs grow, not the ranks (--ntasks-per-gpu=1: both)"},
          {.name = "repeat",
           .letter = 0,
           .metavar = "N",
           .text = "Run each size so often, and take the median (default: 1)"},
          {.name = "weak",
           .letter = 0,
           .metavar = "",
           .text = "The work grows with the size, by {N} in CMD or by itself"},
          {.name = "measure",
           .letter = 0,
           .metavar = "REGEX",
           .text = "The time is a number that it prints, as '^Elapsed: ([0-9.]+)'"},
          {.name = "higher-is-better",
           .letter = 0,
           .metavar = "",
           .text = "The number is a rate, of the whole run: images a second"},
          {.name = "floor",
           .letter = 0,
           .metavar = "E",
           .text = "The efficiency at which it stops paying (default: 0.7)"},
          JsonOption()};
}

absl::StatusOr<ScalingRequest> ReadScale(const Invocation& invocation) {
  ScalingRequest request;
  request.gpus = invocation.Has("gpus");
  request.weak = invocation.Has("weak");
  request.measure = invocation.Value("measure");
  request.higher_is_better = invocation.Has("higher-is-better");
  request.json = invocation.Has("json");
  if (!request.gpus && invocation.Has("ntasks")) {
    return absl::InvalidArgumentError(
        "--ntasks: the number of ranks is what grows: say up to how many with --max");
  }
  if (invocation.Has("measure") && request.measure.empty()) {
    return absl::InvalidArgumentError(
        "--measure: \"\" matches everything: name what the program prints, like 'time ([0-9.]+)'");
  }
  if (request.higher_is_better && request.measure.empty()) {
    return absl::InvalidArgumentError(
        "--higher-is-better: says what the number of --measure means: add --measure");
  }
  if (!request.measure.empty() && invocation.Has("output")) {
    return absl::InvalidArgumentError(
        "--output: --measure reads what the program prints: leave one of them out");
  }
  ASSIGN_OR_RETURN(request.max, ReadMax(invocation, request.gpus));
  if (invocation.Has("repeat")) {
    ASSIGN_OR_RETURN(request.repeat, ReadCount(invocation, "repeat", 1, kRepeatMost));
  }
  if (invocation.Has("floor") && (!absl::SimpleAtod(invocation.Value("floor"), &request.floor) ||
                                  !(request.floor > 0 && request.floor <= 1))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--floor: ", Quote(invocation.Value("floor")),
                     " is no efficiency: use a number above 0, up to 1"));
  }
  return request;
}

std::vector<int> ScaleSizes(int max) {
  std::vector<int> sizes;
  for (int n = 1; n < max; n *= 2) {
    sizes.push_back(n);
  }
  sizes.push_back(max);
  return sizes;
}

Invocation AtSize(const Invocation& invocation, const ScalingRequest& request, int n) {
  Invocation run = invocation;
  for (const Option& option : ScaleOptions()) {
    run.values.erase(option.name);
  }
  const std::string number = absl::StrCat(n);
  run.values[request.gpus ? "gpus" : "ntasks"] = number;
  // One rank that fails ends the run, nobody types at it, and what can never start is no wait.
  run.values["kill-on-bad-exit"] = "";
  run.values["input"] = "none";
  run.values[kRefuseMisfit] = "";
  for (std::string& word : run.arguments) {
    word = absl::StrReplaceAll(word, {{"{N}", number}});
  }
  return run;
}

ScalingResult ResultOf(const ScalingRequest& request, const std::string& command,
                       const std::vector<ScalePoint>& points) {
  ScalingResult result;
  result.scaling = request.weak ? Scaling::kWeak : Scaling::kStrong;
  result.kernel = command;
  result.unit = request.gpus ? "GPUs" : "ranks";
  for (const ScalePoint& point : points) {
    const double work = request.weak ? point.n : 1;
    const double median = point.Median();
    ScalingPoint& scaled = result.points.emplace_back();
    scaled.ranks = point.n;
    scaled.seconds = request.higher_is_better ? work / median : median;
  }
  return result;
}

absl::StatusOr<ScaleMeasured> MeasureScaling(const Invocation& invocation,
                                             const ScalingRequest& request) {
  std::unique_ptr<MeasuredOutput> output;
  if (!request.measure.empty()) {
    absl::StatusOr<MeasuredOutput> found = MeasuredOutput::Find(request.measure);
    if (!found.ok()) {
      return absl::Status(found.status().code(),
                          absl::StrCat("--measure: ", std::string(found.status().message())));
    }
    output = std::make_unique<MeasuredOutput>(*std::move(found));
  }
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  Runs runs(invocation, request, address, std::move(output));
  ScaleMeasured measured;
  for (const int n : ScaleSizes(request.max)) {
    ScalePoint point{.n = n};
    for (int number = 1; number <= request.repeat; ++number) {
      absl::StatusOr<ScaleRun> run = runs.Run(n, number);
      if (!run.ok() && absl::IsInvalidArgument(run.status())) {
        return run.status();
      }
      if (!run.ok()) {
        measured.stopped = run.status();
        return measured;
      }
      point.runs.push_back(*std::move(run));
    }
    measured.points.push_back(std::move(point));
  }
  return measured;
}

}  // namespace muster::cli
