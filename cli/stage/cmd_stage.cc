#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_history.h"
#include "cli/frame/verbs.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "cli/parse/request/stage_words.h"
#include "cli/stage/copied_tree.h"
#include "cli/stage/kept_copies.h"
#include "cli/stage/place_words.h"
#include "cli/stage/rclone.h"
#include "cli/stage/stage_report.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kPartsMost = 10'000'000;

// What a copy was, for its line.
struct Copied {
  std::uint64_t bytes = 0;
  std::string files = {};  // "12 files, 3 of them there already"; "" where rclone knows
};

// `tell`, which waits where the copy is faster than [network.class.staging] of the node lets it be.
TellBytes Paced(const Environment& environment, const TellBytes& tell) {
  double rate = 0;
  if (!absl::SimpleAtod(environment.Get("MUSTER_STAGING_RATE"), &rate) || rate <= 0) {
    return tell;
  }
  return [tell, rate, begun = std::chrono::steady_clock::now()](std::uint64_t done,
                                                                std::uint64_t total) {
    tell(done, total);
    std::this_thread::sleep_until(begun +
                                  std::chrono::duration<double>(static_cast<double>(done) / rate));
  };
}

absl::StatusOr<Copied> Copy(const Environment& environment, const std::string& from,
                            const std::string& to, const TellBytes& tell) {
  if (IsRemotePlace(from) || IsRemotePlace(to)) {
    ASSIGN_OR_RETURN(const std::uint64_t bytes, CopyByRclone(from, to, environment, tell));
    return Copied{bytes};
  }
  const std::string job = environment.Get("MUSTER_JOB_ID");
  ASSIGN_OR_RETURN(const CopiedTree tree,
                   CopyTree(from, to, job.empty() ? absl::StrCat("p", getpid()) : job,
                            Paced(environment, tell)));
  for (const std::string& path : tree.left_out) {
    std::cerr << "muster stage: " << Printable(path)
              << ": is left out: neither file, directory nor link" << std::endl;
  }
  return Copied{tree.bytes, absl::StrCat(", ", tree.files, tree.files == 1 ? " file" : " files",
                                         tree.found == 0 ? ""
                                                         : absl::StrCat(", ", tree.found,
                                                                        " of them there already"))};
}

absl::Status CopyPair(const Environment& environment, StagePair pair, StageReport& report) {
  ASSIGN_OR_RETURN(pair.from, ExpandPlace(pair.from, environment));
  ASSIGN_OR_RETURN(pair.to, ExpandPlace(pair.to, environment));
  pair.to = StagedName(pair.from, pair.to);
  const SystemClock clock;
  const SteadyTime begun = clock.SteadyNow();
  ASSIGN_OR_RETURN(const Copied copied, Copy(environment, pair.from, pair.to,
                                             [&report](std::uint64_t done, std::uint64_t total) {
                                               report.Tell(done, total);
                                             }));
  report.EndPair();
  const double seconds = std::chrono::duration<double>(clock.SteadyNow() - begun).count();
  std::cout << Printable(absl::StrCat(
                   pair.from, " to ", pair.to, ": ", BytesText(copied.bytes), copied.files, ", ",
                   ByteRateText(seconds > 0 ? static_cast<double>(copied.bytes) / seconds : 0)))
            << std::endl;
  return absl::OkStatus();
}

// Whether the job, or any part of it, has run. Where nobody can tell, it has.
bool HasRun(const Invocation& invocation, JobId job) {
  const auto connection = OpenController(invocation);
  if (!connection.ok()) {
    return true;
  }
  ListHistory question;
  question.jobs = {job};
  question.limit = kPartsMost;  // of an array all
  const absl::StatusOr<std::vector<JobView>> parts = JobsSince(**connection, question);
  return !parts.ok() || parts->empty() ||
         std::any_of(parts->begin(), parts->end(),
                     [](const JobView& part) { return part.start_time != kNoTime; });
}

// --fingerprint: what a copy is kept under, and its size.
absl::StatusOr<int> PrintState(const Invocation& invocation) {
  if (invocation.arguments.size() != 1) {
    return absl::InvalidArgumentError("--fingerprint: name one SRC");
  }
  const std::string& given = invocation.arguments.front();
  ASSIGN_OR_RETURN(const std::string source, ExpandPlace(given, invocation.environment));
  ASSIGN_OR_RETURN(const SourceState state, IsRemotePlace(source)
                                                ? StateByRclone(source, invocation.environment)
                                                : StateOfTree(source));
  const std::uint64_t of_place = Fingerprint().Add(source).Add(state.fingerprint).value();
  std::cout << absl::StrCat(absl::Hex(of_place, absl::kZeroPad16), " ", state.bytes) << std::endl;
  return 0;
}

