#include "cli/checkpoint/object_level.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "checkpoint/store/arrivals.h"
#include "cli/checkpoint/held_generation.h"
#include "cli/checkpoint/kept_generations.h"
#include "cli/stage/bulk_traffic.h"
#include "cli/stage/rclone.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Manifest;
using checkpoint::Store;

constexpr const char* kWhole = ".whole";
constexpr int kNoSuchDirectory = 3;  // of rclone

std::string NameOf(std::uint64_t generation) {
  return checkpoint::ToText(GenerationName{generation, GenerationState::kComplete});
}

absl::StatusOr<std::string> WriteSmallFile(const std::string& text) {
  std::error_code failed;
  std::string path =
      (std::filesystem::temp_directory_path(failed) / "muster-checkpoint-XXXXXX").string();
  const UniqueFd file(failed ? -1 : mkstemp(path.data()));
  if (!file.valid() ||
      write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::ErrnoToStatus(errno, path);
  }
  return path;
}

// The whole ones that may be restarted from, the newest first.
std::vector<std::uint64_t> WholeOf(const std::vector<ObjectGeneration>& there,
                                   const std::vector<GenerationName>& here) {
  std::vector<std::uint64_t> numbers;
  for (const ObjectGeneration& each : there) {
    const GenerationName aside{each.number, GenerationState::kSetAside};
    if (each.whole && std::find(here.begin(), here.end(), aside) == here.end()) {
      numbers.push_back(each.number);
    }
  }
  return numbers;
}

}  // namespace

std::vector<ObjectGeneration> ReadObjectList(const std::string& list) {
  std::map<std::uint64_t, bool, std::greater<>> found;
  for (std::string name : std::vector<std::string>(absl::StrSplit(list, '\n'))) {
    const bool mark = absl::EndsWith(name, kWhole);
    if (mark) {
      name.resize(name.size() - std::string(kWhole).size());
    } else if (absl::EndsWith(name, "/")) {
      name.pop_back();
    }
    const auto generation = checkpoint::ParseGenerationName(name);
    if (generation && generation->state == GenerationState::kComplete) {
      found[generation->number] |= mark;
    }
  }
  std::vector<ObjectGeneration> generations;
  generations.reserve(found.size());
  for (const auto& [number, whole] : found) {
    generations.push_back({number, whole});
  }
  return generations;
}

absl::Status ObjectLevel::Run(std::vector<std::string> words, const std::string& what) const {
  ASSIGN_OR_RETURN(const RcloneAnswer answer, RunRclone(std::move(words), environment_));
  return answer.code == 0 ? absl::OkStatus()
                          : absl::FailedPreconditionError(absl::StrCat(
                                what, ": rclone ended with the exit code ", answer.code,
                                answer.said.empty() ? "" : absl::StrCat(": ", answer.said)));
}

absl::StatusOr<std::vector<ObjectGeneration>> ObjectLevel::List() const {
  ASSIGN_OR_RETURN(const RcloneAnswer answer, RunRclone({"lsf", "--", place_}, environment_));
  if (answer.code == kNoSuchDirectory) {
    return std::vector<ObjectGeneration>();
  }
  if (answer.code != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(place_), ": cannot be listed: rclone ended with the exit code ",
                     answer.code, answer.said.empty() ? "" : absl::StrCat(": ", answer.said)));
  }
  return ReadObjectList(answer.out);
}

absl::Status ObjectLevel::Mark(const std::string& name, const Manifest& manifest) const {
  ASSIGN_OR_RETURN(
      const std::string file,
      WriteSmallFile(absl::StrCat(
          checkpoint::HexText(checkpoint::ChecksumOf(PrintManifest(manifest))), "\n")));
  const absl::Status marked = Run({"copyto", "--", file, At(name + kWhole)}, At(name + kWhole));
  unlink(file.c_str());
  return marked;
}

