#include "scheduler/simulator/schedule/trace_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, '?');
  return text;
}

// KB for each processor.
std::int64_t MemoryOf(const TraceRecord& record) {
  const std::int64_t processors = std::max(record.requested, record.allocated);
  return record.memory_mib < 0 || processors <= 0 ? -1 : record.memory_mib * 1024 / processors;
}

std::string NameText(const NameTable& table, std::int64_t number) {
  std::string name = number < 0 ? "-1" : table.NameOf(number);
  std::replace(name.begin(), name.end(), ',', ';');
  return name;
}

}  // namespace

std::string SwfHeaderText(const TraceHeader& header, const std::string& note) {
  std::string text = "; Version: 2.2\n";
  const auto add = [&text](const char* key, const std::optional<std::int64_t>& value) {
    if (value.has_value()) {
      absl::StrAppend(&text, "; ", key, ": ", *value, "\n");
    }
  };
  if (!header.computer.empty()) {
    absl::StrAppend(&text, "; Computer: ", OneLine(header.computer), "\n");
  }
  add("MaxJobs", header.max_jobs);
  add("UnixStartTime", header.unix_start);
  add("MaxNodes", header.max_nodes);
  add("MaxProcs", header.max_procs);
  absl::StrAppend(&text, "; Note: ", OneLine(note), "\n");
  return text;
}

void AppendSwf(const TraceRecord& record, std::string* text) {
  absl::StrAppend(text, record.job_id, " ", record.submit, " ", record.wait, " ");
  absl::StrAppend(text, record.run_time, " ", record.allocated, " -1 -1 ", record.requested);
  absl::StrAppend(text, " ", record.requested_time, " ", MemoryOf(record), " ");
  absl::StrAppend(text, record.status, " ", record.user, " ", record.group, " -1 ");
  absl::StrAppend(text, record.queue, " ", record.partition, " -1 -1\n");
}

TraceRecord RecordOf(const ScheduleRow& row) {
  return {.job_id = row.job_id,
          .submit = row.submission_time,
          .wait = row.waiting_time(),
          .run_time = row.execution_time,
          .allocated = row.requested_resources,
          .requested = row.requested_resources,
          .requested_time = row.requested_time,
          .status = row.success ? 1 : 0,
          .user = row.user,
          .group = row.group,
          .partition = row.partition};
}

std::string TraceCsvHeader() {
  return "job_id,submit,wait,run_time,allocated,requested,requested_time,status,user,group,queue,"
         "partition,gpu_milli,nodes,memory_mib\n";
}

void AppendTraceCsv(const TraceRecord& record, const TraceNames& names, std::string* text) {
  absl::StrAppend(text, record.job_id, ",", record.submit, ",", record.wait, ",");
  absl::StrAppend(text, record.run_time, ",", record.allocated, ",", record.requested, ",");
  absl::StrAppend(text, record.requested_time, ",", record.status, ",");
  absl::StrAppend(text, NameText(names.users, record.user), ",",
                  NameText(names.groups, record.group), ",", NameText(names.queues, record.queue));
  absl::StrAppend(text, ",", NameText(names.partitions, record.partition), ",", record.gpu_milli);
  absl::StrAppend(text, ",", record.nodes, ",", record.memory_mib, "\n");
}

}  // namespace muster::sim
