#include "cli/checkpoint/checkpoint_directory.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/store/store.h"
#include "cli/checkpoint/checkpoint_carry.h"
#include "cli/checkpoint/kept_generations.h"
#include "cli/checkpoint/ledger.h"
#include "cli/checkpoint/object_level.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/parse/request/stage_words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/time_text.h"

namespace muster::cli {
namespace {

using checkpoint::GenerationName;
using checkpoint::GenerationState;
using checkpoint::Manifest;
using checkpoint::Store;

// A generation and what its manifest says; `fault` is why there is none, or why it is not whole.
struct Found {
  GenerationName name;
  Manifest manifest;
  bool readable = false;
  std::string fault;
};

absl::StatusOr<std::vector<Found>> FindGenerations(const Store& store, bool every_byte) {
  const auto names = store.List();
  if (!names.ok()) {
    return StatusOf(names.error);
  }
  std::vector<Found> found;
  for (const GenerationName& name : names.value) {
    Found each;
    each.name = name;
    if (name.state == GenerationState::kComplete || name.state == GenerationState::kSetAside) {
      auto manifest = every_byte ? store.Verify(name) : store.ReadManifest(name);
      each.readable = manifest.ok();
      each.manifest = std::move(manifest.value);
      each.fault = manifest.error.text;
    }
    found.push_back(std::move(each));
  }
  return found;
}

const char* NameOf(GenerationState state) {
  switch (state) {
    case GenerationState::kComplete:
      return "complete";
    case GenerationState::kPartial:
      return "partial";
    case GenerationState::kSetAside:
      return "set aside";
    case GenerationState::kDoomed:
      return "being removed";
  }
  return "unknown";
}

std::uint64_t SizeOf(const Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const checkpoint::ShardSeal& seal : manifest.shards) {
    bytes += seal.bytes;
  }
  return bytes;
}

Time WrittenAt(const Manifest& manifest) {
  return Time(std::chrono::milliseconds(static_cast<std::int64_t>(manifest.written_ms)));
}

Json DocumentOf(const Found& each) {
  Json entry = {{"generation", each.name.number},
                {"state", NameOf(each.name.state)},
                {"fault", each.fault.empty() ? Json(nullptr) : Json(each.fault)}};
  if (each.readable) {
    entry["job"] = each.manifest.job;
    entry["attempt"] = each.manifest.attempt;
    entry["ranks"] = each.manifest.shards.size();
    entry["bytes"] = SizeOf(each.manifest);
    entry["written"] = IsoText(WrittenAt(each.manifest));
    entry["repartitionable"] = each.manifest.repartitionable;
    entry["topology"] = each.manifest.topology;
    entry["software"] = each.manifest.software;
    entry["hardware"] = each.manifest.hardware;
  }
  return entry;
}

std::string Page(const std::vector<Found>& found, bool verified, const Style& style) {
  Table table({{.title = "GENERATION", .right = true},
               {.title = "STATE"},
               {.title = "JOB"},
               {.title = "ATTEMPT", .right = true},
               {.title = "RANKS", .right = true},
               {.title = "SIZE", .right = true},
               {.title = "WRITTEN"},
               {.title = "FAULT"}});
  for (const Found& each : found) {
    const std::string number = absl::StrCat(each.name.number);
    const Cell fault{each.fault.empty() && verified && each.readable ? "none" : each.fault,
                     each.fault.empty() ? Paint::kGreen : Paint::kRed};
    if (!each.readable) {
      table.Add({{number}, {NameOf(each.name.state)}, {""}, {""}, {""}, {""}, {""}, fault});
      continue;
    }
    table.Add({{number},
               {NameOf(each.name.state)},
               {each.manifest.job},
               {absl::StrCat(each.manifest.attempt)},
               {absl::StrCat(each.manifest.shards.size())},
               {BytesText(SizeOf(each.manifest))},
               {MomentText(WrittenAt(each.manifest), style.zone)},
               fault});
  }
  return table.Print(style);
}

// Why the newest checkpoint may not be there, as the ledger has it; "": it may, or nothing is
// known.
std::string RefusedIn(const Invocation& invocation) {
  const absl::StatusOr<std::string> place = LedgerPlace(invocation.environment);
  const absl::StatusOr<LedgerPage> page =
      place.ok() ? ReadLedger(*place) : absl::StatusOr<LedgerPage>(place.status());
  std::error_code unknown;
  const std::string directory =
      std::filesystem::canonical(invocation.arguments[1], unknown).string();
  if (page.ok()) {
    for (const LedgerEntry& each : page->entries) {
      if (each.directory == directory) {
        return each.refused;
      }
    }
  }
  return "";
}

Json DocumentOf(const CarryNote& note) {
  return note.place.empty()
             ? Json(nullptr)
             : Json(
                   {{"place", note.place},
                    {"generation", note.generation == 0 ? Json(nullptr) : Json(note.generation)},
                    {"copied", note.copied == kNoTime ? Json(nullptr) : Json(IsoText(note.copied))},
                    {"error", note.error.empty() ? Json(nullptr) : Json(note.error)}});
}

std::string TextOf(const CarryNote& note, const Style& style) {
  if (note.place.empty()) {
    return "";
  }
  return absl::StrCat(
      "At ", Printable(note.place), ": ",
      note.generation == 0 ? "none" : absl::StrCat("generation ", note.generation),
      note.copied == kNoTime ? "" : absl::StrCat(", copied ", MomentText(note.copied, style.zone)),
      note.error.empty() ? "" : absl::StrCat("; the newest copy failed: ", Printable(note.error)),
      "\n");
}

// Of a place of rclone: what is whole there.
absl::StatusOr<int> ShowObjects(const Invocation& invocation) {
  const ObjectLevel level(invocation.arguments[1], invocation.environment);
  ASSIGN_OR_RETURN(const std::vector<ObjectGeneration> there, level.List());
  Table table({{.title = "GENERATION", .right = true}, {.title = "STATE"}});
  Json generations = Json::array();
  for (const ObjectGeneration& each : there) {
    const char* const state = each.whole ? "complete" : "partial";
    generations.push_back({{"generation", each.number}, {"state", state}, {"fault", nullptr}});
    table.Add({{absl::StrCat(each.number)}, {state}});
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? PrintJson({{"directory", level.place()}, {"generations", generations}})
                   : table.Print(StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

absl::StatusOr<int> Show(const Invocation& invocation, bool every_byte) {
  ASSIGN_OR_RETURN(const Store store, OpenStore(invocation.arguments[1]));
  ASSIGN_OR_RETURN(const std::vector<Found> found, FindGenerations(store, every_byte));
  Json generations = Json::array();
  bool whole = true;
  for (const Found& each : found) {
    generations.push_back(DocumentOf(each));
    whole = whole && each.fault.empty();
  }
  const std::string refused = RefusedIn(invocation);
  const CarryNote note = ReadCarryNote(invocation.arguments[1]);
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? PrintJson({{"directory", invocation.arguments[1]},
                       {"generations", generations},
                       {"refused", refused.empty() ? Json(nullptr) : Json(refused)},
                       {"object", DocumentOf(note)}})
          : absl::StrCat(
                Page(found, every_byte, style), TextOf(note, style),
                refused.empty() ? "" : absl::StrCat("The newest was refused: ", refused, "\n"))));
  return every_byte && !whole ? 1 : 0;
}

}  // namespace

std::vector<Option> CheckpointDirectoryOptions() {
  return {{.name = "keep",
           .letter = 0,
           .metavar = "N",
           .text = "prune: keep this many complete generations; 2 otherwise"},
          {.name = "milestone",
           .letter = 0,
           .metavar = "K",
           .text = "prune: keep every generation whose number K divides, besides the newest"},
          {.name = "max-age",
           .letter = 0,
           .metavar = "D",
           .text = "prune: of those that --keep and --milestone keep, none but the newest that was "
                   "written longer ago than this"},
          {.name = "max-size",
           .letter = 0,
           .metavar = "SIZE",
           .text = "prune: of these, keep no more bytes together (4G; MiB without a suffix)"},
          {.name = "quota",
           .letter = 0,
           .metavar = "SIZE",
           .text = "prune: of all the directories, keep no more bytes together"}};
}

absl::StatusOr<int> CheckpointList(const Invocation& invocation) {
  return IsRemotePlace(invocation.arguments[1]) ? ShowObjects(invocation) : Show(invocation, false);
}

absl::StatusOr<int> CheckpointVerify(const Invocation& invocation) {
  return Show(invocation, true);
}

}  // namespace muster::cli
