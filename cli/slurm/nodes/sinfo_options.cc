#include "cli/slurm/nodes/sinfo_options.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/field_list.h"
#include "cli/slurm/frame/watching.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kUsual = "%#P %.5a %.10l %.6D %.6t %N";
constexpr const char* kLong = "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N";
constexpr const char* kSummary = "%#P %.5a %.10l %.16F %N";
constexpr const char* kNodes = "%#N %.6D %#.P %6t";
constexpr const char* kLongNodes = "%#N %.6D %#.P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E";
constexpr const char* kReasons = "%20E %9u %19H %N";
constexpr const char* kLongReasons = "%20E %12U %19H %6t %N";

constexpr Row kRows[] = {
    {"all", 'a'},
    {"clusters", 'M', Takes::kValue},
    {"cluster", 'M', Takes::kValue},
    {"dead", 'd'},
    {"exact", 'e'},
    {"federation"},
    {"format", 'o', Takes::kValue},
    {"Format", 'O', Takes::kValue},
    {"future", 'F'},
    {"hide"},
    {"iterate", 'i', Takes::kValue},
    {"json", 0, Takes::kOptional},
    {"list-reasons", 'R'},
    {"local"},
    {"long", 'l'},
    {"noconvert"},
    {"Node", 'N'},
    {"nodes", 'n', Takes::kValue},
    {"noheader", 'h'},
    {"partition", 'p', Takes::kValue},
    {"reservation", 'T'},
    {"responding", 'r'},
    {"sort", 'S', Takes::kValue},
    {"states", 't', Takes::kValue},
    {"state", 't', Takes::kValue},
    {"summarize", 's'},
    {"verbose", 'v'},
    {"yaml", 0, Takes::kOptional},
};

constexpr const char* kStates[] = {
    "all",      "alloc",        "allocated",     "blocked",     "cloud",   "comp",    "completing",
    "down",     "drain",        "drained",       "draining",    "drng",    "err",     "error",
    "fail",     "future",       "futr",          "idle",        "inval",   "maint",   "mix",
    "mixed",    "no_respond",   "npc",           "perfctrs",    "planned", "plnd",    "power_down",
    "power_up", "powered_down", "powering_down", "powering_up", "reboot",  "reboot^", "reserved",
    "resv",     "respond",      "unk",           "unknown"};

absl::Status SetLetters(const std::string& text, SinfoRequest& request) {
  const PercentFormat format = ParsePercentFormat(text);
  request.prefix = format.prefix;
  for (const PercentField& field : format.fields) {
    const NodeField* known = FindNodeField(field.letter);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("Invalid node format specification: ", std::string(1, field.letter)));
    }
    request.columns.push_back({.column = {known, field.slot}, .fits = field.flagged});
  }
  return absl::OkStatus();
}

absl::Status SetNames(const std::string& text, SinfoRequest& request) {
  for (const NamedField& field : ParseWideFormat(text)) {
    const NodeField* known = FindNodeField(field.name);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("error: Invalid job format specification: ", field.name));
    }
    request.columns.push_back({.column = {known, field.slot}});
  }
  return absl::OkStatus();
}

absl::Status SetColumns(const Words& words, const Environment& environment, SinfoRequest& request) {
  const bool wide = words.Has("long");
  if (words.Has("Format")) {
    return SetNames(words.Value("Format"), request);
  }
  if (words.Has("format")) {
    return SetLetters(words.Value("format"), request);
  }
  if (words.Has("summarize")) {
    return SetLetters(kSummary, request);
  }
  if (words.Has("list-reasons")) {
    return SetLetters(wide ? kLongReasons : kReasons, request);
  }
  if (const std::string usual = environment.Get("SINFO_FORMAT"); !usual.empty() && !wide) {
    return SetLetters(usual, request);
  }
  if (words.Has("Node")) {
    return SetLetters(wide ? kLongNodes : kNodes, request);
  }
  return SetLetters(wide ? kLong : kUsual, request);
}

absl::StatusOr<std::vector<std::string>> ReadNodeStates(const std::string& text) {
  std::vector<std::string> states;
  for (const std::string& word : SplitCommas(text)) {
    const std::string state = absl::AsciiStrToLower(word);
    if (std::find(std::begin(kStates), std::end(kStates), state) == std::end(kStates)) {
      return absl::InvalidArgumentError(absl::StrCat("error: Bad state string: \"", word, "\""));
    }
    states.push_back(state);
  }
  return states;
}

}  // namespace

std::span<const Row> SinfoRows() {
  return kRows;
}

absl::StatusOr<SinfoRequest> ReadSinfo(const Words& words, const Environment& environment) {
  SinfoRequest request;
  ASSIGN_OR_RETURN(request.document, WantsDocument(words));
  request.header = !words.Has("noheader");
  request.with_date = words.Has("long");
  request.reservations = words.Has("reservation");
  request.clusters = words.Value("clusters");
  NodeChoice& choice = request.choice;
  choice.partitions = SplitCommas(ValueOr(words, "partition", environment, "SINFO_PARTITION"));
  choice.answering = words.Has("responding");
  choice.silent = words.Has("dead");
  choice.with_reason = words.Has("list-reasons");
  ASSIGN_OR_RETURN(choice.states, ReadNodeStates(words.Value("states")));
  if (const std::string nodes = words.Value("nodes"); !nodes.empty()) {
    const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(nodes);
    choice.nodes = names.ok() ? *names : std::vector<std::string>{nodes};
  }
  RETURN_IF_ERROR(SetColumns(words, environment, request));
  request.shape = {
      .by_node = words.Has("Node"), .exact = words.Has("exact"), .by_partition = false};
  for (const SinfoColumn& column : request.columns) {
    request.shape.by_partition |= column.column.field->kind == FieldKind::kPartition;
  }
  request.sort = SplitCommas(ValueOr(words, "sort", environment, "SINFO_SORT"));
  ASSIGN_OR_RETURN(request.pause_s, ReadPause(words));
  return request;
}

}  // namespace muster::cli::slurm
