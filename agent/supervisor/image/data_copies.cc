#include "agent/supervisor/image/data_copies.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/cache/kept_images.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/plan/node_data.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

constexpr Duration kNoLimit = std::chrono::hours(24 * 366);  // the job's own ends it
constexpr Duration kRemovalPatience = std::chrono::seconds(10);

// What a source is now.
struct SourceState {
  std::string fingerprint;
  std::uint64_t bytes = 0;
};

class Copies {
 public:
  Copies(const DataOrder& order, const std::vector<std::string>& environment, ImageCache cache)
      : settings_(order.settings), environment_(environment), cache_(std::move(cache)) {}

  // The copy of that source; counts what was done.
  absl::StatusOr<CachedImage> Have(const std::string& source, DataBrought* brought) const {
    ASSIGN_OR_RETURN(const SourceState state, Look(source));
    bool made = false;
    absl::StatusOr<CachedImage> copy =
        cache_.FindOrMake(absl::StrCat("data-", state.fingerprint),
                          [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                            made = true;
                            return Make(source, state, draft + "/rootfs");
                          });
    RETURN_IF_ERROR(copy.status());
    brought->found += made ? 0 : 1;
    brought->made += made ? 1 : 0;
    brought->bytes += made ? state.bytes : 0;
    return copy;
  }

 private:
  absl::StatusOr<std::string> Stage(const std::vector<std::string>& words) const {
    ToolRun run;
    run.command = {settings_.program, "stage"};
    run.command.insert(run.command.end(), words.begin(), words.end());
    run.environment = environment_;
    run.limit = kNoLimit;
    absl::StatusOr<std::string> said = RunTool(run);
    if (said.ok()) {
      return said;
    }
    std::string why(said.status().message());
    for (const char* speaker : {"muster: ", "muster stage: "}) {
      why = absl::StartsWith(why, speaker) ? why.substr(std::string(speaker).size()) : why;
    }
    return absl::FailedPreconditionError(absl::StrCat("--stage-in-node: ", why));
  }

  absl::StatusOr<SourceState> Look(const std::string& source) const {
    ASSIGN_OR_RETURN(const std::string said, Stage({"--fingerprint", "--", source}));
    const std::vector<std::string> words = absl::StrSplit(said, absl::ByAnyChar(" \n"));
    SourceState state;
    if (words.size() < 2 || words[0].empty() || !absl::SimpleAtoi(words[1], &state.bytes)) {
      return absl::InternalError(absl::StrCat("--stage-in-node: ", Quote(source),
                                              ": what it is now is not known: ", settings_.program,
                                              " is of another version"));
    }
    state.fingerprint = words[0];
    return state;
  }

  absl::StatusOr<ImageFacts> Make(const std::string& source, const SourceState& state,
                                  const std::string& place) const {
    if (state.bytes > settings_.size) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "--stage-in-node: ", Quote(source), ": has ", BytesText(state.bytes),
          ", and this node keeps ", BytesText(settings_.size),
          " of a user's data: use --stage-in to a file system, or see [staging] of the agent"));
    }
    cache_.MakeRoom(state.bytes);
    if (mkdir(place.c_str(), 0700) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", place));
    }
    RETURN_IF_ERROR(Stage({"--", source, absl::StrCat(place, "/", NameOfSource(source))}).status());
    ASSIGN_OR_RETURN(const SourceState after, Look(source));
    if (after.fingerprint != state.fingerprint) {
      return absl::AbortedError(absl::StrCat("--stage-in-node: ", Quote(source),
                                             ": has changed while it was copied: submit again"));
    }
    Protect(place);
    ImageFacts facts;
    facts.digest = absl::StrCat("data-", state.fingerprint);
    facts.name = source;
    return facts;
  }

  // Jobs share the copy: what one of them writes by mistake would be another's data.
  static void Protect(const std::string& place) {
    std::error_code ignored;
    for (fs::recursive_directory_iterator each(place, ignored), end; !ignored && each != end;
         each.increment(ignored)) {
      if (each->is_regular_file(ignored) && !each->is_symlink(ignored)) {
        fs::permissions(each->path(),
                        fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                        fs::perm_options::remove, ignored);
      }
    }
  }

  const StagingSettings& settings_;
  const std::vector<std::string>& environment_;
  const ImageCache cache_;
};

std::set<std::string> SourcesIn(const std::string& directory) {
  std::set<std::string> sources;
  for (const KeptImage& kept : ListKept(directory)) {
    sources.insert(kept.name);
  }
  return sources;
}

// Copies of what the sources were before.
void RemoveOlder(const std::string& directory, const std::vector<std::string>& sources,
                 const std::set<std::string>& used) {
  KeptChoice older;
  for (const KeptImage& kept : ListKept(directory)) {
    if (!used.contains(kept.digest) &&
        std::find(sources.begin(), sources.end(), kept.name) != sources.end()) {
      older.images.push_back(kept.digest);
    }
  }
  if (!older.images.empty()) {
    RemoveKept(directory, older, SystemClock().Now(), kRemovalPatience);
  }
}

}  // namespace

absl::StatusOr<DataCopies> BringCopies(const DataOrder& order,
                                       const std::vector<std::string>& environment) {
  const std::string directory = absl::StrCat(order.settings.cache, "/", geteuid());
  ASSIGN_OR_RETURN(ImageCache cache, ImageCache::Open(directory, order.settings.size));
  const std::set<std::string> before = SourcesIn(directory);
  DataCopies copies;
  ASSIGN_OR_RETURN(LockedDirectory place, cache.MakeScratch(order.attempt));
  const Copies each(order, environment, std::move(cache));
  std::set<std::string> used;
  for (const std::string& source : order.sources) {
    ASSIGN_OR_RETURN(CachedImage copy, each.Have(source, &copies.facts.brought));
    const std::string name = NameOfSource(source);
    if (symlink(absl::StrCat(copy.rootfs, "/", name).c_str(),
                absl::StrCat(place.path, "/", name).c_str()) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", place.path, "/", name));
    }
    used.insert(copy.facts.digest);
    copies.locks.push_back(std::move(copy.lock));
  }
  RemoveOlder(directory, order.sources, used);
  const std::set<std::string> after = SourcesIn(directory);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(copies.facts.brought.gone));
  copies.facts.place = place.path;
  copies.locks.push_back(std::move(place.lock));
  return copies;
}

}  // namespace muster::agent
