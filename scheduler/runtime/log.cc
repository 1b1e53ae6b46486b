#include "scheduler/runtime/log.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/utf8.h"

namespace muster {
namespace {

constexpr size_t kMessageBytesMax = 8192;

struct LevelStyle {
  LogLevel level;
  const char* name;
  const char* padded;
  const char* colour;
  const char* priority;  // syslog(3)'s
};

constexpr std::array<LevelStyle, 4> kLevels = {{
    {LogLevel::kDebug, "debug", "debug", "\x1b[2m", "7"},
    {LogLevel::kInfo, "info", "info ", "\x1b[32m", "6"},
    {LogLevel::kWarning, "warning", "warn ", "\x1b[33m", "4"},
    {LogLevel::kError, "error", "error", "\x1b[31m", "3"},
}};
constexpr const char* kColourOff = "\x1b[0m";

const LevelStyle& StyleOf(LogLevel level) {
  return kLevels.at(static_cast<size_t>(level));
}

// Writes all of `line`; a log that cannot be written is dropped, because nobody is left to tell.
void WriteLine(int fd, std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;
    }
    line.remove_prefix(static_cast<size_t>(written));
  }
}

std::vector<JournaldField> JournalFields(LogLevel level, std::string_view component,
                                         std::string_view message, std::string_view job) {
  std::vector<JournaldField> fields = {
      {"MESSAGE", message.substr(0, kMessageBytesMax)},
      {"PRIORITY", StyleOf(level).priority},
      {"SYSLOG_IDENTIFIER", program_invocation_short_name},
      {"MUSTER_COMPONENT", component},
  };
  if (!job.empty()) {
    fields.emplace_back("MUSTER_JOB", job);
  }
  return fields;
}

}  // namespace

LogLevel ParseLogLevel(std::string_view name, LogLevel otherwise) {
  for (const LevelStyle& style : kLevels) {
    if (name == style.name) {
      return style.level;
    }
  }
  return otherwise;
}

std::string FormatLogLine(Time now, LogLevel level, std::string_view component,
                          std::string_view message, bool colour) {
  const LevelStyle& style = StyleOf(level);
  std::string line = IsoText(now);
  line += ' ';
  line += colour ? style.colour : "";
  line += style.padded;
  line += colour ? kColourOff : "";
  line += ' ';
  line += EscapeControl(component);
  line += ": ";
  line += EscapeControl(message.substr(0, kMessageBytesMax));
  if (message.size() > kMessageBytesMax) {
    absl::StrAppend(&line, "… (", message.size() - kMessageBytesMax, " bytes more)");
  }
  return line;
}

Logger Logger::ToStandardError(const Clock& clock) {
  const char* level = getenv("MUSTER_LOG");    // NOLINT(concurrency-mt-unsafe): before threads.
  const char* no_colour = getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): before threads.
  const bool colour = isatty(STDERR_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  return Logger(clock, STDERR_FILENO, ParseLogLevel(level == nullptr ? "" : level, LogLevel::kInfo),
                colour, Journald::OfStandardError());
}

void Logger::AlsoTo(Journald journald, std::string job) {
  journald_ = std::move(journald);
  job_ = std::move(job);
}

void Logger::Write(LogLevel level, std::string_view component, std::string_view message,
                   std::string_view job) const {
  if (!Enabled(level)) {
    return;
  }
  const bool in_journal =
      journald_.has_value() &&
      journald_->Send(JournalFields(level, component, message, job.empty() ? job_ : job));
  if (in_journal && !to_fd_) {
    return;
  }
  std::string line = FormatLogLine(clock_.Now(), level, component, message, colour_);
  line += '\n';
  MutexLock lock(&mutex_);
  WriteLine(fd_, line);
}

}  // namespace muster
