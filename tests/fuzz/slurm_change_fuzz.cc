// The words of sacctmgr's and scontrol's changes, of sprio's formats and of sreport: no key is
// empty, no name comes twice, and what follows from a change names what it changes.
// Returns 1 when an invariant of a reader is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_split.h"
#include "cli/request/job_changes.h"
#include "cli/slurm/accounts/account_plan.h"
#include "cli/slurm/control/job_update_words.h"
#include "cli/slurm/control/key_values.h"
#include "cli/slurm/live/priority_page.h"
#include "cli/slurm/report/report_words.h"

namespace {

using muster::cli::slurm::ManagerVerb;

std::vector<muster::PolicyView> Objects() {
  std::vector<muster::PolicyView> objects(4);
  objects[0].kind = "account";
  objects[0].name = "a";
  objects[1].kind = "account";
  objects[1].name = "b";
  objects[1].properties = {{"Parent", "a"}};
  objects[2].kind = "association";
  objects[2].name = "b/u";
  objects[3].kind = "qos";
  objects[3].name = "q";
  return objects;
}

bool ChangesAreWhole(const std::vector<std::string>& words) {
  static const std::vector<muster::PolicyView> objects = Objects();
  for (const ManagerVerb verb : {ManagerVerb::kAdd, ManagerVerb::kModify, ManagerVerb::kDelete}) {
    const auto request = muster::cli::slurm::ReadManagerRequest(verb, words);
    if (!request.ok()) {
      continue;
    }
    const std::set<std::string> names(request->names.begin(), request->names.end());
    const muster::cli::slurm::ManagerPlan plan = muster::cli::slurm::PlanOf(*request, objects, "c");
    if (names.size() != request->names.size() ||
        std::any_of(plan.steps.begin(), plan.steps.end(),
                    [](const auto& step) { return step.name.empty(); }) ||
        (!plan.steps.empty() && plan.problem.empty() && plan.text.empty())) {
      return false;
    }
  }
  return true;
}

// What is read of an update is an option with a value, and what it changes has a name.
bool UpdatesAreNamed(const muster::cli::slurm::KeyValues& pairs,
                     const muster::cli::ParseContext& context) {
  const auto words = muster::cli::slurm::ReadJobUpdateWords(pairs);
  if (!words.ok()) {
    return absl::IsInvalidArgument(words.status());
  }
  const auto changes = muster::cli::ReadJobChanges(words->values, context);
  return changes.ok() ? changes->options.empty() == !changes->asked.has_value()
                      : absl::IsInvalidArgument(changes.status());
}

bool PairsHaveKeys(const std::vector<std::string>& words,
                   const muster::cli::ParseContext& context) {
  const auto pairs = muster::cli::slurm::ReadKeyValues(words);
  if (pairs.ok() && !UpdatesAreNamed(*pairs, context)) {
    return false;
  }
  return !pairs.ok() || std::none_of(pairs->begin(), pairs->end(),
                                     [](const auto& pair) { return pair.key.empty(); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> words = absl::StrSplit(text, '\n');
  const muster::cli::slurm::Asker asker{.uid = 0,
                                        .now = muster::Time(muster::Duration(1'773'480'413'000)),
                                        .zone = absl::UTCTimeZone()};
  const auto given = muster::cli::slurm::ReadWords(muster::cli::slurm::SreportRows(),
                                                   muster::cli::slurm::Operands::kAnywhere, words);
  if (given.ok()) {
    const auto report = muster::cli::slurm::ReadReport(*given, asker);
    if (report.ok() && report->start >= report->end) {
      return 1;
    }
  }
  const auto format = muster::cli::slurm::ReadPriorityFormat(text);
  const bool drawn = !format.ok() || !muster::cli::slurm::PriorityPage(
                                          {.format = *format, .sort = {text}, .cluster = ""}, {})
                                          .empty();
  return drawn && ChangesAreWhole(words) &&
                 PairsHaveKeys(words, {.now = asker.now, .zone = asker.zone})
             ? 0
             : 1;
}
