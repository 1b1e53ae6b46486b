#include "cli/slurm/submit/scancel.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/query/job_query.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/page/text.h"
#include "cli/parse/selector.h"
#include "cli/parse/signal.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/submit/job_picks.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kRows[] = {
    {"account", 'A', Takes::kValue},       {"batch", 'b', Takes::kNothing},
    {"clusters", 'M', Takes::kValue},      {"ctld", 0, Takes::kNothing},
    {"full", 'f', Takes::kNothing},        {"hurry", 'H', Takes::kNothing},
    {"interactive", 'i', Takes::kNothing}, {"me", 0, Takes::kNothing},
    {"name", 'n', Takes::kValue},          {"jobname", 'n', Takes::kValue},
    {"nodelist", 'w', Takes::kValue},      {"partition", 'p', Takes::kValue},
    {"qos", 'q', Takes::kValue},           {"quiet", 'Q', Takes::kNothing},
    {"reservation", 'R', Takes::kValue},   {"sibling", 0, Takes::kValue},
    {"signal", 's', Takes::kValue},        {"state", 't', Takes::kValue},
    {"user", 'u', Takes::kValue},          {"verbose", 'v', Takes::kNothing},
    {"wckey", 0, Takes::kValue},           {"cron", 0, Takes::kNothing},
    {"admin-comment", 0, Takes::kValue},
};

struct Order {
  std::vector<StepSelector> targets = {};
  std::uint32_t signal = 0;  // 0: they end
  SignalScope scope = SignalScope::kSteps;
  bool quiet = false;
  bool verbose = false;
  bool asks = false;  // before each
};

std::string NameOf(const StepSelector& target) {
  return absl::StrCat(ToText(target.job),
                      target.step.has_value() ? absl::StrCat(".", target.step->value()) : "");
}

// The ids among the operands, which may stand between commas outside of brackets.
absl::StatusOr<std::vector<StepSelector>> ReadIds(const std::vector<std::string>& operands) {
  std::vector<StepSelector> ids;
  for (const std::string& operand : operands) {
    const bool whole = operand.find('[') != std::string::npos;
    for (const std::string& text : whole ? std::vector{operand} : SplitCommas(operand)) {
      absl::StatusOr<StepSelector> id = ParseStepSelector(text);
      if (!id.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("scancel: error: Invalid job id ", text));
      }
      ids.push_back(*std::move(id));
    }
  }
  return ids;
}

absl::Status ReadSignal(const Words& words, Order* order) {
  if (!words.Has("signal")) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::uint32_t> signal = ParseSignal(words.Value("signal"));
  if (!signal.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("Unknown job signal: ", words.Value("signal")));
  }
  // The whole job ends by its end, not by a signal to some of it.
  const bool kills = *signal == SIGKILL && !words.Has("batch") && !words.Has("full");
  order->signal = kills ? 0 : *signal;
  order->scope = words.Has("batch")  ? SignalScope::kBatch
                 : words.Has("full") ? SignalScope::kFull
                                     : SignalScope::kSteps;
  return absl::OkStatus();
}

// The jobs that the selectors choose, of those named if any are.
absl::Status Pick(Connection& connection, const JobChoice& picks, Order* order) {
  JobFilter filter;
  for (const StepSelector& target : order->targets) {
    filter.jobs.push_back(target.job.job);
  }
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(ListJobs{filter}));
  std::vector<StepSelector> chosen;
  for (const JobView& job : jobs) {
    const absl::StatusOr<StepSelector> target = ParseStepSelector(job.label);
    if (Chooses(picks, job) && target.ok()) {
      chosen.push_back(*target);
    }
  }
  order->targets = std::move(chosen);
  return absl::OkStatus();
}

// -i: a line of standard input decides about each.
void AskAbout(const Call& call, Order* order) {
  std::erase_if(order->targets, [&call](const StepSelector& target) {
    call.out << "Cancel job_id=" << NameOf(target) << " [y/n]? " << std::flush;
    std::string answer;
    return !std::getline(std::cin, answer) || answer.empty() || (answer[0] | 0x20) != 'y';
  });
}

