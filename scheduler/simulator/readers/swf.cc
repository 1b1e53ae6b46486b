#include "scheduler/simulator/readers/swf.h"

#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::size_t kFields = 18;
constexpr std::int64_t kTimeMax = 1'000'000'000'000;
constexpr std::int64_t kCountMaximum = 1'000'000'000;
constexpr std::int64_t kIdMax = 1'000'000'000'000'000;

struct FieldRule {
  const char* name;
  std::int64_t max;  // 0: checked to be a number, with a fraction or without, and not used
  std::int64_t min = -1;
  std::int64_t SwfRecord::*member = nullptr;
};

constexpr std::array<FieldRule, kFields> kRules = {{
    {"job id", kIdMax, 0, &SwfRecord::job_id},
    {"submit time", kTimeMax, -1, &SwfRecord::submit},
    {"wait time", kTimeMax, -kTimeMax, &SwfRecord::wait},
    {"run time", kTimeMax, -kTimeMax, &SwfRecord::run_time},
    {"allocated processors", kCountMaximum, -1, &SwfRecord::allocated},
    {"average CPU time", 0},
    {"used memory", 0},
    {"requested processors", kCountMaximum, -1, &SwfRecord::requested},
    {"requested time", kTimeMax, -kTimeMax, &SwfRecord::requested_time},
    {"requested memory", 0},
    {"status", kCountMaximum, -1, &SwfRecord::status},
    {"user", kIdMax, -1, &SwfRecord::user},
    {"group", kIdMax, -1, &SwfRecord::group},
    {"executable", 0},
    {"queue", kIdMax, -1, &SwfRecord::queue},
    {"partition", kIdMax, -1, &SwfRecord::partition},
    {"preceding job", 0},
    {"think time", 0},
}};

bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

// The next word of `text`, which begins behind it afterwards; empty at the end.
std::string_view NextWord(std::string_view* text) {
  std::size_t begin = 0;
  while (begin < text->size() && IsBlank((*text)[begin])) {
    ++begin;
  }
  std::size_t end = begin;
  while (end < text->size() && !IsBlank((*text)[end])) {
    ++end;
  }
  const std::string_view word = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return word;
}

// The next word of `text` when it is a whole number of at most 18 digits, as nearly all are; `text`
// begins behind it afterwards. Otherwise false, and `text` is as it was.
bool ReadWholeWord(std::string_view* text, std::int64_t* number) {
  const char* at = text->data();
  const char* const end = at + text->size();
  while (at != end && IsBlank(*at)) {
    ++at;
  }
  const bool is_negative = at != end && *at == '-';
  at += is_negative ? 1 : 0;
  const char* const digits = at;
  std::int64_t value = 0;
  while (at != end && *at >= '0' && *at <= '9' && at - digits < 18) {
    value = value * 10 + (*at++ - '0');
  }
  if (at == digits || (at != end && !IsBlank(*at))) {
    return false;
  }
  *number = is_negative ? -value : value;
  text->remove_prefix(static_cast<std::size_t>(at - text->data()));
  return true;
}

bool ReadWhole(std::string_view word, std::int64_t* number) {
  const bool is_negative = !word.empty() && word[0] == '-';
  const std::string_view digits = word.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.size() > 18) {
    return false;
  }
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return false;
    }
    value = value * 10 + (c - '0');
  }
  *number = is_negative ? -value : value;
  return true;
}

