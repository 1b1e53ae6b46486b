#pragma once

// One line per event on standard error: timestamp, level, component, message.
//
//   2026-03-14T09:26:53.589Z info  agent: adopted 3 supervisors
//
// A Logger is an object that main makes and passes by reference; there is no global one. A line is
// one write(2), so lines of several processes on one pipe do not mix. Control characters in the
// message are escaped, so that a job's name cannot forge a line or drive a terminal; a message is
// cut at 8 KiB. Under systemd a line is an entry of the journal instead, with fields to filter by:
// PRIORITY, MUSTER_COMPONENT, and MUSTER_JOB where it is about a job. Thread promise: every method
// but AlsoTo is safe from any thread.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/journald.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// The level named by `name` ("debug", "info", "warning" or "error"), or `otherwise` for any other
// name.
LogLevel ParseLogLevel(std::string_view name, LogLevel otherwise);

// One log line without its newline, in plain text or with terminal colours.
std::string FormatLogLine(Time now, LogLevel level, std::string_view component,
                          std::string_view message, bool colour);

class Logger {
 public:
  // Writes lines of `threshold` and above to `fd`, which stays the caller's. `clock` must outlive
  // the logger.
  Logger(const Clock& clock, int fd, LogLevel threshold, bool colour)
      : clock_(clock), fd_(fd), threshold_(threshold), colour_(colour) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // The same, and into the journal instead where there is one.
  Logger(const Clock& clock, int fd, LogLevel threshold, bool colour,
         std::optional<Journald> journald)
      : clock_(clock),
        fd_(fd),
        threshold_(threshold),
        colour_(colour),
        journald_(std::move(journald)),
        to_fd_(!journald_.has_value()) {}

  // Standard error, or the journal where that goes there; the threshold from MUSTER_LOG (default
  // info); colour only on a terminal and without NO_COLOR. Reads the environment: call it from
  // main, before threads start.
  static Logger ToStandardError(const Clock& clock);

  // Lines go to the journal as well, those that name no job as about `job`. REQUIRES: before any
  // other thread writes.
  void AlsoTo(Journald journald, std::string job);

  // True when a line of `level` would be written: guards a costly message.
  bool Enabled(LogLevel level) const { return level >= threshold_; }

  // `job`: whom the line is about, for the journal; empty: no job.
  void Write(LogLevel level, std::string_view component, std::string_view message,
             std::string_view job = {}) const;
  void Debug(std::string_view component, std::string_view message,
             std::string_view job = {}) const {
    Write(LogLevel::kDebug, component, message, job);
  }
  void Info(std::string_view component, std::string_view message, std::string_view job = {}) const {
    Write(LogLevel::kInfo, component, message, job);
  }
  void Warning(std::string_view component, std::string_view message,
               std::string_view job = {}) const {
    Write(LogLevel::kWarning, component, message, job);
  }
  void Error(std::string_view component, std::string_view message,
             std::string_view job = {}) const {
    Write(LogLevel::kError, component, message, job);
  }

 private:
  const Clock& clock_;
  const int fd_;
  const LogLevel threshold_;
  const bool colour_;
  std::optional<Journald> journald_;
  std::string job_;      // of lines that name none
  bool to_fd_ = true;    // also where there is a journal
  mutable Mutex mutex_;  // Held over the write: one line at a time reaches fd_.
};

}  // namespace muster
