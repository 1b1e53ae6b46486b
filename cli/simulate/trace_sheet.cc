#include "cli/simulate/trace_sheet.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr double kDay = 24.0 * 3600;

Json OrNull(const std::optional<std::int64_t>& number) {
  return number.has_value() ? Json(*number) : Json(nullptr);
}

const char* Processors(const sim::TraceInfo& info) {
  return info.counts_gpus ? "GPUs" : "processors";
}

std::string MachineText(const sim::TraceInfo& info) {
  const sim::TraceHeader& header = info.header;
  const std::string computer = header.computer.empty() ? "" : header.computer + ", ";
  if (header.max_procs.has_value()) {
    return absl::StrCat(computer, *header.max_procs, " ", Processors(info));
  }
  return absl::StrCat(
      computer, "the trace does not say how large (--flat P does, --nodes FILE too)",
      header.max_nodes.has_value() ? absl::StrCat("; MaxNodes is ", *header.max_nodes) : "");
}

std::string RecordsText(const sim::TraceInfo& info) {
  std::string text =
      absl::StrCat(info.records, " records, ", info.jobs, " jobs; ", info.no_run_time,
                   " without run time, ", info.no_processors, " without ", Processors(info), ", ");
  absl::StrAppend(&text, info.too_large, " larger than the machine, ", info.out_of_order,
                  " out of order");
  if (info.steps != 0) {
    absl::StrAppend(&text, "; ", info.steps, " further lines are steps");
  }
  const std::int64_t said = info.header.max_jobs.value_or(-1);
  if (said >= 0 && static_cast<std::uint64_t>(said) != info.records) {
    absl::StrAppend(&text, " (the header says ", said, ")");
  }
  return text;
}

std::string BrokenText(const sim::SkippedRecords& skipped) {
  return absl::StrCat(skipped.lines, ", and ", skipped.duplicates, " with an id seen before",
                      skipped.truncated ? "; the file ends in the middle" : "",
                      skipped.first.empty() ? "" : "; the first: ", skipped.first);
}

}  // namespace

std::string TraceInfoDocument(const std::string& path, const sim::TraceInfo& info) {
  Json weeks = Json::array();
  for (const sim::TraceWeek& week : info.weeks) {
    weeks.push_back({{"jobs", week.jobs}, {"work", week.work}, {"load", week.load}});
  }
  const Json header = {{"computer", info.header.computer},
                       {"max_procs", OrNull(info.header.max_procs)},
                       {"max_nodes", OrNull(info.header.max_nodes)},
                       {"max_jobs", OrNull(info.header.max_jobs)},
                       {"unix_start_time", OrNull(info.header.unix_start)}};
  return PrintJson({{"trace", path},
                    {"format", sim::Name(info.format)},
                    {"processors_are", info.counts_gpus ? "gpus" : "cpus"},
                    {"header", header},
                    {"records", info.records},
                    {"steps", info.steps},
                    {"jobs", info.jobs},
                    {"no_run_time", info.no_run_time},
                    {"no_processors", info.no_processors},
                    {"too_large", info.too_large},
                    {"out_of_order", info.out_of_order},
                    {"broken", info.skipped.lines},
                    {"duplicates", info.skipped.duplicates},
                    {"truncated", info.skipped.truncated},
                    {"first_broken", info.skipped.first},
                    {"first_submit", info.first_submit},
                    {"last_submit", info.last_submit},
                    {"largest_job", info.largest},
                    {"users", info.users},
                    {"jobs_with_gpus", info.with_gpus},
                    {"gpu_hours", info.gpu_hours},
                    {"with_requested_time", info.with_estimate},
                    {"over_requested_time", info.over_estimate},
                    {"mean_share_of_requested_time", info.estimate_used},
                    {"load", info.load},
                    {"weeks", weeks}});
}

std::string PrintTraceInfo(const std::string& path, const sim::TraceInfo& info,
                           const Style& style) {
  std::string page = absl::StrCat(
      "trace      ", path, ": ", sim::RowOf(info.format).title, "\nmachine    ", MachineText(info),
      "\nrecords    ", RecordsText(info), "\nbroken     ", BrokenText(info.skipped), "\n");
  absl::StrAppendFormat(&page, "span       %.2f days, %d users, largest job %d %s\n",
                        static_cast<double>(info.last_submit - info.first_submit) / kDay,
                        info.users, info.largest, Processors(info));
  if (info.with_gpus != 0) {
    absl::StrAppendFormat(&page, "GPUs       %d jobs have some, %.1f GPU hours\n", info.with_gpus,
                          info.gpu_hours);
  }
  absl::StrAppendFormat(&page,
                        "estimates  %d jobs name a requested time, %d ran longer; %.1f %% of it "
                        "is used on average\n",
                        info.with_estimate, info.over_estimate, 100 * info.estimate_used);
  absl::StrAppend(&page, "load       ",
                  info.header.max_procs.has_value()
                      ? absl::StrFormat("%.4f of the machine over the span", info.load)
                      : "not known without the machine's size",
                  "\n\n");
  Table table({{.title = "WEEK", .right = true},
               {.title = "JOBS", .right = true},
               {.title = "LOAD", .right = true}});
  for (std::size_t i = 0; i < info.weeks.size(); ++i) {
    table.Add({{absl::StrCat(i + 1)},
               {absl::StrCat(info.weeks[i].jobs)},
               {absl::StrFormat("%.3f", info.weeks[i].load)}});
  }
  return absl::StrCat(page, table.Print(style));
}

std::string NodeListDocument(const std::string& path, const sim::TraceNodes& list) {
  Json classes = Json::array();
  for (const sim::TraceNodeClass& node : list.classes) {
    classes.push_back({{"nodes", node.nodes},
                       {"cpus", node.cpus},
                       {"gpus", node.gpus},
                       {"memory_mib", node.memory_mib},
                       {"model", node.model}});
  }
  return PrintJson({{"nodes_file", path},
                    {"nodes", list.nodes},
                    {"cpus", list.cpus},
                    {"gpus", list.gpus},
                    {"classes", classes}});
}

std::string PrintNodeList(const std::string& path, const sim::TraceNodes& list,
                          const Style& style) {
  std::string page = absl::StrFormat("nodes      %s: %d nodes, %d CPUs, %d GPUs\n\n", path,
                                     list.nodes, list.cpus, list.gpus);
  Table table({{.title = "NODES", .right = true},
               {.title = "CPUS", .right = true},
               {.title = "GPUS", .right = true},
               {.title = "MEMORY", .right = true},
               {.title = "MODEL"}});
  for (const sim::TraceNodeClass& node : list.classes) {
    table.Add(
        {{absl::StrCat(node.nodes)},
         {absl::StrCat(node.cpus)},
         {absl::StrCat(node.gpus)},
         {node.memory_mib == 0 ? "-"
                               : BytesText(static_cast<std::uint64_t>(node.memory_mib) << 20U)},
         {node.model.empty() ? "-" : node.model}});
  }
  return page + table.Print(style);
}

}  // namespace muster::cli
