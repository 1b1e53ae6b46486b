#include "scheduler/simulator/readers/table_formats.h"

#include <algorithm>
#include <cmath>

#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/number_text.h"
#include "scheduler/simulator/readers/slurm_values.h"

namespace muster::sim {
namespace {

constexpr const char* kCount = "a whole number from -1 to 1000000000";
constexpr const char* kSeconds = "seconds from 0 to 1000000000000";
constexpr const char* kId = "a job id that ends in a number";
constexpr const char* kDate = "a time such as 2026-03-14T09:26:53";
constexpr const char* kDuration = "a duration such as 1-02:03:04";

// Whole, or with a fraction, which is cut off; from `min` to `max`.
bool ReadBounded(std::string_view text, std::int64_t min, std::int64_t max, std::int64_t* number) {
  double value = 0;
  if (!ReadDecimal(text, &value) || value < static_cast<double>(min) ||
      value > static_cast<double>(max)) {
    return false;
  }
  *number = static_cast<std::int64_t>(value);
  return true;
}

template <std::int64_t TraceRecord::*kMember>
bool Count(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  std::int64_t number = 0;
  if (!ReadWhole(text, &number) || number < -1 || number > kTraceCountMax) {
    return false;
  }
  row->record.*kMember = number;
  return true;
}

// CPUs in thousandths, rounded up.
bool CpuMilli(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  std::int64_t milli = 0;
  if (!ReadBounded(text, 0, kTraceCountMax, &milli)) {
    return false;
  }
  row->record.requested = row->record.allocated = (milli + 999) / 1000;
  return true;
}

template <std::int64_t TraceRecord::*kMember>
bool Seconds(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadBounded(text, 0, kTraceTimeMax, &(row->record.*kMember));
}

// Seconds, or -1 for "not known".
template <std::int64_t TraceRecord::*kMember>
bool KnownSeconds(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadBounded(text, -1, kTraceTimeMax, &(row->record.*kMember));
}

template <std::int64_t TableRow::*kMember>
bool Moment(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadBounded(text, 0, kTraceTimeMax, &(row->*kMember));
}

template <NameTable TraceNames::*kTable, std::int64_t TraceRecord::*kMember>
bool NameIn(std::string_view text, TableRow* row, TraceNames* names) {
  row->record.*kMember = text == "-1" ? -1 : (names->*kTable).NumberOf(text);
  return true;
}

// The number at the end: "openb-pod-0012" is 12.
bool IdAtEnd(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  const std::size_t before = text.find_last_not_of("0123456789");
  const std::string_view digits = before == std::string_view::npos ? text : text.substr(before + 1);
  row->has_id = ReadWhole(digits, &row->record.job_id) && row->record.job_id <= kTraceIdMax;
  return row->has_id;
}

bool Gpus(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadBounded(text, 0, kTraceCountMax, &row->gpus);
}

bool GpuShare(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadBounded(text, 0, 1000, &row->gpu_share);
}

bool GibOfMemory(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  double gib = 0;
  if (!ReadDecimal(text, &gib) || gib < 0 || gib > 1e6) {
    return false;
  }
  row->record.memory_mib = static_cast<std::int64_t>(std::ceil(gib * 1024));
  return true;
}

bool PodPhase(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  row->record.status = text == "Succeeded" ? 1 : text == "Failed" ? 0 : -1;
  return true;
}

bool SlurmId(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  row->has_id = ReadSlurmJobId(text, &row->record.job_id, &row->is_step);
  return row->has_id;
}

template <std::int64_t TraceRecord::*kMember>
bool SlurmDuration(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadSlurmDuration(text, &(row->record.*kMember));
}

bool SlurmLimitMinutes(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  std::int64_t minutes = 0;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) {
    return ReadSlurmDuration(text, &minutes) && minutes == -1;
  }
  if (!ReadBounded(text, 0, kTraceTimeMax / 60, &minutes)) {
    return false;
  }
  row->record.requested_time = minutes * 60;
  return true;
}

bool SlurmSubmit(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadSlurmTime(text, &row->record.submit);
}

template <std::int64_t TableRow::*kMember>
bool SlurmMoment(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  return ReadSlurmTime(text, &(row->*kMember));
}

bool SlurmTres(std::string_view text, TableRow* row, TraceNames* names) {
  if (const std::string gres = SlurmGres(text); !gres.empty()) {
    row->record.gres = names->gres.NumberOf(gres);
  }
  return ReadSlurmGpus(text, &row->record.gpu_milli);
}

bool SlurmState(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  row->record.status = SlurmStatus(text);
  return true;
}

bool Success(std::string_view text, TableRow* row, TraceNames* names) {
  (void)names;
  row->record.status = text == "1" ? 1 : 0;
  return true;
}

TableFormat Sacct() {
  return {.format = TraceFormat::kSacct,
          .separator = '|',
          .has_dates = true,
          .columns = {
              {"JobID", kId, SlurmId},
              {"JobIDRaw", kId, SlurmId},
              {"User", "", NameIn<&TraceNames::users, &TraceRecord::user>},
              {"Account", "", NameIn<&TraceNames::groups, &TraceRecord::group>},
              {"Partition", "", NameIn<&TraceNames::partitions, &TraceRecord::partition>},
              {"QOS", "", NameIn<&TraceNames::queues, &TraceRecord::queue>},
              {"State", "", SlurmState},
              {"Submit", kDate, SlurmSubmit, true},
              {"Start", kDate, SlurmMoment<&TableRow::start>},
              {"End", kDate, SlurmMoment<&TableRow::end>},
              {"Elapsed", kDuration, SlurmDuration<&TraceRecord::run_time>},
              {"ElapsedRaw", kSeconds, Seconds<&TraceRecord::run_time>},
              {"Timelimit", kDuration, SlurmDuration<&TraceRecord::requested_time>},
              {"TimelimitRaw", "a number of minutes", SlurmLimitMinutes},
              {"AllocCPUS", kCount, Count<&TraceRecord::allocated>},
              {"NCPUS", kCount, Count<&TraceRecord::allocated>},
              {"ReqCPUS", kCount, Count<&TraceRecord::requested>},
              {"NNodes", kCount, Count<&TraceRecord::nodes>},
              {"AllocNodes", kCount, Count<&TraceRecord::nodes>},
              {"ReqTRES", "a list such as cpu=4,gres/gpu=2", SlurmTres},
              {"AllocTRES", "a list such as cpu=4,gres/gpu=2", SlurmTres},
          }};
}

TableFormat Openb() {
  return {.format = TraceFormat::kOpenb,
          .columns = {
              {"name", kId, IdAtEnd, true},
              {"cpu_milli", kCount, CpuMilli, true},
              {"memory_mib", kCount, Count<&TraceRecord::memory_mib>, true},
              {"num_gpu", kCount, Gpus, true},
              {"gpu_milli", "a number from 0 to 1000", GpuShare, true},
              {"qos", "", NameIn<&TraceNames::queues, &TraceRecord::queue>},
              {"gpu_spec", "", NameIn<&TraceNames::partitions, &TraceRecord::partition>},
              {"pod_phase", "", PodPhase},
              {"creation_time", kSeconds, Seconds<&TraceRecord::submit>},
              {"scheduled_time", kSeconds, Moment<&TableRow::start>},
              {"deletion_time", kSeconds, Moment<&TableRow::end>},
          }};
}

TableFormat Dlrm() {
  return {.format = TraceFormat::kDlrm,
          .columns = {
              {"instance_sn", kId, IdAtEnd, true},
              {"role", "", NameIn<&TraceNames::partitions, &TraceRecord::partition>},
              {"app_name", "", NameIn<&TraceNames::users, &TraceRecord::user>, true},
              {"cpu_request", kCount, Count<&TraceRecord::requested>},
              {"cpu_limit", kCount, Count<&TraceRecord::allocated>},
              {"gpu_request", kCount, Gpus, true},
              {"memory_request", "GiB from 0 to 1000000", GibOfMemory},
              {"creation_time", kSeconds, Seconds<&TraceRecord::submit>, true},
              {"scheduled_time", kSeconds, Moment<&TableRow::start>},
              {"deletion_time", kSeconds, Moment<&TableRow::end>},
          }};
}

// Tiresias' columns; Chronus' have more.
std::vector<TableColumn> TiresiasColumns() {
  return {
      {"job_id", kId, IdAtEnd, true},
      {"num_gpu", kCount, Gpus, true},
      {"submit_time", kSeconds, Seconds<&TraceRecord::submit>, true},
      {"start_time", kSeconds, Moment<&TableRow::start>},
      {"duration", kSeconds, Seconds<&TraceRecord::run_time>, true},
      {"model_name", "", NameIn<&TraceNames::groups, &TraceRecord::group>},
  };
}

TableFormat Philly() {
  TableFormat format = {.format = TraceFormat::kPhilly, .columns = TiresiasColumns()};
  format.columns.push_back({"user", "", NameIn<&TraceNames::users, &TraceRecord::user>, true});
  format.columns.push_back(
      {"job_type", "", NameIn<&TraceNames::queues, &TraceRecord::queue>, true});
  return format;
}

TableFormat MusterCsv() {
  return {.format = TraceFormat::kCsv,
          .columns = {
              {"job_id", kId, IdAtEnd, true},
              {"submit", kSeconds, Seconds<&TraceRecord::submit>, true},
              {"wait", kSeconds, KnownSeconds<&TraceRecord::wait>},
              {"run_time", kSeconds, KnownSeconds<&TraceRecord::run_time>, true},
              {"allocated", kCount, Count<&TraceRecord::allocated>},
              {"requested", kCount, Count<&TraceRecord::requested>, true},
              {"requested_time", kSeconds, KnownSeconds<&TraceRecord::requested_time>},
              {"status", kCount, Count<&TraceRecord::status>},
              {"user", "", NameIn<&TraceNames::users, &TraceRecord::user>},
              {"group", "", NameIn<&TraceNames::groups, &TraceRecord::group>},
              {"queue", "", NameIn<&TraceNames::queues, &TraceRecord::queue>},
              {"partition", "", NameIn<&TraceNames::partitions, &TraceRecord::partition>},
              {"gpu_milli", kCount, Count<&TraceRecord::gpu_milli>},
              {"nodes", kCount, Count<&TraceRecord::nodes>},
              {"memory_mib", kCount, Count<&TraceRecord::memory_mib>},
          }};
}

TableFormat JobsCsv() {
  return {.format = TraceFormat::kJobsCsv,
          .columns = {
              {"job_id", kId, IdAtEnd, true},
              {"submission_time", kSeconds, Seconds<&TraceRecord::submit>, true},
              {"requested_number_of_resources", kCount, Count<&TraceRecord::requested>, true},
              {"requested_time", kSeconds, KnownSeconds<&TraceRecord::requested_time>},
              {"success", "0 or 1", Success},
              {"starting_time", kSeconds, Moment<&TableRow::start>},
              {"finish_time", kSeconds, Moment<&TableRow::end>},
              {"execution_time", kSeconds, Seconds<&TraceRecord::run_time>, true},
          }};
}

}  // namespace

