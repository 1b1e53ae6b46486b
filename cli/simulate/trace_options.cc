#include "cli/simulate/trace_options.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "cli/up/daemon_child.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/simulator/workload/arrivals.h"

namespace muster::cli {
namespace {

// The jobs of a controller's state directory, in memory: the path of a file that lives as long as
// this process.
absl::StatusOr<std::string> TraceOfState(const std::string& directory) {
  SpawnRequest reader;
  ASSIGN_OR_RETURN(reader.program, SiblingProgram("muster-replay"));
  const int file = memfd_create("trace", MFD_CLOEXEC);  // kept open: its path names it
  const UniqueFd said(memfd_create("errors", MFD_CLOEXEC));
  if (file < 0 || !said.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(directory, ": no memory for its jobs"));
  }
  reader.arguments = {"muster-replay", directory, "--trace"};
  reader.fds = {{file, STDOUT_FILENO}, {said.get(), STDERR_FILENO}};
  ASSIGN_OR_RETURN(const pid_t child, Spawn(reader));
  const int status = AwaitEnd(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const absl::StatusOr<std::string> line = ReadFile(absl::StrCat("/proc/self/fd/", said.get()));
    const std::string text = line.ok() && !line->empty() ? line->substr(0, line->size() - 1)
                                                         : directory + ": cannot be read";
    return absl::FailedPreconditionError(text);
  }
  return absl::StrCat("/proc/self/fd/", file);
}

bool IsDirectory(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

Option MakeOption(const char* name, const char* metavar, const std::string& text) {
  return {.name = name, .letter = 0, .metavar = metavar, .text = text};
}

std::vector<Option> TraceOptionTable() {
  return {
      MakeOption("format", "NAME", sim::TraceFormatNames() + " (default: recognised)"),
      MakeOption("unit", "WHAT",
                 "What a processor is: cpus, gpus or usual (GPUs in GPU traces; the default)"),
      MakeOption("lenient", "", "Leave broken records out and count them"),
  };
}

absl::StatusOr<sim::TraceOptions> ReadTraceOptions(const Invocation& invocation,
                                                   const std::string& path) {
  sim::TraceOptions options{
      .path = path, .format = {}, .unit = sim::TraceUnit::kUsual, .lenient = false};
  sim::TraceFormat format = sim::TraceFormat::kSwf;
  RETURN_IF_ERROR(ReadOption(invocation, "format", sim::ParseTraceFormat, &format));
  if (invocation.Has("format")) {
    options.format = format;
  }
  RETURN_IF_ERROR(ReadOption(invocation, "unit", sim::ParseTraceUnit, &options.unit));
  options.lenient = invocation.Has("lenient");
  if (IsDirectory(path)) {
    ASSIGN_OR_RETURN(options.path, TraceOfState(path));
    options.format = sim::TraceFormat::kCsv;
  }
  return options;
}

absl::StatusOr<std::int64_t> ParseProcessors(const std::string& text) {
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, sim::kProcessorsMax);
  if (!count.ok() || *count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text),
                                                   " is not a number of processors: "
                                                   "a whole number from 1 to ",
                                                   sim::kProcessorsMax));
  }
  return static_cast<std::int64_t>(*count);
}

}  // namespace muster::cli
