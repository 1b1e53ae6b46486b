#include "cli/slurm/frame/watching.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "scheduler/base/text/words.h"

namespace muster::cli::slurm {
namespace {

constexpr unsigned kPauseMax = 86'400;

}  // namespace

std::string ValueOr(const Words& words, const char* name, const Environment& environment,
                    const char* variable) {
  return words.Has(name) ? words.Value(name) : environment.Get(variable);
}

absl::StatusOr<unsigned> ReadPause(const Words& words) {
  if (!words.Has("iterate")) {
    return 0U;
  }
  const absl::StatusOr<std::uint64_t> pause = ParseDigits(words.Value("iterate"), kPauseMax);
  if (!pause.ok() || *pause == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("error: --iterate=", words.Value("iterate"), " is not a positive number"));
  }
  return static_cast<unsigned>(*pause);
}

int ShowAgain(const Call& call, const Watching& watching,
              const std::function<int(const absl::Status&)>& refuse,
              const std::function<int(Connection&)>& print) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return refuse(connection.status());
  }
  if (const absl::Status known = CheckClusters(**connection, watching.clusters); !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  while (true) {
    const int code = print(**connection);
    if (code != 0 || watching.pause_s == 0) {
      return code;
    }
    std::this_thread::sleep_for(std::chrono::seconds(watching.pause_s));
  }
}

}  // namespace muster::cli::slurm