const std::vector<TableFormat>& TableFormats() {
  static const std::vector<TableFormat> formats = {
      Sacct(),
      Openb(),
      Dlrm(),
      Philly(),
      {TraceFormat::kTiresias, ',', false, TiresiasColumns()},
      JobsCsv(),
      MusterCsv()};
  return formats;
}

const TableFormat& TableFormatOf(TraceFormat format) {
  const std::vector<TableFormat>& formats = TableFormats();
  const auto found =
      std::find_if(formats.begin(), formats.end(),
                   [format](const TableFormat& table) { return table.format == format; });
  MUSTER_CHECK(found != formats.end());
  return *found;
}

bool IsHeaderOf(const TableFormat& format, std::string_view line) {
  std::vector<std::string_view> names;
  SplitLine(line, format.separator, &names);
  return std::all_of(
      format.columns.begin(), format.columns.end(), [&names](const TableColumn& column) {
        return !column.tells || std::find(names.begin(), names.end(), column.name) != names.end();
      });
}

void SplitLine(std::string_view line, char separator, std::vector<std::string_view>* parts) {
  parts->clear();
  for (;;) {
    const std::size_t at = line.find(separator);
    parts->push_back(line.substr(0, at));
    if (at == std::string_view::npos) {
      return;
    }
    line.remove_prefix(at + 1);
  }
}

}  // namespace muster::sim
