#include "cli/simulate/trace_generate.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/simulate/trace_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/schedule/trace_text.h"
#include "scheduler/simulator/workload/lublin_model.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kJobsMax = 10'000'000;
constexpr std::uint64_t kTraceSeedMax = 1'000'000'000'000;
constexpr std::size_t kMixMax = 100'000;
constexpr std::int64_t kUsualProcessors = 128;

absl::StatusOr<std::uint64_t> ReadCount(const Invocation& invocation, const char* name,
                                        std::uint64_t usual, std::uint64_t min, std::uint64_t max) {
  if (!invocation.Has(name)) {
    return usual;
  }
  absl::StatusOr<std::uint64_t> number = ParseDigits(invocation.Value(name), max);
  if (!number.ok() || *number < min) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                                                   " is not a whole number from ", min, " to ",
                                                   max));
  }
  return number;
}

// 0: none was asked for.
absl::StatusOr<double> ReadLoad(const Invocation& invocation) {
  if (!invocation.Has("load")) {
    return 0.0;
  }
  double load = 0;
  const std::string text = invocation.Value("load");
  if (text.find_first_not_of("0123456789.") != std::string::npos ||
      !absl::SimpleAtod(text, &load) || load < 0.01 || load > 10) {
    return absl::InvalidArgumentError(
        absl::StrCat("--load: ", Quote(text), " is not a load: a number from 0.01 to 10"));
  }
  return load;
}

}  // namespace

std::vector<Option> GenerateOptionTable() {
  return {MakeOption("jobs", "N", "generate: how many jobs, 2 to 10000000 (default: 10000)"),
          MakeOption("seed", "N", "generate: of the random numbers (default: 1)"),
          MakeOption("load", "L", "generate: stretch the gaps so that the machine has this load"),
          MakeOption("mix", "TRACE",
                     "generate: draw sizes, GPUs, run times and users from its jobs, of at most "
                     "100000 that fit the machine")};
}

absl::StatusOr<std::string> GenerateTrace(const Invocation& invocation, bool csv) {
  sim::LublinOptions options{.processors = kUsualProcessors, .seed = 1, .gap_factor = 1, .mix = {}};
  RETURN_IF_ERROR(ReadOption(invocation, "flat", ParseProcessors, &options.processors));
  if (options.processors < 2) {
    return absl::InvalidArgumentError("--flat: the model needs 2 processors or more");
  }
  ASSIGN_OR_RETURN(const std::uint64_t jobs, ReadCount(invocation, "jobs", 10'000, 2, kJobsMax));
  ASSIGN_OR_RETURN(options.seed, ReadCount(invocation, "seed", 1, 0, kTraceSeedMax));
  ASSIGN_OR_RETURN(const double load, ReadLoad(invocation));
  sim::TraceNames names;
  if (invocation.Has("mix")) {
    ASSIGN_OR_RETURN(const sim::TraceOptions mix,
                     ReadTraceOptions(invocation, invocation.Value("mix")));
    ASSIGN_OR_RETURN(const sim::OpenedTrace trace, sim::OpenTrace(mix));
    ASSIGN_OR_RETURN(options.mix, sim::SampleRecords(trace.reader.get(), kMixMax,
                                                     options.processors, options.seed));
    names = trace.reader->names();
    if (options.mix.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          mix.path, ": no job with a run time fits on ", options.processors, " processors"));
    }
  }
  if (load > 0) {
    options.gap_factor = sim::GapFactorForLoad(options, jobs, load);
  }
  sim::TraceHeader header;
  header.max_procs = options.processors;
  header.max_jobs = static_cast<std::int64_t>(jobs);
  std::string text =
      csv ? sim::TraceCsvHeader()
          : sim::SwfHeaderText(
                header, absl::StrCat("Lublin-Feitelson model (JPDC 2003), seed ", options.seed,
                                     options.mix.empty() ? "" : ", jobs of a trace"));
  sim::LublinModel model(options);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const sim::TraceRecord record = model.Next();
    csv ? sim::AppendTraceCsv(record, names, &text) : sim::AppendSwf(record, &text);
  }
  return text;
}

}  // namespace muster::cli