// A number in the usual decimal spelling; "nan", "inf" and hexadecimal are none.
bool IsDecimal(std::string_view word) {
  std::int64_t whole = 0;
  if (ReadWhole(word, &whole)) {
    return true;
  }
  if (word.find_first_not_of("+-.0123456789eE") != std::string_view::npos) {
    return false;
  }
  double value = 0;
  const std::from_chars_result read =
      std::from_chars(word.data(), word.data() + word.size(), value);
  return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

// `word` as an error line shows it: control characters replaced, long words cut.
std::string Shown(std::string_view word) {
  std::string text(word.substr(0, 24));
  for (char& c : text) {
    c = c < ' ' || c > '~' ? '?' : c;
  }
  return absl::StrCat("\"", text, word.size() > 24 ? "…\"" : "\"");
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwfReader>> SwfReader::Open(const std::string& path, bool lenient) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  std::unique_ptr<SwfReader> reader(new SwfReader(path, std::move(source), lenient));
  SwfRecord first;
  ASSIGN_OR_RETURN(const bool any, reader->Read(&first));
  if (any) {
    reader->first_ = first;
  }
  return reader;
}

absl::StatusOr<bool> SwfReader::Next(SwfRecord* record) {
  if (first_.has_value()) {
    *record = *first_;
    first_.reset();
    return true;
  }
  return Read(record);
}

absl::StatusOr<bool> SwfReader::Read(SwfRecord* record) {
  Line line;
  for (;;) {
    const absl::StatusOr<bool> more = lines_.Next(&line);
    if (!more.ok()) {
      if (!lenient_ || !absl::IsDataLoss(more.status())) {
        return more.status();
      }
      skipped_.truncated = true;
      skipped_.first =
          skipped_.first.empty() ? std::string(more.status().message()) : skipped_.first;
      return false;
    }
    if (!*more) {
      return false;
    }
    if (line.text.empty() || line.text.front() == ';') {
      RETURN_IF_ERROR(ReadComment(line));
      continue;
    }
    if (Trimmed(line.text).empty() && !line.too_long) {
      continue;
    }
    ++records_;
    const absl::Status status = ReadRecord(line, record);
    if (status.ok()) {
      return true;
    }
    if (!lenient_) {
      return absl::DataLossError(
          absl::StrCat(std::string(status.message()), "; --lenient leaves such records out"));
    }
    Skip(status);
  }
}

void SwfReader::Skip(const absl::Status& status) {
  absl::IsAlreadyExists(status) ? ++skipped_.duplicates : ++skipped_.lines;
  if (skipped_.first.empty()) {
    skipped_.first = std::string(status.message());
  }
}

absl::Status SwfReader::Error(const Line& line, const std::string& what) const {
  return absl::DataLossError(absl::StrCat(path_, ":", line.number, ": ", what));
}

absl::Status SwfReader::ReadRecord(const Line& line, SwfRecord* record) {
  if (line.too_long) {
    return Error(line, absl::StrCat("the line is longer than ", kLineBytesMax,
                                    " characters: a record has 18 numbers"));
  }
  *record = SwfRecord();
  record->line = line.number;
  std::string_view rest = line.text;
  for (std::size_t i = 0; i < kFields; ++i) {
    const FieldRule& rule = kRules[i];
    std::int64_t value = 0;
    std::string_view word;
    const bool is_whole = ReadWholeWord(&rest, &value);
    if (!is_whole) {
      word = NextWord(&rest);
      if (word.empty()) {
        return Error(line,
                     absl::StrCat("the record has ", i, " of 18 fields: is the file cut off?"));
      }
    }
    if (rule.max == 0) {
      if (!is_whole && !IsDecimal(word)) {
        return Error(line, absl::StrCat("field ", i + 1, " (", rule.name, ") is ", Shown(word),
                                        ": write a number, or -1 if it is not known"));
      }
      continue;
    }
    if (!is_whole || value < rule.min || value > rule.max) {
      return Error(line, absl::StrCat("field ", i + 1, " (", rule.name, ") is ",
                                      is_whole ? absl::StrCat("\"", value, "\"") : Shown(word),
                                      ": write a whole number from ", rule.min, " to ", rule.max));
    }
    record->*rule.member = value;
  }
  if (!NextWord(&rest).empty()) {
    return Error(line, "the record has more than 18 fields: take out what is not of the format");
  }
  if (!ids_.Insert(record->job_id)) {
    return absl::AlreadyExistsError(absl::StrCat(path_, ":", line.number, ": job id ",
                                                 record->job_id,
                                                 " was there before: give each job its own"));
  }
  return absl::OkStatus();
}

// "; Key: value". Only what stands before the first record is about the whole log.
absl::Status SwfReader::ReadComment(const Line& line) {
  if (line.text.empty() || records_ != 0) {
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
    return ReadHeaderNumber(line, std::string(key), value, &header_.max_procs);
  }
  if (key == "MaxNodes") {
    return ReadHeaderNumber(line, std::string(key), value, &header_.max_nodes);
  }
  if (key == "MaxJobs") {
    return ReadHeaderNumber(line, std::string(key), value, &header_.max_jobs);
  }
  if (key == "UnixStartTime") {
    return ReadHeaderNumber(line, std::string(key), value, &header_.unix_start);
  }
  if (key == "Computer" && header_.computer.empty()) {
    for (const char c : value.substr(0, 100)) {
      header_.computer += c < ' ' || c > '~' ? '?' : c;
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
  const bool is_number = ReadWhole(NextWord(&rest), &read) && read >= -1 && read <= kTimeMax;
  if (is_number && read >= 0) {
    *number = read;
  }
  if (is_number || lenient_) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(path_, ":", line.number, ": the header says ", key, ": ",
                                          Shown(value), ": mend it, or --lenient ignores it"));
}

}  // namespace muster
