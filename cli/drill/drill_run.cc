#include "cli/drill/drill_run.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/page/text.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kLookEveryMs = 250;
constexpr int kCopiesMax = 5;
constexpr Duration kPatienceForTheEnd = std::chrono::minutes(2);
constexpr Duration kPatienceForTheController = std::chrono::minutes(1);
// After its first checkpoint it is known whether it restored one: agents tell both, a little late.
constexpr Duration kRestartIsTold = std::chrono::seconds(15);
constexpr std::size_t kLastLines = 10;

std::uint64_t BytesIn(const checkpoint::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const checkpoint::ShardSeal& seal : manifest.shards) {
    bytes += seal.bytes;
  }
  return bytes;
}

DrillEnd EndOf(const JobView& job) {
  return IsTerminal(job.state) ? DrillEnd{job.state, {job.exit_code, job.exit_signal}} : DrillEnd();
}

absl::Status CannotMake(const std::string& path, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": cannot make the drill's directory: ", strerror(error),
                   "; name another folder that the job's nodes see, too: --into DIR"));
}

}  // namespace

DrillRun::DrillRun(const DrillContext& context, const DrillOptions& options, DrillSubject subject)
    : context_(context), options_(options), subject_(std::move(subject)) {
  const DrilledGeneration& generation = subject_.generation;
  facts_.original = subject_.job.job.label;
  facts_.name = subject_.job.job.name;
  facts_.original_end = EndOf(subject_.job.job);
  facts_.directory = subject_.directory;
  facts_.generation = generation.number;
  facts_.written = Time(std::chrono::milliseconds(generation.manifest.written_ms));
  facts_.ranks = static_cast<std::uint32_t>(generation.manifest.shards.size());
  facts_.bytes = BytesIn(generation.manifest);
  facts_.fault = generation.fault;
  facts_.fallback = generation.fallback;
  facts_.timeout = options.timeout;
}

absl::Status DrillRun::Begin() {
  RETURN_IF_ERROR(MakeDirectory());
  Say(absl::StrCat("job ", facts_.original, ": generation ", facts_.generation, " into ", place_));
  RETURN_IF_ERROR(Submit());
  RETURN_IF_ERROR(Copy());
  // Of a job that has ended nobody else holds its directory: nothing writes there meanwhile.
  if (!facts_.original_end.state.empty()) {
    (void)subject_.store.LockForWriting();
  }
  return Interrupted(0) ? absl::OkStatus() : Release();
}

absl::Status DrillRun::MakeDirectory() {
  const std::filesystem::path from = subject_.directory;
  const std::filesystem::path into =
      options_.into.empty() ? from.parent_path() : std::filesystem::absolute(options_.into);
  std::string pattern =
      (into / absl::StrCat(from.filename().string(), ".drill-XXXXXX")).lexically_normal().string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return CannotMake(into.string(), errno);
  }
  place_ = pattern;
  constexpr mode_t kPrivate = 0700;
  const std::string checkpoints = absl::StrCat(place_, "/checkpoint");
  return mkdir(checkpoints.c_str(), kPrivate) == 0 ? absl::OkStatus()
                                                   : CannotMake(checkpoints, errno);
}

// Held: its programs look for the copy by the job's number, which is not known before.
absl::Status DrillRun::Submit() {
  const checkpoint::Manifest& manifest = subject_.generation.manifest;
  const DrillPlace place{facts_.original, place_, manifest.generation, manifest.job};
  ASSIGN_OR_RETURN(JobRequest request,
                   MakeDrillRequest(subject_.submission, subject_.selector.elements, options_,
                                    place, SystemClock().Now()));
  RETURN_IF_ERROR(CompleteRequest({.environment = context_.invocation.environment,
                                   .local = context_.local,
                                   .fallback = "drill"},
                                  &request));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const Submitted submitted, context_.connection.Call(SubmitJob{
                                                  token, request.spec, request.program, {}, {}}));
  drill_ = {submitted.job, subject_.selector.elements};
  ASSIGN_OR_RETURN(const JobDetail detail, Detail(drill_));
  facts_.drill = detail.job.label;
  label_ = absl::StrCat(detail.job.id.value());
  return absl::OkStatus();
}

// The original goes on: it may remove the generation meanwhile, as a newer one comes.
absl::Status DrillRun::Copy() {
  const std::string before = absl::StrCat(subject_.job.job.id.value());
  const std::string to = absl::StrCat(place_, "/checkpoint");
  for (int copies = 1;; ++copies) {
    const checkpoint::Manifest& manifest = subject_.generation.manifest;
    const absl::Status copied =
        CopyGeneration(subject_.store, manifest, NameOfCopy(manifest.job, before, label_), to);
    const bool there =
        subject_.store.ReadManifest({manifest.generation, checkpoint::GenerationState::kComplete})
            .ok();
    if (copied.ok() || there || options_.generation.has_value() || copies == kCopiesMax) {
      return copied;
    }
    ASSIGN_OR_RETURN(subject_.generation, ChooseGeneration(subject_.store, before, std::nullopt));
    const DrilledGeneration& generation = subject_.generation;
    if (!generation.fault.empty()) {
      return absl::FailedPreconditionError(generation.fault);
    }
    facts_.generation = generation.number;
    facts_.written = Time(std::chrono::milliseconds(generation.manifest.written_ms));
  }
}

