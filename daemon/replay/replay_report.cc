#include "daemon/replay/replay_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/controller/alerts.h"
#include "daemon/store/archive/journal_reader.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/explain/watchdog.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/state/state_hash.h"
#include "scheduler/model/plan/reason.h"

namespace muster::daemon {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kProgressEvery = 256;  // entries

// Gathers differences as they are found.
class Gatherer {
 public:
  explicit Gatherer(DirectoryReplay& replay) : replay_(replay) {}
  void Add(std::optional<core::ReplayDifference> difference) {
    if (!difference.has_value()) {
      return;
    }
    ++replay_.differences;
    if (replay_.first.size() < kDifferencesShown) {
      replay_.first.push_back(*std::move(difference));
    }
  }

 private:
  DirectoryReplay& replay_;
};

std::string ReasonIn(const Plan& plan, JobId job) {
  const auto left = std::find_if(plan.waiting.begin(), plan.waiting.end(),
                                 [job](const LeftWaiting& each) { return each.Has(job); });
  return left == plan.waiting.end() ? "nothing" : ToSentence(left->ReasonOf(job));
}

// How promised starts held, in a line or two.
std::string PrintPromises(const core::PromiseReport& promises) {
  if (promises.starts == 0) {
    return "";
  }
  const auto share = [&promises](std::uint64_t held) {
    return absl::StrCat(held, " (", 100 * held / promises.starts, " %)");
  };
  std::string text = absl::StrCat(
      Counted(promises.starts, "job", "jobs"), " had been promised a start, on average ",
      std::lround(promises.promised_wait_s), " s ahead: ", share(promises.first.held),
      " started no later than the first promise (mean distance ",
      std::lround(promises.first.error_s), " s), ", share(promises.last.held), " than the last (",
      std::lround(promises.last.error_s), " s)\n");
  if (promises.worst.valid()) {
    absl::StrAppend(&text, "  the latest was job ", promises.worst.value(), ", ",
                    std::lround(promises.worst_s), " s after its first promise\n");
  }
  return text;
}

Json PromiseDocument(const core::PromiseReport& promises) {
  return {{"starts", promises.starts},
          {"first_held", promises.first.held},
          {"first_error_s", promises.first.error_s},
          {"last_held", promises.last.held},
          {"last_error_s", promises.last.error_s},
          {"promised_wait_s", promises.promised_wait_s},
          {"worst_s", promises.worst_s},
          {"worst_job", promises.worst.valid() ? Json(promises.worst.value()) : Json()}};
}

}  // namespace

absl::StatusOr<DirectoryReplay> ReplayDirectory(
    const std::string& place, const std::string& archive,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  ASSIGN_OR_RETURN(const std::unique_ptr<JournalReader> reader,
                   JournalReader::Open(place, archive));
  DirectoryReplay result;
  Gatherer gather(result);
  ASSIGN_OR_RETURN(StateImage beginning, reader->ReadBeginning());
  core::Replay replay(std::move(beginning));
  const std::uint64_t before = replay.version().value();
  RETURN_IF_ERROR(reader->Read(
      [&](const JournalEntry& entry) {
        gather.Add(replay.Apply(entry));
        if (replay.entries() % kProgressEvery == 0) {
          progress(replay.entries(), reader->last().value() - before);
        }
        return true;
      },
      [&](const CycleRecord& cycle) {
        gather.Add(replay.Check(cycle));
        return true;
      }));
  result.entries = replay.entries();
  result.begins = before + 1;
  result.cycles = replay.cycles();
  result.cycles_unchecked = replay.cycles_unchecked();
  result.starts = replay.starts();
  result.starts_unchecked = replay.starts_unchecked();
  result.promises = replay.promises();
  ASSIGN_OR_RETURN(std::optional<StateImage> image, reader->ReadImage());
  // A controller at work there may have gone on meanwhile.
  if (image.has_value() && image->version == replay.version() &&
      core::HashOf(core::ClusterState(*std::move(image))) != core::HashOf(replay.state())) {
    gather.Add(
        core::ReplayDifference{replay.version(), kNoTime,
                               "the state that the journal leads to is not the one in the tables "
                               "of jobs, nodes and policy"});
  }
  return result;
}

