#include "agent/supervisor/image/data_copies.h"

#include <sys/resource.h>
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
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/cache/kept_images.h"
#include "agent/supervisor/image/image_fetch.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/plan/node_data.h"
#include "scheduler/model/value/job_text.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

constexpr Duration kNoLimit = std::chrono::hours(24 * 366);  // the job's own ends it
constexpr std::size_t kAheadWords = 5;
constexpr std::size_t kFailureBytesMax = 1024;
constexpr Duration kAheadLimit = std::chrono::hours(24);
constexpr Duration kRemovalPatience = std::chrono::seconds(10);

// What a source is now.
struct SourceState {
  std::string fingerprint;
  std::uint64_t bytes = 0;
};

std::string DirectoryOf(const DataOrder& order) {
  return absl::StrCat(order.settings.cache, "/", geteuid());
}

class Copies {
 public:
  static absl::StatusOr<Copies> Open(const DataOrder& order,
                                     const std::vector<std::string>& environment, CacheUse use) {
    ASSIGN_OR_RETURN(ImageCache cache,
                     ImageCache::Open(DirectoryOf(order), order.settings.size, use));
    return Copies(order, environment, std::move(cache), use == CacheUse::kWaiting);
  }

  [[nodiscard]] const ImageCache& cache() const { return cache_; }

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
  Copies(const DataOrder& order, const std::vector<std::string>& environment, ImageCache cache,
         bool ahead)
      : settings_(order.settings),
        environment_(environment),
        cache_(std::move(cache)),
        ahead_(ahead) {}

  absl::StatusOr<std::string> Stage(const std::vector<std::string>& words) const {
    ToolRun run;
    run.command = {settings_.program, "stage"};
    run.command.insert(run.command.end(), words.begin(), words.end());
    run.environment = environment_;
    run.limit = ahead_ ? kAheadLimit : kNoLimit;
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
    if (!cache_.MakeRoom(state.bytes) && ahead_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("--stage-in-node: ", Quote(source), ": has ", BytesText(state.bytes),
                       ", and there is no room for it beside the data of jobs that run or wait"));
    }
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
  const bool ahead_;  // the job waits still
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

// What kept a copy from being made before its job began: a source, and why, a line each.
std::string FailureOf(const DataOrder& order) {
  return DirectoryOf(order) + "/failed";
}

// Why the copies were not there already; "": nobody tried, or it is not known.
std::string TakeFailure(const DataOrder& order) {
  const std::vector<std::string> lines =
      absl::StrSplit(ReadFile(FailureOf(order)).value_or(""), '\n');
  if (lines.size() < 2 || !Contains(order.sources, lines[0])) {
    return "";
  }
  unlink(FailureOf(order).c_str());
  return CheckJobText("", lines[1], kFailureBytesMax).ok() ? lines[1] : "";
}

bool IsPath(const std::string& source) {
  return source.front() == '/' || source.front() == '~';
}

absl::Status NotAhead(const std::string& source) {
  return absl::FailedPreconditionError(
      absl::StrCat("--stage-in-node: ", Quote(source),
                   ": of paths alone this node makes copies for jobs that wait (ahead in [staging] "
                   "of the agent)"));
}

}  // namespace

absl::StatusOr<AheadOrder> ReadAheadWords(const std::vector<std::string>& words) {
  AheadOrder order;
  StagingSettings& settings = order.data.settings;
  if (words.size() < kAheadWords || (words[0] != "paths" && words[0] != "all") ||
      !absl::SimpleAtoi(words[2], &settings.size)) {
    return absl::InvalidArgumentError("bring-ahead: give paths|all CACHE BYTES PROGRAM SOURCE...");
  }
  order.paths_only = words[0] == "paths";
  settings.cache = words[1];
  settings.program = words[3];
  order.data.sources.assign(words.begin() + kAheadWords - 1, words.end());
  RETURN_IF_ERROR(CheckNodeData(order.data.sources));
  return order;
}

absl::StatusOr<UniqueFd> TakeTurn(const AheadOrder& order) {
  return TakeTurn(DirectoryOf(order.data), order.data.settings.size);
}

absl::Status BringAhead(const AheadOrder& order, const std::vector<std::string>& environment) {
  const DataOrder& data = order.data;
  ASSIGN_OR_RETURN(const Copies each, Copies::Open(data, environment, CacheUse::kWaiting));
  setpriority(PRIO_PROCESS, 0, kLeastPriority);
  unlink(FailureOf(data).c_str());  // of another job
  std::set<std::string> used;
  std::vector<UniqueFd> locks;
  DataBrought brought;
  for (const std::string& source : data.sources) {
    absl::StatusOr<CachedImage> copy =
        order.paths_only && !IsPath(source) ? NotAhead(source) : each.Have(source, &brought);
    if (!copy.ok()) {
      ReplaceFile(FailureOf(data),
                  absl::StrCat(source, "\n", std::string(copy.status().message()), "\n"))
          .IgnoreError();
      return copy.status();
    }
    used.insert(copy->facts.digest);
    locks.push_back(std::move(copy->lock));
  }
  RemoveOlder(DirectoryOf(data), data.sources, used);
  return absl::OkStatus();
}

absl::StatusOr<DataCopies> BringCopies(const DataOrder& order,
                                       const std::vector<std::string>& environment) {
  const std::string directory = DirectoryOf(order);
  ASSIGN_OR_RETURN(const Copies each, Copies::Open(order, environment, CacheUse::kStarting));
  const std::set<std::string> before = SourcesIn(directory);
  DataCopies copies;
  ASSIGN_OR_RETURN(LockedDirectory place, each.cache().MakeScratch(order.attempt));
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
  if (copies.facts.brought.made > 0) {
    copies.facts.brought.not_ahead = TakeFailure(order);
  }
  const std::set<std::string> after = SourcesIn(directory);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(copies.facts.brought.gone));
  copies.facts.place = place.path;
  copies.locks.push_back(std::move(place.lock));
  return copies;
}

}  // namespace muster::agent