absl::Status DrillRun::Release() {
  facts_.submitted = SystemClock().Now();
  const Time ended = subject_.job.job.end_time;
  facts_.lost = std::max(
      (facts_.original_end.state.empty() ? facts_.submitted : ended) - facts_.written, Duration(0));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   context_.connection.Call(ForJobs<HoldJob>{HoldJob{.held = false}, {drill_}}));
  return outcome.errors.empty()
             ? absl::OkStatus()
             : absl::FailedPreconditionError(absl::StrCat(
                   "job ", facts_.drill, " cannot be released: ", outcome.errors.front()));
}

absl::Status DrillRun::Watch() {
  const SystemClock clock;
  const SteadyTime until = clock.SteadyNow() + options_.timeout;
  SteadyTime answered = clock.SteadyNow();
  while (!facts_.interrupted) {
    const absl::Status looked = Look();
    const SteadyTime now = clock.SteadyNow();
    if (looked.ok()) {
      answered = now;
    } else if (!absl::IsUnavailable(looked) || now > answered + kPatienceForTheController) {
      return looked;
    }
    if (Over() || now >= until) {
      return absl::OkStatus();
    }
    Interrupted(kLookEveryMs);
  }
  return absl::OkStatus();
}

absl::Status DrillRun::Look() {
  ASSIGN_OR_RETURN(const JobDetail drill, Detail(drill_));
  ASSIGN_OR_RETURN(const JobDetail original, Detail(subject_.selector));
  facts_.original_end = EndOf(original.job);
  LookAtDrill(drill);
  Collect(subject_.store, facts_.generation + 1, &original_prints_, &original_bad_);
  original_newest_ = original_prints_.empty() ? 0 : original_prints_.rbegin()->first;
  const auto copy =
      checkpoint::Store::Open(checkpoint::Disk::Real(), absl::StrCat(place_, "/checkpoint"));
  if (copy.ok()) {
    Collect(copy.value, 0, &drill_prints_, &drill_bad_);
  }
  if (!drill_prints_.empty()) {
    facts_.first_checkpoint =
        drill_prints_.begin()->second.written;  // also of one that began again
  }
  Compare();
  return absl::OkStatus();
}

void DrillRun::LookAtDrill(const JobDetail& detail) {
  const JobView& job = detail.job;
  facts_.end = EndOf(job);
  facts_.started = job.start_time;
  facts_.waits_for = job.reason.text;
  if (!detail.attempts.empty()) {
    facts_.restart = std::max(facts_.restart, detail.attempts.back().checkpoints.restart);
  }
  const std::string what = absl::StrCat("job ", facts_.drill, " ");
  if (!facts_.end.state.empty()) {
    Say(absl::StrCat(what, "ended ", EndText(facts_.end)));
  } else if (job.start_time == kNoTime) {
    Say(absl::StrCat(what, "waits", job.reason.text.empty() ? "" : ": ", job.reason.text));
  } else if (facts_.restart == Duration(0)) {
    Say(absl::StrCat(what, "runs, and has restored nothing yet"));
  } else if (drill_prints_.empty()) {
    Say(absl::StrCat(what, "restored generation ", facts_.generation, " within ",
                     RoughText(facts_.restart), "; its next checkpoint is waited for"));
  } else {
    Say(absl::StrCat(what, "made generation ", drill_prints_.rbegin()->first, "; that of job ",
                     facts_.original, " is waited for"));
  }
}

void DrillRun::Collect(const checkpoint::Store& store, std::uint64_t first, Prints* prints,
                       std::set<std::uint64_t>* bad) const {
  const auto names = store.List();
  if (!names.ok()) {
    return;
  }
  for (const checkpoint::GenerationName& name : names.value) {
    if (name.state != checkpoint::GenerationState::kComplete || name.number < first ||
        name.number == facts_.generation || prints->contains(name.number) ||
        bad->contains(name.number)) {
      continue;
    }
    auto print = PrintOf(store, name.number);
    if (print.ok()) {
      prints->insert({name.number, std::move(print.value)});
    } else if (print.error.fault == checkpoint::Fault::kCorrupt) {
      bad->insert(name.number);  // or it was removed meanwhile
    }
  }
}

// By the first number that both have: who checkpoints by steps has the same step there.
void DrillRun::Compare() {
  for (const auto& [number, print] : original_prints_) {
    const auto found = drill_prints_.find(number);
    if (found != drill_prints_.end()) {
      facts_.states = CompareStates(print, found->second);
      return;
    }
  }
}

