#include "scheduler/simulator/readers/swf.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/number_text.h"

namespace muster::sim {
namespace {

constexpr std::size_t kFields = 18;

struct FieldRule {
  const char* name;
  std::int64_t max;  // 0: checked to be a number, with a fraction or without, and not used
  std::int64_t min = -1;
  std::int64_t TraceRecord::*member = nullptr;
};

constexpr std::array<FieldRule, kFields> kRules = {{
    {"job id", kTraceIdMax, 0, &TraceRecord::job_id},
    {"submit time", kTraceTimeMax, -1, &TraceRecord::submit},
    {"wait time", kTraceTimeMax, -kTraceTimeMax, &TraceRecord::wait},
    {"run time", kTraceTimeMax, -kTraceTimeMax, &TraceRecord::run_time},
    {"allocated processors", kTraceCountMax, -1, &TraceRecord::allocated},
    {"average CPU time", 0},
    {"used memory", 0},
    {"requested processors", kTraceCountMax, -1, &TraceRecord::requested},
    {"requested time", kTraceTimeMax, -kTraceTimeMax, &TraceRecord::requested_time},
    {"requested memory", 0},
    {"status", kTraceCountMax, -1, &TraceRecord::status},
    {"user", kTraceIdMax, -1, &TraceRecord::user},
    {"group", kTraceIdMax, -1, &TraceRecord::group},
    {"executable", 0},
    {"queue", kTraceIdMax, -1, &TraceRecord::queue},
    {"partition", kTraceIdMax, -1, &TraceRecord::partition},
    {"preceding job", 0},
    {"think time", 0},
}};

bool IsNoRecord(const Line& line) {
  return line.text.empty() || line.text.front() == ';' ||
         (!line.too_long && Trimmed(line.text).empty());
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwfReader>> SwfReader::Open(const std::string& path, bool lenient) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  return Begin(path, lenient, std::move(source));
}

absl::StatusOr<std::unique_ptr<SwfReader>> SwfReader::Begin(const std::string& path, bool lenient,
                                                            std::unique_ptr<ByteSource> source) {
  std::unique_ptr<SwfReader> reader(new SwfReader(path, lenient, std::move(source)));
  RETURN_IF_ERROR(reader->TraceReader::Begin());
  return reader;
}

absl::StatusOr<TraceReader::Found> SwfReader::ReadOne(TraceRecord* record, absl::Status* broken) {
  Line line;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) {
      return Found::kEnd;
    }
    if (!IsNoRecord(line)) {
      *broken = ReadRecord(line, record);
      return broken->ok() ? Found::kRecord : Found::kBroken;
    }
    RETURN_IF_ERROR(ReadComment(line));
  }
}

absl::Status SwfReader::ReadRecord(const Line& line, TraceRecord* record) const {
  if (line.too_long) {
    return ErrorAt(line.number, absl::StrCat("the line is longer than ", kLineBytesMax,
                                             " characters: a record has 18 numbers"));
  }
  *record = TraceRecord();
  record->line = line.number;
  std::string_view rest = line.text;
  for (std::size_t field = 0; field < kFields; ++field) {
    RETURN_IF_ERROR(ReadField(line, field, &rest, record));
  }
  if (!NextWord(&rest).empty()) {
    return ErrorAt(line.number,
                   "the record has more than 18 fields: take out what is not of the format");
  }
  return absl::OkStatus();
}

absl::Status SwfReader::ReadField(const Line& line, std::size_t field, std::string_view* rest,
                                  TraceRecord* record) const {
  const FieldRule& rule = kRules[field];
  std::int64_t value = 0;
  std::string_view word;
  const bool is_whole = ReadWholeWord(rest, &value);
  if (!is_whole) {
    word = NextWord(rest);
    if (word.empty()) {
      return ErrorAt(line.number,
                     absl::StrCat("the record has ", field, " of 18 fields: is the file cut off?"));
    }
  }
  if (rule.max == 0) {
    double unused = 0;
    return is_whole || ReadDecimal(word, &unused)
               ? absl::OkStatus()
               : ErrorAt(line.number,
                         absl::StrCat("field ", field + 1, " (", rule.name, ") is ", Shown(word),
                                      ": write a number, or -1 if it is not known"));
  }
  if (!is_whole || value < rule.min || value > rule.max) {
    return ErrorAt(line.number,
                   absl::StrCat("field ", field + 1, " (", rule.name, ") is ",
                                is_whole ? absl::StrCat("\"", value, "\"") : Shown(word),
                                ": write a whole number from ", rule.min, " to ", rule.max));
  }
  record->*rule.member = value;
  return absl::OkStatus();
}

// "; Key: value". Only what stands before the first record is about the whole log.
absl::Status SwfReader::ReadComment(const Line& line) {
  if (line.text.empty() || line.text.front() != ';' || records() != 0) {
    return absl::OkStatus();
  }
  const std::string_view text = Trimmed(line.text.substr(1));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return absl::OkStatus();
  }
  const std::string_view key = text.substr(0, colon);
  const std::string_view value = Trimmed(text.substr(colon + 1));
  if (key == "MaxProcs") {
    return ReadHeaderNumber(line, std::string(key), value, &mutable_header().max_procs);
  }
  if (key == "MaxNodes") {
    return ReadHeaderNumber(line, std::string(key), value, &mutable_header().max_nodes);
  }
  if (key == "MaxJobs") {
    return ReadHeaderNumber(line, std::string(key), value, &mutable_header().max_jobs);
  }
  if (key == "UnixStartTime") {
    return ReadHeaderNumber(line, std::string(key), value, &mutable_header().unix_start);
  }
  if (key == "Computer" && mutable_header().computer.empty()) {
    for (const char c : value.substr(0, 100)) {
      mutable_header().computer += c < ' ' || c > '~' ? '?' : c;
    }
  }
  return absl::OkStatus();
}

// The number may be followed by words: "128 (was 64 until May)". -1 is "not known".
absl::Status SwfReader::ReadHeaderNumber(const Line& line, const std::string& key,
                                         std::string_view value,
                                         std::optional<std::int64_t>* number) {
  std::string_view rest = value;
  std::int64_t read = 0;
  const bool is_number = ReadWhole(NextWord(&rest), &read) && read >= -1 && read <= kTraceTimeMax;
  if (is_number && read >= 0) {
    *number = read;
  }
  if (is_number || lenient()) {
    return absl::OkStatus();
  }
  return ErrorAt(line.number, absl::StrCat("the header says ", key, ": ", Shown(value),
                                           ": mend it, or --lenient ignores it"));
}

}  // namespace muster::sim