absl::StatusOr<BundleReplay> ReplayBundleFile(const std::string& path) {
  ASSIGN_OR_RETURN(const ReplayBundle bundle, ReadReplayBundle(path));
  const Snapshot& snapshot = bundle.snapshot;
  const Plan again = core::MakePlan(snapshot, bundle.config);
  BundleReplay replay;
  replay.program = bundle.program;
  replay.version = snapshot.version;
  replay.now = snapshot.now;
  replay.nodes = snapshot.nodes.size();
  replay.waiting = snapshot.waiting.size();
  replay.running = snapshot.running.size();
  replay.recorded = bundle.plan.hash;
  replay.made = again.hash;
  std::set<JobId> still;
  for (const OverlookedJob& job : core::FindOverlooked(snapshot, again, bundle.config)) {
    still.insert(job.job);
  }
  for (const OverlookedJob& job : bundle.overlooked) {
    BundleReplay::Left left{job.job, {}, ReasonIn(bundle.plan, job.job), still.contains(job.job)};
    for (const NodeSnapshot& node : snapshot.nodes) {
      if (std::find(job.nodes.begin(), job.nodes.end(), node.id) != job.nodes.end()) {
        left.nodes.push_back(node.name);
      }
    }
    replay.overlooked.push_back(std::move(left));
  }
  return replay;
}

std::string PrintReplay(const DirectoryReplay& replay) {
  std::string text = absl::StrCat(
      Counted(replay.entries, "journal entry", "journal entries"), ", ",
      Counted(replay.cycles, "cycle", "cycles"), " made again, ",
      Counted(replay.starts, "start", "starts"), " compared: ",
      replay.same() ? "no difference" : Counted(replay.differences, "difference", "differences"),
      "\n");
  if (replay.begins > 1) {
    absl::StrAppend(&text, "the journal begins with entry ", replay.begins,
                    "; what was before is in the archive\n");
  }
  if (replay.starts_unchecked > 0 || replay.cycles_unchecked > 0) {
    absl::StrAppend(&text, Counted(replay.cycles_unchecked, "cycle", "cycles"), " and ",
                    Counted(replay.starts_unchecked, "start", "starts"),
                    " not compared: they kept to plans from before the first cycle there is\n");
  }
  text += PrintPromises(replay.promises);
  for (const core::ReplayDifference& difference : replay.first) {
    absl::StrAppend(
        &text, "  version ", difference.version.value(), difference.now == kNoTime ? "" : ", ",
        difference.now == kNoTime ? "" : IsoText(difference.now), ": ", difference.text, "\n");
  }
  return text;
}

std::string PrintReplay(const BundleReplay& replay) {
  std::string text = absl::StrCat(
      "a cycle of Muster ", replay.program, " on version ", replay.version.value(), ", ",
      IsoText(replay.now), ": ", Counted(replay.nodes, "node", "nodes"), ", ",
      Counted(replay.waiting, "entry", "entries"), " waiting, ",
      Counted(replay.running, "job", "jobs"), " running\n", "plan ", HashText(replay.recorded),
      replay.same() ? ", made again: the same\n"
                    : absl::StrCat(", made again: another one, ", HashText(replay.made), "\n"));
  for (const BundleReplay::Left& left : replay.overlooked) {
    absl::StrAppend(&text, "job ", left.job.value(), " fits on ", absl::StrJoin(left.nodes, ","),
                    "; the plan says: ", left.reason,
                    left.still ? "" : "; made again, it is not left", "\n");
  }
  return text;
}

std::string ReplayDocument(const DirectoryReplay& replay) {
  Json differences = Json::array();
  for (const core::ReplayDifference& difference : replay.first) {
    differences.push_back(
        Json{{"version", difference.version.value()},
             {"time", difference.now == kNoTime ? Json() : Json(IsoText(difference.now))},
             {"text", difference.text}});
  }
  const Json document = {{"begins", replay.begins},
                         {"entries", replay.entries},
                         {"cycles", replay.cycles},
                         {"cycles_unchecked", replay.cycles_unchecked},
                         {"starts", replay.starts},
                         {"starts_unchecked", replay.starts_unchecked},
                         {"promises", PromiseDocument(replay.promises)},
                         {"same", replay.same()},
                         {"differences", replay.differences},
                         {"first_differences", std::move(differences)}};
  return document.dump(2) + "\n";
}

std::string ReplayDocument(const BundleReplay& replay) {
  Json overlooked = Json::array();
  for (const BundleReplay::Left& left : replay.overlooked) {
    overlooked.push_back(Json{{"job", left.job.value()},
                              {"nodes", left.nodes},
                              {"reason", left.reason},
                              {"still", left.still}});
  }
  const Json document = {{"program", replay.program},
                         {"version", replay.version.value()},
                         {"time", IsoText(replay.now)},
                         {"nodes", replay.nodes},
                         {"waiting", replay.waiting},
                         {"running", replay.running},
                         {"plan", HashText(replay.recorded)},
                         {"made_again", HashText(replay.made)},
                         {"same", replay.same()},
                         {"overlooked", std::move(overlooked)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::daemon
