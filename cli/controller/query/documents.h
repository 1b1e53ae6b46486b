#pragma once

// What the reading verbs print with --json: one document each, with stable names.
//
// Documents that other programs read: keys may be added, none renamed. Pure. Invariants: exit_code
// and exit_signal are null until the job has ended; a place that is nowhere is null.

#include <string>
#include <vector>

#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/explanation.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// {"jobs":[{"id","name","user","state","reason":{"kind","text"},"nodes",…}]}
std::string JobsDocument(const std::vector<JobView>& jobs);
// As JobsDocument, each job with "request", "work_dir", "command", "attempts" and so on.
std::string DetailsDocument(const std::vector<JobDetail>& details);
// {"job":{…},"summary","nodes":[{"node","fits","text"}],"allocation":{…}}
std::string ExplanationDocument(const JobExplanation& explanation);
// {"nodes":[{"name","state",…}]}; "machine" only when it was asked for.
std::string NodesDocument(const std::vector<NodeView>& nodes, bool with_machine,
                          const std::vector<LargestGpuJob>& largest = {},
                          const std::vector<NarrowLink>& narrow_links = {});

// {"objects":[{"kind","name","properties":{"Priority":"100",…},"jobs_running",…}]}
std::string PolicyDocument(const std::vector<PolicyView>& objects);
// {"changes":[{"time","user","kind","name","deleted","text"}]}, newest first.
std::string PolicyHistoryDocument(const std::vector<PolicyChangeView>& changes);

}  // namespace muster::cli
