#include "scheduler/simulator/readers/batsim.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/number_text.h"

namespace muster::sim {
namespace {

using nlohmann::json;

// Nothing is thrown: what is no JSON comes back as "discarded".
json Parse(const JsonValue& value) {
  return value.too_long ? json(json::value_t::discarded) : json::parse(value.text, nullptr, false);
}

// A number from `min` to 10^12 under `key`; false when there is something else.
bool ReadNumber(const json& object, const char* key, double min, double* number) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    return false;
  }
  *number = found->get<double>();
  return *number >= min && *number <= static_cast<double>(kTraceTimeMax);
}

// A whole number, or a text that ends in one, as "w0!12" does.
bool ReadId(const json& object, std::int64_t* id) {
  const auto found = object.find("id");
  if (found == object.end() || (!found->is_number_integer() && !found->is_string())) {
    return false;
  }
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  const std::size_t before = text.find_last_not_of("0123456789");
  const bool is_negative = !found->is_string() && text.front() == '-';
  return !is_negative &&
         ReadWhole(std::string_view(text).substr(before == std::string::npos ? 0 : before + 1),
                   id) &&
         *id <= kTraceIdMax;
}

std::string NameUnder(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_string() || found->is_number_integer())) {
    return "";
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatsimReader>> BatsimReader::Begin(
    const std::string& path, bool lenient, std::unique_ptr<ByteSource> source) {
  std::unique_ptr<BatsimReader> reader(new BatsimReader(path, lenient, std::move(source)));
  const absl::Status profiles = reader->ReadProfiles();
  if (!profiles.ok() && !(lenient && absl::IsDataLoss(profiles))) {
    return profiles;
  }
  RETURN_IF_ERROR(reader->TraceReader::Begin());
  return reader;
}

absl::Status BatsimReader::ReadProfiles() {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path()));
  if (source->file_size() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path(), ": the trace is empty, or cannot be read twice: name a file"));
  }
  JsonStream stream(path(), std::move(source));
  RETURN_IF_ERROR(stream.Enter('{'));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, stream.HasNext('}'));
    if (!more) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::string key, stream.Key());
    if (key == "nb_res") {
      RETURN_IF_ERROR(ReadMachine(&stream));
    } else if (key == "profiles") {
      RETURN_IF_ERROR(ReadProfileTable(&stream));
    } else {
      RETURN_IF_ERROR(stream.Value().status());
    }
  }
}

absl::Status BatsimReader::ReadMachine(JsonStream* stream) {
  ASSIGN_OR_RETURN(const JsonValue value, stream->Value());
  std::int64_t size = 0;
  if (ReadWhole(value.text, &size) && size >= 0 && size <= kTraceCountMax) {
    mutable_header().max_procs = size;
    return absl::OkStatus();
  }
  return lenient() ? absl::OkStatus()
                   : ErrorAt(value.line, absl::StrCat("nb_res is ", Shown(value.text),
                                                      ": write a whole number"));
}

absl::Status BatsimReader::ReadProfileTable(JsonStream* stream) {
  RETURN_IF_ERROR(stream->Enter('{'));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, stream->HasNext('}'));
    if (!more) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::string name, stream->Key());
    ASSIGN_OR_RETURN(const JsonValue value, stream->Value());
    const json profile = Parse(value);
    double delay = -1;
    const bool is_delay = profile.is_object() && NameUnder(profile, "type") == "delay";
    if (is_delay ? !ReadNumber(profile, "delay", 0, &delay) : !profile.is_object()) {
      if (!lenient()) {
        return ErrorAt(value.line, absl::StrCat("profile ", Shown(name), " is ", Shown(value.text),
                                                ": write {\"type\": \"delay\", \"delay\": "
                                                "seconds}, or another type's object"));
      }
      continue;
    }
    run_times_[name] = static_cast<std::int64_t>(std::ceil(delay));
  }
}

// Goes on to the array of jobs; false behind the end of the document.
absl::StatusOr<bool> BatsimReader::FindJobs() {
  if (!begun_) {
    begun_ = true;
    RETURN_IF_ERROR(stream_.Enter('{'));
  }
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, stream_.HasNext('}'));
    if (!more) {
      return false;
    }
    ASSIGN_OR_RETURN(const std::string key, stream_.Key());
    if (key == "jobs") {
      RETURN_IF_ERROR(stream_.Enter('['));
      return true;
    }
    RETURN_IF_ERROR(stream_.Value().status());
  }
}

absl::StatusOr<TraceReader::Found> BatsimReader::ReadOne(TraceRecord* record,
                                                         absl::Status* broken) {
  for (;;) {
    if (!inside_jobs_) {
      ASSIGN_OR_RETURN(inside_jobs_, FindJobs());
      if (!inside_jobs_) {
        return Found::kEnd;
      }
    }
    ASSIGN_OR_RETURN(inside_jobs_, stream_.HasNext(']'));
    if (inside_jobs_) {
      break;
    }
  }
  ASSIGN_OR_RETURN(const JsonValue value, stream_.Value());
  *broken = ReadJob(value, record);
  return broken->ok() ? Found::kRecord : Found::kBroken;
}

absl::Status BatsimReader::ReadJob(const JsonValue& value, TraceRecord* record) {
  if (value.too_long) {
    return ErrorAt(value.line, absl::StrCat("the job takes more than ", kLineBytesMax,
                                            " characters: a job has five values"));
  }
  const json job = Parse(value);
  if (!job.is_object()) {
    return ErrorAt(value.line, absl::StrCat(Shown(value.text), " is no JSON object: mend the job"));
  }
  *record = TraceRecord();
  record->line = value.line;
  double submit = 0;
  double processors = 0;
  double limit = -1;
  if (!ReadId(job, &record->job_id)) {
    return ErrorAt(value.line, "the job has no \"id\" that is or ends in a number: add it");
  }
  if (!ReadNumber(job, "subtime", 0, &submit)) {
    return ErrorAt(value.line, "the job has no \"subtime\" of 0 or more seconds: add it");
  }
  if (!ReadNumber(job, "res", 0, &processors) || processors != std::floor(processors) ||
      processors > static_cast<double>(kTraceCountMax)) {
    return ErrorAt(value.line, "the job has no \"res\" that is a number of processors: add it");
  }
  if (job.contains("walltime") && !ReadNumber(job, "walltime", -1, &limit)) {
    return ErrorAt(value.line, "the job's \"walltime\" is no number of seconds: mend it");
  }
  const auto profile = run_times_.find(NameUnder(job, "profile"));
  if (profile == run_times_.end()) {
    return ErrorAt(value.line, absl::StrCat("the job's profile ", Shown(NameUnder(job, "profile")),
                                            " is not among \"profiles\": add it"));
  }
  record->submit = static_cast<std::int64_t>(submit);
  record->requested = static_cast<std::int64_t>(processors);
  record->requested_time = limit > 0 ? static_cast<std::int64_t>(std::ceil(limit)) : -1;
  record->run_time = profile->second;
  record->user = mutable_names().users.NumberOf(NameUnder(job, "user"));
  return absl::OkStatus();
}

}  // namespace muster::sim
