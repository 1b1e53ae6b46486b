// The command that removes: `muster checkpoint prune`.

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/store/store.h"
#include "cli/checkpoint/checkpoint_directory.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using checkpoint::Aged;
using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Manifest;
using checkpoint::Store;

// A directory and its complete generations, the newest first.
struct Kept {
  Store store;
  std::vector<Aged> complete;
};

absl::Status Named(const char* option, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", std::string(status.message())));
}

// What prune is to leave.
absl::StatusOr<checkpoint::Retention> RetentionOf(const Invocation& invocation) {
  checkpoint::Retention retention;
  if (invocation.Has("keep")) {
    const absl::StatusOr<std::uint32_t> count = ParseCount(invocation.Value("keep"));
    if (!count.ok()) {
      return Named("--keep", count.status());
    }
    retention.keep = *count;
  }
  if (invocation.Has("milestone")) {
    const absl::StatusOr<std::uint32_t> step = ParseCount(invocation.Value("milestone"));
    if (!step.ok()) {
      return Named("--milestone", step.status());
    }
    retention.milestone = *step;
  }
  if (invocation.Has("max-age")) {
    const absl::StatusOr<Duration> age = ParseDuration(invocation.Value("max-age"));
    if (!age.ok()) {
      return Named("--max-age", age.status());
    }
    if (*age <= Duration(0)) {
      return absl::InvalidArgumentError("--max-age: use more than 0");
    }
    retention.age_s = std::chrono::duration<double>(*age).count();
  }
  if (invocation.Has("max-size")) {
    const absl::StatusOr<Bytes> size = ParseMemory(invocation.Value("max-size"));
    if (!size.ok()) {
      return Named("--max-size", size.status());
    }
    retention.bytes = size->value();
  }
  return retention;
}

absl::Status Look(Kept& kept) {
  const auto names = kept.store.List();
  if (!names.ok()) {
    return StatusOf(names.error);
  }
  kept.complete.clear();
  for (const GenerationName& name : names.value) {
    if (name.state != GenerationState::kComplete) {
      continue;
    }
    Aged aged;
    aged.number = name.number;
    if (const auto manifest = kept.store.ReadManifest(name); manifest.ok()) {
      aged.written_ms = manifest.value.written_ms;
      for (const checkpoint::ShardSeal& seal : manifest.value.shards) {
        aged.bytes += seal.bytes;
      }
    }
    kept.complete.push_back(aged);
  }
  return absl::OkStatus();
}

absl::Status Retire(Kept& kept, const checkpoint::Retention& retention) {
  if (kept.complete.empty()) {
    return absl::OkStatus();
  }
  const checkpoint::Error error = kept.store.Retire(kept.complete.front().number, retention);
  return error.failed() ? StatusOf(error) : Look(kept);
}

std::uint64_t BytesOf(const std::vector<Kept>& all) {
  std::uint64_t bytes = 0;
  for (const Kept& kept : all) {
    for (const Aged& aged : kept.complete) {
      bytes += aged.bytes;
    }
  }
  return bytes;
}

// The directory with the generation that was written longest ago; null when each has only its
// newest.
Kept* WithOldest(std::vector<Kept>& all) {
  Kept* oldest = nullptr;
  for (Kept& kept : all) {
    if (kept.complete.size() > 1 && (oldest == nullptr || kept.complete.back().written_ms <
                                                              oldest->complete.back().written_ms)) {
      oldest = &kept;
    }
  }
  return oldest;
}

// Removes the oldest of all directories until they hold no more than `quota`, or only the newest of
// each is left.
absl::Status RetireBeyond(std::uint64_t quota, std::vector<Kept>& all) {
  while (BytesOf(all) > quota) {
    Kept* const oldest = WithOldest(all);
    if (oldest == nullptr) {
      break;
    }
    const std::size_t count = oldest->complete.size();
    checkpoint::Retention retention;
    retention.keep = static_cast<std::uint32_t>(count - 1);
    RETURN_IF_ERROR(Retire(*oldest, retention));
    if (oldest->complete.size() >= count) {
      break;  // another prunes as well
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Kept> Open(const std::string& directory) {
  auto store = Store::Open(checkpoint::Disk::Real(), directory);
  if (!store.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(store.error.text, ": name a directory of checkpoints that is yours"));
  }
  Kept kept{std::move(store.value), {}};
  if (const checkpoint::Error error = kept.store.LockForWriting(); error.failed()) {
    return StatusOf(error);
  }
  RETURN_IF_ERROR(Look(kept));
  return kept;
}

std::size_t CountOf(const std::vector<Kept>& all) {
  std::size_t count = 0;
  for (const Kept& kept : all) {
    count += kept.complete.size();
  }
  return count;
}

}  // namespace

absl::StatusOr<int> CheckpointPrune(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const checkpoint::Retention retention, RetentionOf(invocation));
  std::uint64_t quota = 0;
  if (invocation.Has("quota")) {
    const absl::StatusOr<Bytes> size = ParseMemory(invocation.Value("quota"));
    if (!size.ok()) {
      return Named("--quota", size.status());
    }
    quota = size->value();
  }
  std::vector<Kept> all;
  for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
    ASSIGN_OR_RETURN(Kept kept, Open(invocation.arguments[i]));
    all.push_back(std::move(kept));
  }
  const std::size_t before = CountOf(all);
  for (Kept& kept : all) {
    RETURN_IF_ERROR(Retire(kept, retention));
  }
  if (quota > 0) {
    RETURN_IF_ERROR(RetireBeyond(quota, all));
  }
  const std::size_t left = CountOf(all);
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? PrintJson({{"removed", before - left}, {"kept", left}})
          : absl::StrCat("removed ", Counted(before - left, "generation"), ", kept ", left, "\n")));
  if (quota > 0 && BytesOf(all) > quota) {
    return absl::FailedPreconditionError(absl::StrCat("--quota: the newest generations alone take ",
                                                      BytesText(BytesOf(all)), ", more than ",
                                                      BytesText(quota)));
  }
  return 0;
}

}  // namespace muster::cli
