#pragma once

// What is added to a job's detail when it is shown, whether it lives or has ended.
//
// Invariants: an attempt says how many ranks it has, also where the caller sees a page of them.

#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// Of a job that ran in a container, the digest of the image that ran.
void AddDigest(JobDetail& detail);
// Counts each attempt's ranks, and leaves those that were asked for.
void TakePage(const ShowJob& asked, JobDetail& detail);
// Leaves out what only the program knows: its files and where they come from, its image, its
// addresses.
void Conceal(JobDetail& detail);

}  // namespace muster::daemon