// What the controller said of one job; rc.
int Judge(const Call& call, const Order& order, const std::string& error) {
  const bool foreign =
      absl::StrContains(error, "belongs to") || absl::StrContains(error, "operator");
  if (!foreign && order.signal == 0) {
    return 0;  // it has ended, or never was
  }
  const std::string job = error.substr(0, error.find(':'));
  const std::string id = absl::StartsWith(job, "job ") ? job.substr(4) : job;
  const std::string text =
      foreign ? "Access/permission denied" : "Job/step already completing or completed";
  return order.quiet ? 1 : Fail(call, absl::StrCat("Kill job error on job id ", id, ": ", text));
}

int Carry(const Call& call, Connection& connection, const Order& order) {
  std::vector<JobSelector> jobs;
  std::vector<absl::StatusOr<ChangeOutcome>> outcomes;
  for (const StepSelector& target : order.targets) {
    if (order.verbose) {
      call.err << call.name << ": "
               << (order.signal == 0 ? "Terminating job "
                                     : absl::StrCat("Signal ", order.signal, " to job "))
               << NameOf(target) << "\n";
    }
    if (target.step.has_value()) {
      outcomes.emplace_back(connection.Call(
          ForJobs<SignalJob>{{.step = target.step, .signal = order.signal}, {target.job}}));
    } else {
      jobs.push_back(target.job);
    }
  }
  if (order.signal == 0) {
    TakeStageInsAlong(connection, &jobs);
  }
  if (!jobs.empty()) {
    const ForJobs<SignalJob> sent{{.signal = order.signal, .scope = order.scope}, jobs};
    outcomes.push_back(order.signal == 0
                           ? absl::StatusOr<ChangeOutcome>(connection.Call(CancelJobs{jobs}))
                           : connection.Call(sent));
  }
  int code = 0;
  for (const absl::StatusOr<ChangeOutcome>& outcome : outcomes) {
    if (!outcome.ok()) {
      return Fail(call, absl::StrCat("Kill job error on job id ", NameOf(order.targets.front()),
                                     ": ", SlurmText(outcome.status())));
    }
    for (const std::string& error : outcome->errors) {
      code = std::max(code, Judge(call, order, error));
    }
  }
  return code;
}

absl::StatusOr<Order> ReadOrder(const Words& words) {
  Order order{.quiet = words.Has("quiet"),
              .verbose = words.Has("verbose") && !words.Has("quiet"),
              .asks = words.Has("interactive")};
  ASSIGN_OR_RETURN(order.targets, ReadIds(words.operands));
  RETURN_IF_ERROR(ReadSignal(words, &order));
  return order;
}

}  // namespace

int RunScancel(const Call& call) {
  int exit_code = 0;
  const std::optional<Words> words = ReadCommand(call, kRows, Operands::kAnywhere, &exit_code);
  if (!words.has_value()) {
    return exit_code;
  }
  absl::StatusOr<Order> order = ReadOrder(*words);
  absl::StatusOr<JobChoice> picks = ReadPicks(*words, UserName(geteuid()));
  if (!order.ok() || !picks.ok()) {
    return FailPlainly(call, std::string((order.ok() ? picks.status() : order.status()).message()));
  }
  if (order->targets.empty() && !Selects(*picks)) {
    return Fail(call, "No job identification provided");
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread
  if (words->Has("user") && getpwnam(words->Value("user").c_str()) == nullptr) {
    return Fail(call, absl::StrCat("Invalid user name: ", words->Value("user")));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return Fail(call, SlurmText(connection.status()));
  }
  if (const absl::Status known = CheckClusters(**connection, words->Value("clusters"));
      !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  if (Selects(*picks)) {
    if (picks->users.empty() && order->targets.empty() && geteuid() != 0) {
      picks->users = {UserName(geteuid())};
    }
    if (const absl::Status picked = Pick(**connection, *picks, &*order); !picked.ok()) {
      return FailPlainly(call, absl::StrCat("slurm_load_jobs error: ", SlurmText(picked)));
    }
  }
  if (order->asks) {
    AskAbout(call, &*order);
  }
  return order->targets.empty() ? 0 : Carry(call, **connection, *order);
}

}  // namespace muster::cli::slurm
