#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/frame/verbs.h"
#include "cli/simulate/trace_generate.h"
#include "cli/simulate/trace_options.h"
#include "cli/simulate/trace_sheet.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/schedule/trace_text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 16;

// --flat, or what the list of nodes adds up to, or zeros.
absl::StatusOr<sim::MachineSize> ReadTraceMachine(const Invocation& invocation) {
  std::int64_t processors = 0;
  RETURN_IF_ERROR(ReadOption(invocation, "flat", ParseProcessors, &processors));
  if (processors == 0 && invocation.Has("nodes")) {
    ASSIGN_OR_RETURN(const sim::TraceNodes list, sim::ReadNodeList(invocation.Value("nodes")));
    return sim::MachineSize{.cpus = list.cpus, .gpus = list.gpus};
  }
  return sim::MachineSize{.cpus = processors, .gpus = processors};
}

// What can be read only once is not looked at.
absl::StatusOr<bool> IsList(const sim::TraceOptions& options) {
  struct stat facts = {};
  const bool is_file = stat(options.path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  return is_file && !options.format.has_value() ? sim::IsNodeList(options.path)
                                                : absl::StatusOr<bool>(false);
}

absl::StatusOr<int> Info(const Invocation& invocation, const std::string& path) {
  const bool json = invocation.Has("json");
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  ASSIGN_OR_RETURN(const sim::TraceOptions options, ReadTraceOptions(invocation, path));
  ASSIGN_OR_RETURN(const bool is_list, IsList(options));
  if (is_list) {
    ASSIGN_OR_RETURN(const sim::TraceNodes list, sim::ReadNodeList(path));
    RETURN_IF_ERROR(
        WriteOut(json ? NodeListDocument(path, list) : PrintNodeList(path, list, style)));
    return 0;
  }
  ASSIGN_OR_RETURN(const sim::MachineSize machine, ReadTraceMachine(invocation));
  ASSIGN_OR_RETURN(const sim::TraceInfo info, sim::DescribeTrace(options, machine));
  RETURN_IF_ERROR(
      WriteOut(json ? TraceInfoDocument(path, info) : PrintTraceInfo(path, info, style)));
  return 0;
}

// The file of --output, or standard output.
class TraceOutput {
 public:
  static absl::StatusOr<TraceOutput> Open(const Invocation& invocation) {
    TraceOutput output;
    if (invocation.Has("output")) {
      ASSIGN_OR_RETURN(output.file_, ResultFile::Create(invocation.Value("output")));
    }
    return output;
  }

  // Writes what is pending when it is much, or when it is the last.
  absl::Status Flush(std::string* pending, bool is_last) {
    if (pending->size() < kPendingBytes && !is_last) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(file_ == nullptr ? WriteOut(*pending) : file_->Append(*pending));
    pending->clear();
    return file_ == nullptr || !is_last ? absl::OkStatus() : file_->Finish();
  }

 private:
  std::unique_ptr<ResultFile> file_;
};

absl::StatusOr<int> Convert(const Invocation& invocation, const std::string& path) {
  const std::string to = invocation.Has("to") ? invocation.Value("to") : "swf";
  if (to != "swf" && to != "csv") {
    return absl::InvalidArgumentError(
        absl::StrCat("--to: ", Quote(to), " is not a format to write: use swf or csv"));
  }
  ASSIGN_OR_RETURN(const sim::TraceOptions options, ReadTraceOptions(invocation, path));
  ASSIGN_OR_RETURN(const sim::OpenedTrace trace, sim::OpenTrace(options));
  sim::TraceHeader header = trace.reader->header();
  ASSIGN_OR_RETURN(const sim::MachineSize machine, ReadTraceMachine(invocation));
  const std::int64_t processors = trace.counts_gpus ? machine.gpus : machine.cpus;
  if (processors > 0) {
    header.max_procs = processors;
  }
  ASSIGN_OR_RETURN(TraceOutput output, TraceOutput::Open(invocation));
  std::string pending =
      to == "csv"
          ? sim::TraceCsvHeader()
          : sim::SwfHeaderText(header, absl::StrCat("converted by muster from the format ",
                                                    sim::Name(trace.format), "; processors are ",
                                                    trace.counts_gpus ? "GPUs" : "CPUs"));
  sim::TraceRecord record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, trace.reader->Next(&record));
    if (!more) {
      break;
    }
    to == "csv" ? sim::AppendTraceCsv(record, trace.reader->names(), &pending)
                : sim::AppendSwf(record, &pending);
    RETURN_IF_ERROR(output.Flush(&pending, false));
  }
  RETURN_IF_ERROR(output.Flush(&pending, true));
  const sim::SkippedRecords& skipped = trace.reader->skipped();
  if (!skipped.first.empty()) {
    std::cerr << "muster trace: left out " << skipped.lines << " broken records and "
              << skipped.duplicates << " with an id seen before; the first: " << skipped.first
              << "\n";
  }
  return 0;
}

