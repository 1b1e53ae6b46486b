#include "daemon/controller/alerts.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/events/event_note.h"
#include "proto/convert/snapshot.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

constexpr const char* kSuffix = ".bundle";
constexpr std::string_view kMagic = "MUSTER-REPLAY-1\n";  // then a wire::ReplayBundle

// "/d/cycle-000000000812.bundle": "000000000812.bundle". Older controllers wrote "pass-" before it.
std::string_view VersionIn(std::string_view path) {
  return path.substr(path.find_last_of("-/") + 1);
}

// The bundles in the directory, by the versions in their names.
std::vector<std::string> BundlesIn(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (absl::EndsWith(entry.path().string(), kSuffix)) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return VersionIn(a) < VersionIn(b); });
  return paths;
}

}  // namespace

std::optional<std::string> Alerts::ReportOverlooked(
    const std::vector<OverlookedJob>& overlooked, Version version,
    const std::function<std::string(NodeId)>& name_of) {
  const std::vector<OverlookedJob> alerts = watchdog_.ReportOverlooked(overlooked);
  std::set<JobId> open;
  for (const OverlookedJob& alert : watchdog_.alerts()) {
    open.insert(alert.job);
  }
  std::erase_if(texts_, [&](const auto& entry) { return !open.contains(entry.first); });
  if (alerts.empty()) {
    return std::nullopt;
  }
  const std::string path =
      absl::StrFormat("%s/cycle-%012d%s", directory_, version.value(), kSuffix);
  for (const OverlookedJob& alert : alerts) {
    std::string nodes;
    for (const NodeId id : alert.nodes) {
      absl::StrAppend(&nodes, nodes.empty() ? "" : ",", name_of(id));
    }
    std::string& text = texts_[alert.job];
    text = absl::StrCat(
        "it fits on idle resources of ", nodes, ", and ", core::Watchdog::kPatience + 1,
        " cycles in a row left it waiting: a defect of the planner; report it with ", path,
        " (muster replay shows what is in it)");
    log_->Warning("controller", absl::StrCat("job ", alert.job.value(), ": ", text));
  }
  return path;
}

std::string Alerts::TextOf(JobId job) const {
  const auto found = texts_.find(job);
  return found == texts_.end() ? std::string() : found->second;
}

void Alerts::Note(const Event& event, const core::ClusterState& state) {
  const auto* const reported = std::get_if<RunReported>(&event);
  const auto* const ended =
      reported == nullptr ? nullptr : std::get_if<RunEnded>(&reported->report.fact);
  if (ended == nullptr ||
      (ended->cause != EndCause::kOutOfMemory && ended->cause != EndCause::kHung)) {
    return;
  }
  if (const Job* const job = state.FindJob(reported->report.job)) {
    Keep(*job, ended->cause);
  }
}

void Alerts::Keep(const Job& job, EndCause cause) {
  const std::uint64_t number = ends_.empty() ? 1 : ends_.back().number + 1;
  BadEnd& end = ends_.emplace_back(BadEnd{number, cause, JobView()});
  end.job.id = job.id;
  end.job.label = FactsOf(job).label;
  end.job.name = job.spec->name;
  end.job.user = job.spec->user.name;
  if (ends_.size() > kEndsKept) {
    ends_.pop_front();
  }
}

absl::Status WriteReplayBundle(const std::string& path, const ReplayBundle& bundle) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  wire::ReplayBundle message;
  ToWire(bundle, &message);
  RETURN_IF_ERROR(
      WriteFileAtomically(path, absl::StrCat(std::string(kMagic), message.SerializeAsString())));
  const std::vector<std::string> paths = BundlesIn(directory);
  for (std::size_t i = 0; i + kBundlesKept < paths.size(); ++i) {
    std::error_code ignored;
    std::filesystem::remove(paths[i], ignored);
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplayBundle> ReadReplayBundle(const std::string& path) {
  constexpr std::size_t kBundleBytesMax = std::size_t{1} << 30;
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kBundleBytesMax));
  wire::ReplayBundle message;
  const bool readable = content.compare(0, kMagic.size(), kMagic) == 0 &&
                        message.ParseFromArray(content.data() + kMagic.size(),
                                               static_cast<int>(content.size() - kMagic.size()));
  if (!readable) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": not a replay bundle, or cut short; name one of the alerts "
                     "directory, or a controller's state directory"));
  }
  ReplayBundle bundle;
  const absl::Status status = FromWire(message, &bundle);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(status.message())));
  }
  return bundle;
}

}  // namespace muster::daemon