absl::StatusOr<int> Stage(const Invocation& invocation) {
  if (IsAboutKeptCopies(invocation)) {
    return ListOrRemoveCopies(invocation);
  }
  for (const char* option : {"nodelist", "user", "older-than", "json"}) {
    if (invocation.Has(option)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, ": goes with --list, --remove or --prune"));
    }
  }
  if (invocation.arguments.empty()) {
    return absl::InvalidArgumentError("nothing is named: give SRC and DST, or --list");
  }
  if (invocation.Has("fingerprint")) {
    return PrintState(invocation);
  }
  if (invocation.arguments.size() % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(invocation.arguments.back()), ": has no destination: name SRC and DST"));
  }
  if (invocation.Has("after")) {
    const absl::StatusOr<std::uint64_t> job = ParseDigits(invocation.Value("after"), UINT64_MAX);
    if (!job.ok() || *job == 0) {
      return absl::InvalidArgumentError(absl::StrCat("--after: ", Quote(invocation.Value("after")),
                                                     " is no job: use its number"));
    }
    if (!HasRun(invocation, JobId(*job))) {
      std::cout << "job " << *job << " never started: it left nothing to copy" << std::endl;
      return 0;
    }
  }
  const SystemClock clock;
  StageReport report(invocation.environment.Get("MUSTER_REPORT_SOCKET"), clock);
  int code = 0;
  for (std::size_t i = 0; i < invocation.arguments.size(); i += 2) {
    const absl::Status copied = CopyPair(
        invocation.environment, {invocation.arguments[i], invocation.arguments[i + 1]}, report);
    if (!copied.ok()) {
      code = 1;  // the others are wanted all the same
      std::cerr << "muster stage: " << Printable(std::string(copied.message())) << std::endl;
    }
  }
  return code;
}

}  // namespace

Verb StageVerb() {
  Verb verb;
  verb.name = "stage";
  verb.purpose = "Copy files to and from where jobs run, and show what nodes keep of them";
  verb.synopsis = "SRC DST…";
  verb.forms = {"SRC DST…", "--fingerprint SRC", "--list [-w NODES]", "--remove SRC… [-w NODES]",
                "--prune [--older-than AGE] [-w NODES]"};
  verb.examples = {"muster stage s3:bucket/data /scratch/data",
                   "muster stage results/ /archive/run7",
                   "muster stage model.pt '$SCRATCH/'",
                   "muster stage --fingerprint s3:bucket/data",
                   "muster stage --list",
                   "muster stage --remove s3:bucket/data -w n[1-4]",
                   "muster stage --prune --older-than 7d"};
  verb.remarks =
      "Copies files, and directories with all below them, to a path or by rclone to or from a\n"
      "REMOTE:PATH. A DST that ends with / is the directory that gets SRC under its own name. A\n"
      "copy has its name once it is whole. What is there with the same size and time is not\n"
      "copied again. In a job it reports how far it is: muster show --curve.";
  verb.options = {{.name = "after",
                   .letter = 0,
                   .metavar = "JOB",
                   .text = "Copy nothing where JOB, which has ended, never started"},
                  {.name = "fingerprint",
                   .letter = 0,
                   .metavar = "",
                   .text = "Copy nothing: print what changes when SRC does, and its bytes"},
                  {.name = "list",
                   .letter = 0,
                   .metavar = "",
                   .text = "Show the copies that nodes keep (submit --stage-in-node)"},
                  {.name = "remove",
                   .letter = 0,
                   .metavar = "",
                   .text = "Have nodes keep no copy of each SRC that no job uses"},
                  {.name = "prune",
                   .letter = 0,
                   .metavar = "",
                   .text = "Have nodes keep no copy that no job uses"},
                  {.name = "older-than",
                   .letter = 0,
                   .metavar = "AGE",
                   .text = "With --prune: those that were not used for so long: 12h, 30d"},
                  {.name = "nodelist",
                   .letter = 'w',
                   .metavar = "NODES",
                   .text = "These nodes, like n1,n[3-5] (default: all)"},
                  {.name = "user",
                   .letter = 'u',
                   .metavar = "NAME",
                   .text = "That user's copies, for operators (default: one's own)"},
                  JsonOption()};
  verb.arguments_min = 0;
  verb.arguments_max = kAnyNumber;
  verb.run = Stage;
  return verb;
}

}  // namespace muster::cli