absl::StatusOr<int> Generate(const Invocation& invocation, const std::string& path) {
  (void)path;
  const std::string to = invocation.Has("to") ? invocation.Value("to") : "swf";
  if (to != "swf" && to != "csv") {
    return absl::InvalidArgumentError(
        absl::StrCat("--to: ", Quote(to), " is not a format to write: use swf or csv"));
  }
  ASSIGN_OR_RETURN(std::string text, GenerateTrace(invocation, to == "csv"));
  ASSIGN_OR_RETURN(TraceOutput output, TraceOutput::Open(invocation));
  RETURN_IF_ERROR(output.Flush(&text, true));
  return 0;
}

struct TraceCommand {
  const char* name;
  bool takes_file;
  std::vector<std::string> options;  // besides those of every trace command
  absl::StatusOr<int> (*run)(const Invocation&, const std::string&);
};

const std::vector<TraceCommand>& Commands() {
  static const std::vector<TraceCommand> commands = {
      {"info", true, {"format", "unit", "lenient", "flat", "nodes", "json"}, Info},
      {"convert", true, {"format", "unit", "lenient", "flat", "nodes", "to", "output"}, Convert},
      {"generate",
       false,
       {"format", "unit", "lenient", "flat", "to", "output", "jobs", "seed", "load", "mix"},
       Generate},
  };
  return commands;
}

absl::Status CheckOptions(const Invocation& invocation, const TraceCommand& command) {
  for (const Option& option : TraceVerb().options) {
    const bool is_taken = std::find(command.options.begin(), command.options.end(), option.name) !=
                          command.options.end();
    if (invocation.Has(option.name) && !is_taken) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option.name, ": muster trace ", command.name, " does not take it: leave it out"));
    }
  }
  const bool has_file = invocation.arguments.size() == 2;
  if (command.takes_file != has_file) {
    return absl::InvalidArgumentError(absl::StrCat(
        command.name, command.takes_file ? ": name the trace: muster trace " : " takes no file: ",
        command.name, command.takes_file ? " FILE" : " [options]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Trace(const Invocation& invocation) {
  for (const TraceCommand& command : Commands()) {
    if (invocation.arguments.front() == command.name) {
      RETURN_IF_ERROR(CheckOptions(invocation, command));
      return command.run(invocation, command.takes_file ? invocation.arguments[1] : "");
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(invocation.arguments.front()),
                   " is not a trace command: use info, convert or generate"));
}

}  // namespace

Verb TraceVerb() {
  Verb verb;
  verb.name = "trace";
  verb.purpose = "Describe a workload trace, convert it, or generate one";
  verb.synopsis = "info|convert FILE|generate";
  verb.forms = {"info [options] FILE", "convert [options] FILE", "generate [options]"};
  verb.examples = {"muster trace info KTH-SP2.swf.xz",
                   "muster trace info --nodes openb_node_list.csv openb_pod_list.csv",
                   "muster trace generate --flat 256 --jobs 10000 --load 0.8 --output model.swf",
                   "muster trace convert --to swf --output jobs.swf sacct.txt.gz"};
  verb.options = TraceOptionTable();
  verb.options.push_back(MakeOption("flat", "P", "The machine has P processors"));
  verb.options.push_back(
      MakeOption("nodes", "FILE",
                 "The machine is this list of nodes: its CPUs, or its GPUs, whichever count"));
  verb.options.push_back(
      MakeOption("to", "FORMAT", "convert and generate: swf (the default) or csv"));
  verb.options.push_back(MakeOption("output", "FILE", "Write there, not to standard output"));
  for (const Option& option : GenerateOptionTable()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(JsonOption());
  verb.arguments_min = 1;
  verb.arguments_max = 2;
  verb.run = Trace;
  return verb;
}

}  // namespace muster::cli
