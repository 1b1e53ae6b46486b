// What jobs were submitted with, so that they can be submitted again (client_methods.h).
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/client/client_methods.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

absl::StatusOr<Submission> Find(JobStore& store, const Caller& caller, JobId job) {
  absl::StatusOr<JobSubmitted> found = store.ReadSubmission(job);
  if (absl::IsNotFound(found.status())) {
    return absl::NotFoundError(
        absl::StrCat("job ", job.value(), ": no such job; see muster queue and muster history"));
  }
  RETURN_IF_ERROR(found.status());
  if (!MaySee(caller, found->spec.user.name)) {
    return NotTheirs(caller, absl::StrCat(job.value()), found->spec.user.name);
  }
  Submission submission{found->first, std::move(found->spec), std::move(found->program),
                        std::move(found->components)};
  submission.program.environment.clear();
  for (Component& component : submission.components) {
    component.program.environment.clear();
  }
  return submission;
}

}  // namespace

void ServeSubmissions(Methods& methods, const Backend& backend) {
  AnswerInTurn<ReadSubmission>(
      methods, backend, [](const Backend& with, const auto& call, const ReadSubmission& asked) {
        call.Aside(with.reader, [with, call, job = asked.job] {
          absl::StatusOr<Submission> found = Find(with.store, call.caller, job);
          call.Finish(found.status(), found.ok() ? *std::move(found) : Submission());
        });
      });
}

}  // namespace muster::daemon
