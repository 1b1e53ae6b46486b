#pragma once

// How jobs ended, in one line.
//
// Pure. Invariant: no character of a job's name controls a terminal.

#include <string>
#include <vector>

#include "scheduler/model/view/view.h"

namespace muster::cli {

// "muster: job 12 (train) FAILED: exit code 3, after 5:00". Of several, the elements of one array or
// the components of one job, how many ended how. REQUIRES: there is one.
std::string NoticeText(const std::string& label, const std::vector<JobView>& ended);

}  // namespace muster::cli