absl::Status ObjectLevel::Push(const Store& store, std::uint64_t generation) const {
  const std::string name = NameOf(generation);
  ASSIGN_OR_RETURN(const HeldGeneration held, HeldGeneration::Hold(store, generation));
  ASSIGN_OR_RETURN(const std::vector<ObjectGeneration> there, List());
  const std::vector<std::uint64_t> whole = WholeOf(there, {});
  if (!whole.empty() && whole.front() > generation) {
    return absl::FailedPreconditionError(absl::StrCat(
        Quote(place_), ": holds generation ", whole.front(), ", newer than ", generation,
        " here: it is of another run; name another place, or remove that"));
  }
  if (!whole.empty() && whole.front() == generation) {
    RETURN_IF_ERROR(Run({"deletefile", "--", At(name + kWhole)}, At(name + kWhole)));
  }
  std::vector<std::string> words = {"copy", "--copy-links"};
  for (std::string& word : BulkWords(kCheckpointCopies, environment_)) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(), {"--", held.path(), At(name)});
  RETURN_IF_ERROR(Run(std::move(words), absl::StrCat(name, " to ", Quote(At(name)))));
  RETURN_IF_ERROR(Mark(name, held.manifest()));
  Prune(generation);
  return absl::OkStatus();
}

void ObjectLevel::Remove(const ObjectGeneration& generation) const {
  const std::string name = NameOf(generation.number);
  if (!generation.whole || Run({"deletefile", "--", At(name + kWhole)}, name).ok()) {
    (void)Run({"purge", "--", At(name)}, name);
  }
}

// What cannot be removed now goes after the next copy.
void ObjectLevel::Prune(std::uint64_t newest) const {
  const absl::StatusOr<std::vector<ObjectGeneration>> there = List();
  std::size_t kept = 0;
  for (const ObjectGeneration& each : there.ok() ? *there : std::vector<ObjectGeneration>()) {
    kept += each.whole ? 1 : 0;
    if (each.number < newest && (!each.whole || kept > kObjectsKept)) {
      Remove(each);
    }
  }
}

absl::Status ObjectLevel::Fetch(std::uint64_t generation, Store& store, bool* damaged) const {
  const std::string name = NameOf(generation);
  if (const checkpoint::Error error = store.BeginAs(generation); error.failed()) {
    return StatusOf(error);
  }
  const std::string partial =
      absl::StrCat(store.directory().path(), "/",
                   checkpoint::ToText(GenerationName{generation, GenerationState::kPartial}));
  std::vector<std::string> words = {"copy"};
  for (std::string& word : BulkWords(kCheckpointCopies, environment_)) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(), {"--", At(name), partial});
  absl::Status fetched = Run(std::move(words), absl::StrCat(Quote(At(name)), " to ", partial));
  if (fetched.ok()) {
    *damaged = !store.Verify({generation, GenerationState::kPartial}).ok();
    // One of that number which is not whole makes place.
    checkpoint::Error error =
        *damaged ? checkpoint::MakeError(checkpoint::Fault::kCorrupt, At(name) + ": is damaged")
                 : store.restarts().SetAside(generation).error;
    error = error.failed() ? error : checkpoint::Adopt(generation, &store);
    fetched = error.failed() ? StatusOf(error) : absl::OkStatus();
  }
  if (!fetched.ok()) {
    store.Abandon(generation);
  }
  return fetched;
}

absl::StatusOr<std::uint64_t> ObjectLevel::FetchNewest(Store& store) const {
  ASSIGN_OR_RETURN(const std::vector<ObjectGeneration> there, List());
  const auto here = store.List();
  if (!here.ok()) {
    return StatusOf(here.error);
  }
  if (const checkpoint::Error error = store.LockForWriting(); error.failed()) {
    return StatusOf(error);
  }
  absl::Status first;
  for (const std::uint64_t generation : WholeOf(there, here.value)) {
    bool damaged = false;
    const absl::Status fetched = Fetch(generation, store, &damaged);
    if (fetched.ok()) {
      return generation;
    }
    first = first.ok() ? fetched : first;
    if (!damaged) {
      break;
    }
  }
  RETURN_IF_ERROR(first);
  return 0;
}

}  // namespace muster::cli
