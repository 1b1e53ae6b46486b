#include "cli/slurm/submit/salloc.h"

#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/jobs/submit/submission.h"
#include "cli/run/cmd_alloc.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/submit/own_words.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kNotAllocated = "Job submit/allocate failed: ";
// Holds the nodes until somebody ends it.
constexpr const char* kHolder = "#!/bin/sh\n# Made by salloc --no-shell.\nexec sleep infinity\n";

std::string Pending(JobId job, const std::string&) {
  return absl::StrCat("Pending job allocation ", job.value(), "\nsalloc: job ", job.value(),
                      " queued and waiting for resources");
}

std::string Granted(JobId job, const std::string& nodes) {
  return absl::StrCat(
      "Granted job allocation ", job.value(),
      nodes.empty() ? "" : absl::StrCat("\nsalloc: Nodes ", nodes, " are ready for job"));
}

std::string Revoked(JobId job, const std::string&) {
  return absl::StrCat("Job allocation ", job.value(), " has been revoked.");
}

std::string Relinquished(JobId job) {
  return absl::StrCat("Relinquishing job allocation ", job.value());
}

// --bell: rings when the nodes are there.
void Ring() {
  std::cout << '\a' << std::flush;
}

std::string RingingGranted(JobId job, const std::string& nodes) {
  Ring();
  return Granted(job, nodes);
}

std::string QuietlyRinging(JobId, const std::string&) {
  Ring();
  return "";
}

AllocTexts Texts(bool quiet, bool bell) {
  const auto nothing = [](JobId, const std::string&) { return std::string(); };
  if (quiet) {
    return {"salloc",
            nothing,
            bell ? QuietlyRinging : nothing,
            nothing,
            [](JobId) { return std::string(); },
            true};
  }
  return {"salloc", Pending, bell ? RingingGranted : Granted, Revoked, Relinquished, true};
}

AllocTexts TextsFor(const Words& words, const Environment& environment) {
  const auto said = [&](const char* option, const char* variable) {
    return words.Has(option) || environment.Has(variable);
  };
  const bool bell = said("bell", "SALLOC_BELL") && !said("no-bell", "SALLOC_NO_BELL");
  return Texts(words.Has("quiet"), bell);
}

// --no-shell: a job that holds the nodes, and the word that it has them.
int HoldWithoutShell(const Call& call, const Invocation& invocation, const AllocTexts& texts) {
  const auto refuse = [&call](const absl::Status& status) {
    return absl::IsInvalidArgument(status)
               ? FailAs(call, status, kSalloc)
               : Fail(call, absl::StrCat(kNotAllocated, SlurmText(status)));
  };
  const absl::StatusOr<Address> address = ControllerAddress("", "", call.environment);
  if (!address.ok()) {
    return refuse(address.status());
  }
  absl::StatusOr<JobRequest> request =
      MakeSubmission(invocation, *address, {.name = "interactive", .text = kHolder});
  if (!request.ok()) {
    return refuse(request.status());
  }
  request->program.stdout_path = "/dev/null";
  request->spec.requeue = Choice::kNo;
  const absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(*address);
  const absl::StatusOr<std::string> token = MakeToken();
  if (!connection.ok() || !token.ok()) {
    return refuse(connection.ok() ? token.status() : connection.status());
  }
  if (const absl::Status possible =
          CheckContainerNodes(**connection, *request, call.environment.entries());
      !possible.ok()) {
    return refuse(possible);
  }
  request->wait = true;
  const absl::StatusOr<StagedJobs> submitted =
      SubmitWithCopies(**connection, *token, *request, /*refuse_misfit=*/true);
  if (!submitted.ok()) {
    return refuse(submitted.status());
  }
  const JobId job = submitted->job;
  const auto tell = [&call](const std::string& line) {
    if (!line.empty()) {
      call.err << call.name << ": " << line << std::endl;
    }
  };
  bool pending_told = false;
  bool granted = false;
  const absl::Status watched = (*connection)->WatchJob(job, [&](const JobNews& news) {
    if (IsWaiting(news.job.state) && !news.job.reason.text.empty() && !pending_told) {
      pending_told = true;
      tell(texts.pending(job, ""));
    }
    granted = !news.allocation.nodes.empty();
    if (granted) {
      tell(texts.granted(job, CompressHostlist(news.job.nodes)));
    }
    return !granted;
  });
  if (granted) {
    return 0;
  }
  tell(texts.ended(job, ""));
  return watched.ok() ? 1 : refuse(watched);
}

}  // namespace

AllocTexts QuietAllocTexts() {
  return Texts(true, false);
}

int RunSalloc(const Call& call) {
  int exit_code = 0;
  const std::optional<Words> words =
      ReadCommand(call, RowsOf(kSalloc), Operands::kLast, &exit_code);
  if (!words.has_value()) {
    return exit_code;
  }
  absl::StatusOr<std::map<std::string, std::string>> values = OwnValues(*words, kSalloc);
  if (!values.ok()) {
    return FailAs(call, values.status(), kSalloc);
  }
  Warn(call, FitNodes(&*values));
  if (words->operands.empty()) {
    values->insert({"job-name", "interactive"});
  }
  static const std::vector<Verb> verbs;
  const Invocation invocation{.environment = call.environment,
                              .verbs = verbs,
                              .values = *std::move(values),
                              .arguments = words->operands};
  if (words->Has("no-shell")) {
    return HoldWithoutShell(call, invocation, TextsFor(*words, call.environment));
  }
  const absl::StatusOr<int> code = HoldAllocation(invocation, TextsFor(*words, call.environment));
  if (code.ok()) {
    return *code;
  }
  return absl::IsInvalidArgument(code.status())
             ? FailAs(call, code.status(), kSalloc)
             : Fail(call, absl::StrCat(kNotAllocated, SlurmText(code.status())));
}

}  // namespace muster::cli::slurm
