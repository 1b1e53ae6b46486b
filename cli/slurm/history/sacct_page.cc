#include "cli/slurm/history/sacct_page.h"

#include <algorithm>

#include "cli/controller/query/job_query.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/format/batch_word.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/format/page_table.h"

namespace muster::cli::slurm {
namespace {

bool Wants(const SacctRequest& request, const AccountRow& row) {
  return request.steps.empty() ||
         std::any_of(request.steps.begin(), request.steps.end(), [&row](const NamedStep& named) {
           const bool there = !Select({*row.job}, {named.job}).empty();
           return there && (named.step.has_value()
                                ? row.step != nullptr && row.step->step.value() == *named.step
                                : row.batch);
         });
}

void AddSteps(const SacctRequest& request, const AccountRow& job, std::vector<AccountRow>& rows) {
  if (job.detail == nullptr || !HasStarted(*job.job)) {
    return;
  }
  AccountRow row{.job = job.job, .detail = job.detail, .batch = true};
  if (HasScript(*job.detail) && Wants(request, row)) {
    rows.push_back(row);
  }
  row.batch = false;
  const AttemptNumber last =
      job.detail->attempts.empty() ? AttemptNumber() : job.detail->attempts.back().number;
  for (const StepView& step : job.detail->steps) {
    row.step = &step;
    if (step.attempt == last && Wants(request, row)) {
      rows.push_back(row);
    }
  }
}

std::vector<AccountRow> AccountRows(const SacctRequest& request, const AccountRecord& record) {
  std::vector<AccountRow> rows;
  for (QueueLine& line : FoldQueue(record.jobs, !request.each_element)) {
    const auto found = record.details.find(line.job->id);
    const AccountRow row{.job = line.job,
                         .detail = found == record.details.end() ? nullptr : &found->second,
                         .elements = std::move(line.elements)};
    if (request.steps.empty()) {
      rows.push_back(row);
    }
    if (!request.allocations) {
      AddSteps(request, row, rows);
    }
  }
  return rows;
}

}  // namespace

std::string SacctPage(const SacctRequest& request, const AccountRecord& record) {
  const PageStyle style{.header = request.header,
                        .parsable = request.parsable,
                        .ends_with_delimiter = request.ends_with_delimiter,
                        .delimiter = request.delimiter};
  std::vector<PageColumn> columns;
  for (const AccountColumn& column : request.columns) {
    columns.push_back({column.field->name, column.width});
  }
  std::string page = PageHead(columns, style);
  const std::string suffix = request.parsable ? request.delimiter : "";
  for (const AccountRow& row : AccountRows(request, record)) {
    std::vector<std::string> values;
    for (const AccountColumn& column : request.columns) {
      std::string value = column.field->value(row, record.scene);
      values.push_back(column.field->foreign ? Harmless(value, suffix) : std::move(value));
    }
    page += PageLine(columns, values, style);
  }
  return page;
}

}  // namespace muster::cli::slurm
