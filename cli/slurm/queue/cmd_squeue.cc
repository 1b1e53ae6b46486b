#include "cli/slurm/queue/cmd_squeue.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/job_query.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/document/job_document.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/watching.h"
#include "cli/slurm/queue/recent_jobs.h"
#include "cli/slurm/queue/squeue_options.h"
#include "cli/slurm/queue/squeue_page.h"
#include "cli/slurm/queue/step_page.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

// What the controller told, and the rows that point into it.
struct Answer {
  std::vector<JobView> jobs;
  std::vector<NodeView> nodes;
  std::map<JobId, JobDetail> details;
  std::vector<JobRow> rows;
  JobScene scene;
};

bool NeedsDetails(const SqueueRequest& request) {
  return request.document ||
         std::any_of(request.columns.begin(), request.columns.end(), [](const JobColumn& column) {
           return column.field != nullptr && column.field->detailed;
         });
}

bool NeedsCluster(const SqueueRequest& request) {
  return request.document ||
         std::any_of(request.columns.begin(), request.columns.end(), [](const JobColumn& column) {
           return column.field != nullptr && std::string_view(column.field->name) == "Cluster";
         });
}

absl::Status AddDetails(Connection& connection, Answer& answer) {
  for (const JobView& job : answer.jobs) {
    if (answer.details.contains(job.id)) {
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<JobDetail> details, connection.Call(ShowJob{{job.array_job_id}}));
    for (JobDetail& detail : details) {
      const JobId id = detail.job.id;
      answer.details.insert_or_assign(id, std::move(detail));
    }
  }
  for (JobRow& row : answer.rows) {
    const auto found = answer.details.find(row.job->id);
    row.detail = found == answer.details.end() ? nullptr : &found->second;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Answer>> Ask(Connection& connection, const SqueueRequest& request,
                                            const Environment& environment) {
  auto answer = std::make_unique<Answer>();
  answer->scene = {.clock = Clockface(environment), .now = SystemClock().Now()};
  ASSIGN_OR_RETURN(RecentJobs recent,
                   ListRecent(connection, request.choice,
                              {.fold = !request.each_element, .now = answer->scene.now}));
  if (request.choice.jobs.size() == 1 && !recent.knows_all) {
    return absl::NotFoundError("");
  }
  answer->jobs = std::move(recent.jobs);
  for (QueueLine& line : FoldQueue(answer->jobs, !request.each_element)) {
    answer->rows.push_back({.job = line.job, .elements = std::move(line.elements)});
  }
  if (request.steps || NeedsDetails(request)) {
    RETURN_IF_ERROR(AddDetails(connection, *answer));
  }
  if (NeedsCluster(request)) {
    ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
    answer->scene.cluster = status.cluster;
  }
  if (request.document) {
    ASSIGN_OR_RETURN(NodeList nodes, connection.Call(ListNodes{{}, /*with_machine=*/false}));
    answer->nodes = std::move(nodes.nodes);
  }
  return answer;
}

std::string DocumentOf(const Answer& answer) {
  const JobDocumentScene scene{
      .cluster = answer.scene.cluster, .now = answer.scene.now, .nodes = &answer.nodes};
  Json jobs = Json::array();
  for (const JobRow& row : answer.rows) {
    jobs.push_back(QueuedJob(*row.job, row.detail, row.elements, scene));
  }
  return SlurmDocument("jobs", std::move(jobs), scene.cluster);
}

std::string StepsOf(const SqueueRequest& request, const Answer& answer) {
  std::string page = request.header ? StepTitles(request.step_format) : "";
  for (const JobRow& row : answer.rows) {
    page += row.detail == nullptr
                ? ""
                : StepLines(request.step_format, *row.detail, request.step_ids, answer.scene);
  }
  return page;
}

int PrintOnce(const Call& call, Connection& connection, const SqueueRequest& request) {
  const absl::StatusOr<std::unique_ptr<Answer>> answer = Ask(connection, request, call.environment);
  if (!answer.ok()) {
    return FailPlainly(call, absl::StrCat("slurm_load_jobs error: ", SlurmText(answer.status())));
  }
  call.out << (request.document ? DocumentOf(**answer)
               : request.steps  ? StepsOf(request, **answer)
                                : SqueuePage(request, (*answer)->rows, (*answer)->scene))
           << std::flush;
  return 0;
}

}  // namespace

int RunSqueue(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, SqueueRows(), Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const absl::StatusOr<SqueueRequest> request = ReadSqueue(*words, call.environment);
  if (!request.ok()) {
    return FailPlainly(call, absl::StrCat(call.name, ": ", request.status().message()));
  }
  for (const std::string& warning : request->warnings) {
    FailPlainly(call, absl::StrCat(call.name, ": ", warning));
  }
  return ShowAgain(
      call, {.clusters = request->clusters, .pause_s = request->pause_s},
      [&call](const absl::Status& status) {
        return FailPlainly(call, absl::StrCat("slurm_load_jobs error: ", SlurmText(status)));
      },
      [&](Connection& connection) { return PrintOnce(call, connection, *request); });
}

}  // namespace muster::cli::slurm
