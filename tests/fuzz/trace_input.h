#pragma once

// A fuzzer's bytes as a file, and what every reader of traces must hold to whatever they are.
//
// Thread promise: one thread. Returns false when an invariant of trace_reader.h is broken; crashes
// are the sanitizers' to find.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>

#include "scheduler/simulator/readers/trace_format.h"
#include "scheduler/simulator/schedule/trace_text.h"

namespace muster::fuzz {

class FileOfBytes {
 public:
  FileOfBytes(const std::uint8_t* data, std::size_t size)
      : fd_(memfd_create("trace", MFD_CLOEXEC)) {
    good_ = fd_ != -1 && write(fd_, data, size) == static_cast<ssize_t>(size);
  }
  FileOfBytes(const FileOfBytes&) = delete;
  FileOfBytes& operator=(const FileOfBytes&) = delete;
  ~FileOfBytes() { close(fd_); }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  bool good_ = false;
};

inline bool IsSound(const sim::TraceRecord& record) {
  for (const std::int64_t time :
       {record.submit, record.run_time, record.requested_time, record.wait}) {
    if (time > sim::kTraceTimeMax || time < -sim::kTraceTimeMax) {
      return false;
    }
  }
  return record.job_id >= 0 && record.job_id <= sim::kTraceIdMax && record.line > 0 &&
         record.requested <= sim::kTraceCountMax && record.allocated <= sim::kTraceCountMax &&
         record.submit >= -1;
}

// Reads all of it; every record is sound, no id comes twice, and what is written as SWF is read
// back.
inline bool TraceHolds(const sim::TraceOptions& options) {
  const absl::StatusOr<sim::OpenedTrace> trace = sim::OpenTrace(options);
  if (!trace.ok()) {
    return trace.status().message().find('\n') == absl::string_view::npos;
  }
  std::set<std::int64_t> ids;
  std::string text = sim::SwfHeaderText(trace->reader->header(), "fuzz");
  sim::TraceRecord record;
  for (;;) {
    const absl::StatusOr<bool> more = trace->reader->Next(&record);
    if (!more.ok()) {
      return more.status().message().find('\n') == absl::string_view::npos;
    }
    if (!*more) {
      break;
    }
    if (!IsSound(record) || !ids.insert(record.job_id).second) {
      return false;
    }
    sim::AppendSwf(record, &text);
  }
  const FileOfBytes again(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const absl::StatusOr<sim::OpenedTrace> swf = sim::OpenTrace({.path = again.path(),
                                                               .format = sim::TraceFormat::kSwf,
                                                               .unit = sim::TraceUnit::kUsual,
                                                               .lenient = false});
  std::size_t count = 0;
  while (swf.ok()) {
    const absl::StatusOr<bool> more = swf->reader->Next(&record);
    if (!more.ok() || !*more) {
      return more.ok() && count == ids.size();
    }
    ++count;
  }
  return false;
}

}  // namespace muster::fuzz