bool DrillRun::Over() const {
  if (!facts_.end.state.empty() || facts_.states.match != StateMatch::kNotCompared) {
    return true;
  }
  if (facts_.restart == Duration(0) && facts_.first_checkpoint != kNoTime &&
      SystemClock().Now() > facts_.first_checkpoint + kRestartIsTold) {
    return true;  // it began again
  }
  // The original makes no further one, and the drill is beyond its last.
  return !facts_.original_end.state.empty() && !drill_prints_.empty() &&
         drill_prints_.rbegin()->first >= original_newest_;
}

bool DrillRun::Interrupted(int wait_ms) {
  pollfd waits{context_.signals.get(), POLLIN, 0};
  if (poll(&waits, 1, wait_ms) > 0) {
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(context_.signals);
    facts_.interrupted = facts_.interrupted || !signal.ok() || signal->has_value();
  }
  return facts_.interrupted;
}

absl::StatusOr<JobDetail> DrillRun::Detail(const JobSelector& selector) {
  ASSIGN_OR_RETURN(std::vector<JobDetail> found,
                   context_.connection.Call(ShowJob{.job = selector, .ranks_limit = 1}));
  if (found.size() != 1) {
    return absl::NotFoundError(absl::StrCat("job ", selector.job.value(), ": is gone"));
  }
  return std::move(found.front());
}

absl::Status DrillRun::End() {
  const DrillEnd by_itself = facts_.end;
  const absl::Status ended = drill_.job.valid() ? EndJob() : absl::OkStatus();
  facts_.end = by_itself;
  if (!ended.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        std::string(ended.message()), "; what is left: job ", drill_.job.value(), " and ", place_));
  }
  if (drill_.job.valid()) {
    facts_.touched = TouchedOriginal();
    ReadValues();
    ReadLastLines();
  }
  if (options_.keep) {
    facts_.copy = place_;
    return absl::OkStatus();
  }
  std::error_code error;
  std::filesystem::remove_all(place_, error);
  return !error ? absl::OkStatus()
                : absl::FailedPreconditionError(
                      absl::StrCat(place_, ": cannot be removed: ", error.message()));
}

// What it did until then is told for good once it has ended.
absl::Status DrillRun::EndJob() {
  const SystemClock clock;
  const SteadyTime until = clock.SteadyNow() + kPatienceForTheEnd;
  if (facts_.end.state.empty()) {
    const auto cancelled = context_.connection.Call(CancelJobs{{drill_}, false});
    RETURN_IF_ERROR(cancelled.status());
  }
  while (clock.SteadyNow() < until) {
    ASSIGN_OR_RETURN(const JobDetail detail, Detail(drill_));
    if (IsTerminal(detail.job.state)) {
      LookAtDrill(detail);
      return absl::OkStatus();
    }
    Say(absl::StrCat("job ", facts_.drill, " is being ended"));
    poll(nullptr, 0, kLookEveryMs);
  }
  return absl::DeadlineExceededError(
      absl::StrCat("job ", facts_.drill, " has not ended within ", RoughText(kPatienceForTheEnd)));
}

bool DrillRun::TouchedOriginal() const {
  const auto names = subject_.store.List();
  return names.ok() &&
         std::any_of(names.value.begin(), names.value.end(), [this](const auto& name) {
           const auto manifest = subject_.store.ReadManifest(name);
           return manifest.ok() && manifest.value.job == label_ &&
                  manifest.value.job != subject_.generation.manifest.job;
         });
}

void DrillRun::ReadValues() {
  const auto original = context_.connection.Call(ShowCurve{subject_.selector});
  const auto drill = context_.connection.Call(ShowCurve{drill_});
  if (!original.ok() || !drill.ok() || original->size() != 1 || drill->size() != 1) {
    return;
  }
  const auto written = [this](const Prints& prints) {
    const auto found = prints.find(facts_.states.generation);
    return found == prints.end() ? kNoTime : found->second.written;
  };
  facts_.values = ValuesBeside(original->front(), written(original_prints_), drill->front(),
                               written(drill_prints_));
}

void DrillRun::ReadLastLines() {
  constexpr std::size_t kOutputMax = std::size_t{1} << 20;
  const absl::StatusOr<std::string> output = ReadFile(absl::StrCat(place_, "/output"), kOutputMax);
  if (!output.ok()) {
    return;
  }
  std::vector<std::string> lines = absl::StrSplit(*output, '\n', absl::SkipEmpty());
  const std::size_t surplus = lines.size() - std::min(lines.size(), kLastLines);
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(surplus));
  facts_.last_lines = std::move(lines);
}

void DrillRun::Say(const std::string& line) {
  if (line != said_ && isatty(STDERR_FILENO) != 0) {
    std::cerr << "muster drill: " << Printable(line) << std::endl;
  }
  said_ = line;
}

}  // namespace muster::cli
