#include "cli/slurm/format/batch_word.h"

namespace muster::cli::slurm {

bool HasScript(const JobDetail& detail) {
  return detail.steps.size() != 1 || detail.attempts.empty() ||
         detail.steps.front().start_time != detail.attempts.front().start_time;
}

}  // namespace muster::cli::slurm
