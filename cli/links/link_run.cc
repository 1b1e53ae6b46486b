#include "cli/links/link_run.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/own_command.h"
#include "cli/frame/progress_bar.h"
#include "cli/kernel/kernel_catalogue.h"
#include "cli/kernel/kernel_process.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {

absl::StatusOr<LinkRun> LinkRun::Make(const Invocation& invocation, const char* kernel) {
  ASSIGN_OR_RETURN(const BundledKernel found, FindKernel(kernel));
  ASSIGN_OR_RETURN(std::string program, KernelProgram(found, invocation.environment));
  ASSIGN_OR_RETURN(std::string self, OwnProgram());
  std::vector<std::string> words = {std::move(self), "run"};
  for (const char* option : {"controller", "state"}) {
    if (invocation.Has(option)) {
      words.push_back(absl::StrCat("--", option, "=", invocation.Value(option)));
    }
  }
  return LinkRun(invocation.environment, std::move(words), std::move(program));
}

absl::StatusOr<Json> LinkRun::On(const std::vector<std::string>& nodes, std::uint32_t ranks,
                                 const std::vector<std::string>& job_options,
                                 const std::vector<std::string>& kernel_options) const {
  std::vector<std::string> words = words_;
  words.insert(words.end(), {"--job-name=links", "-N", absl::StrCat(nodes.size()), "-n",
                             absl::StrCat(nodes.size() * ranks),
                             absl::StrCat("--ntasks-per-node=", ranks), "--exclusive", "-t", "2",
                             "--deadline=now+3minutes", "-w", absl::StrJoin(nodes, ",")});
  words.insert(words.end(), job_options.begin(), job_options.end());
  words.push_back(program_);
  words.insert(words.end(), kernel_options.begin(), kernel_options.end());
  words.insert(words.end(), {"--repeat", "5", "--json"});
  // Inside a job this would be a step of it.
  return MeasureKernel(words, environment_, {"MUSTER_JOB_ID", "SLURM_JOB_ID", "SLURM_JOBID"});
}

void TakeReport(const absl::StatusOr<Json>& document, MeasuredLink& link) {
  if (document.ok()) {
    link.latency = document->value("latency_us", 0.0) * 1e-6;
    link.bandwidth = document->value("bandwidth_gb_per_s", 0.0) * 1e9;
    return;
  }
  link.lacking = absl::IsUnavailable(document.status());
  link.failure = link.lacking ? std::string(document.status().message())
                              : "the ranks had no result: see muster history";
}

std::vector<MeasuredLink> MeasureRounds(const std::string& title,
                                        const std::vector<LinkRound>& rounds,
                                        const std::function<bool(std::size_t, std::size_t)>& wanted,
                                        const std::function<void(MeasuredLink&)>& measure) {
  const SystemClock clock;
  ProgressBar bar(title, "rounds", clock, STDERR_FILENO);
  std::vector<MeasuredLink> links;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    bar.Show(static_cast<double>(i) / static_cast<double>(rounds.size()), i);
    std::vector<MeasuredLink> round;
    for (const auto& [a, b] : rounds[i]) {
      if (wanted(a, b)) {
        round.push_back({.a = a, .b = b, .failure = ""});
      }
    }
    std::vector<std::thread> threads;
    threads.reserve(round.size());
    for (MeasuredLink& link : round) {
      threads.emplace_back([&] { measure(link); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    links.insert(links.end(), round.begin(), round.end());
  }
  bar.Wipe();
  return links;
}

}  // namespace muster::cli
