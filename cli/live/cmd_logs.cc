#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/live/line_window.h"
#include "cli/live/output_reader.h"
#include "cli/page/text.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kLinesMax = UINT32_MAX;

absl::StatusOr<std::optional<std::uint64_t>> ReadNumber(const Invocation& invocation,
                                                        const char* option) {
  if (!invocation.Has(option)) {
    return std::nullopt;
  }
  const absl::StatusOr<std::uint64_t> number = ParseDigits(invocation.Value(option), kLinesMax);
  if (!number.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, ": ", Quote(invocation.Value(option)), " is not a number"));
  }
  return std::optional(*number);
}

absl::Status CheckTogether(const Invocation& invocation) {
  if (invocation.Has("tail") && (invocation.Has("head") || invocation.Has("since"))) {
    return absl::InvalidArgumentError("--tail: goes with neither --head nor --since");
  }
  if (invocation.Has("json") && invocation.Has("follow")) {
    return absl::InvalidArgumentError("--json: is one document; leave --follow out");
  }
  return absl::OkStatus();
}

absl::StatusOr<ReadOutput> ReadQuestion(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const StepSelector named, ParseStepSelector(names.front()));
  if (named.job.elements.size() > 1) {
    return absl::InvalidArgumentError("logs shows one output: name the element, like 12_3");
  }
  ReadOutput asked;
  asked.job = NamedId(named.job);
  if (!named.job.elements.empty()) {
    asked.array_index = named.job.elements.front();
  }
  asked.step = named.step;
  asked.error = invocation.Has("error");
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> rank, ReadNumber(invocation, "rank"));
  if (rank.has_value()) {
    asked.rank = static_cast<std::uint32_t>(*rank);
  }
  return asked;
}

bool Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

// What is shown of what comes.
class Shown {
 public:
  Shown(std::optional<std::uint64_t> head, std::optional<Time> since, bool collect)
      : head_(head), since_(since, absl::LocalTimeZone()), moment_(since), collect_(collect) {}

  // False: no more is wanted.
  bool Take(const OutputPiece& piece) {
    if (!begun_) {
      begun_ = true;
      Judge(piece);
    }
    last_ = piece;
    return state_ != State::kNothing &&
           Put(state_ == State::kAll ? piece.data : since_.Take(piece.data));
  }

  // At the end of the output.
  absl::Status Finish() {
    if (state_ != State::kByLines) {
      return absl::OkStatus();
    }
    Put(since_.Finish());
    return since_.saw_time() || last_.size == 0
               ? absl::OkStatus()
               : absl::FailedPreconditionError(absl::StrCat(
                     "--since: no line of ", last_.path,
                     " begins with its time, and it was written before and after: ", "use --tail"));
  }

  [[nodiscard]] OutputPiece Whole() const {
    OutputPiece whole = last_;
    whole.offset = offset_;
    whole.data = collected_;
    return whole;
  }

 private:
  enum class State { kAll, kByLines, kNothing };

  // The whole file may be older or younger.
  void Judge(const OutputPiece& piece) {
    offset_ = piece.offset;
    if (!moment_.has_value() || piece.started >= *moment_) {
      state_ = State::kAll;
    } else if (piece.ended && piece.modified < *moment_) {
      state_ = State::kNothing;
    } else {
      state_ = State::kByLines;
    }
  }

  bool Put(std::string_view text) {
    const std::string_view shown = head_.Take(text);
    if (collect_) {
      collected_.append(shown);
    } else if (!Write(shown)) {
      return false;  // who read it has gone
    }
    return !head_.done();
  }

  FirstLines head_;
  LinesSince since_;
  const std::optional<Time> moment_;
  const bool collect_;
  bool begun_ = false;
  State state_ = State::kAll;
  std::uint64_t offset_ = 0;
  OutputPiece last_;
  std::string collected_;
};

absl::StatusOr<int> Logs(const Invocation& invocation) {
  IgnoreBrokenPipes();
  RETURN_IF_ERROR(CheckTogether(invocation));
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> head, ReadNumber(invocation, "head"));
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> tail, ReadNumber(invocation, "tail"));
  ASSIGN_OR_RETURN(const Time since, ReadPast(invocation, "since", SystemClock().Now(), kNoTime));
  ASSIGN_OR_RETURN(ReadOutput asked, ReadQuestion(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const bool json = invocation.Has("json");
  Shown shown(head, since == kNoTime ? std::nullopt : std::optional(since), json);
  asked.tail = static_cast<std::uint32_t>(tail.value_or(0));
  if (tail == 0U) {
    asked.offset = UINT64_MAX;  // the end, wherever that is
  }
  OutputReader::Ways ways;
  ways.ask = [&connection](const ReadOutput& question) { return connection->Call(question); };
  ways.take = [&shown](const OutputPiece& piece) { return shown.Take(piece); };
  ways.tell = [](const std::string& line) {
    if (isatty(STDERR_FILENO) != 0) {
      std::cerr << "muster logs: " << Printable(line) << std::endl;
    }
  };
  ways.sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  OutputReader reader(asked, ways);
  RETURN_IF_ERROR(invocation.Has("follow") ? reader.Follow() : reader.ReadToEnd());
  RETURN_IF_ERROR(shown.Finish());
  if (json) {
    RETURN_IF_ERROR(WriteOut(PrintJson(ToJson(shown.Whole()))));
  }
  return 0;
}

}  // namespace

Verb LogsVerb() {
  Verb verb;
  verb.name = "logs";
  verb.purpose = "Print what a job, or a rank of a step, has written so far";
  verb.synopsis = "JOB[.STEP]";
  verb.examples = {"muster logs last", "muster logs -f 12", "muster logs --tail 20 12_3",
                   "muster logs --rank 5 12.1"};
  verb.remarks =
      "Also after the end, from the file on the node that wrote it, whichever file system that is "
      "on.\nOnly your own jobs' output. A step whose muster run prints its output has no file; see "
      "attach.";
  verb.options = {
      {.name = "follow",
       .letter = 'f',
       .metavar = "",
       .text = "Go on until the job or step has ended; wait for one that has not begun"},
      {.name = "rank", .letter = 0, .metavar = "R", .text = "The file of that rank (default: 0)"},
      {.name = "head", .letter = 0, .metavar = "N", .text = "The first N lines"},
      {.name = "tail", .letter = 'n', .metavar = "N", .text = "The last N lines"},
      {.name = "since",
       .letter = 0,
       .metavar = "TIME",
       .text = "From the first line on that begins with TIME or later"},
      {.name = "error",
       .letter = 'e',
       .metavar = "",
       .text = "Standard error, where that has a file of its own"},
      JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Logs;
  return verb;
}

}  // namespace muster::cli
