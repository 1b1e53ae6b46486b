#include "cli/parse/request/rank_layout.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kListMax = 4096;
constexpr std::uint32_t kNumberMax = 65'535;

template <class Kind>
struct Word {
  std::string_view word;
  Kind kind;
};

template <class Kind, std::size_t N>
std::optional<Kind> KindOf(const std::array<Word<Kind>, N>& words, std::string_view word) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [word](const Word<Kind>& known) { return known.word == word; });
  return found == words.end() ? std::nullopt : std::optional(found->kind);
}

constexpr std::array<Word<Dealing>, 4> kNodeWords = {{{"*", Dealing::kUnsaid},
                                                      {"block", Dealing::kBlock},
                                                      {"cyclic", Dealing::kCyclic},
                                                      {"plane", Dealing::kPlane}}};
constexpr std::array<Word<Dealing>, 4> kSocketWords = {{{"*", Dealing::kUnsaid},
                                                        {"block", Dealing::kBlock},
                                                        {"cyclic", Dealing::kCyclic},
                                                        {"fcyclic", Dealing::kFcyclic}}};
constexpr std::array<Word<CpuBind>, 9> kCpuWords = {{{"no", CpuBind::kNone},
                                                     {"none", CpuBind::kNone},
                                                     {"threads", CpuBind::kThreads},
                                                     {"cores", CpuBind::kCores},
                                                     {"sockets", CpuBind::kSockets},
                                                     {"ldoms", CpuBind::kLdoms},
                                                     {"rank_ldom", CpuBind::kRankLdom},
                                                     {"map_cpu", CpuBind::kMapCpu},
                                                     {"mask_cpu", CpuBind::kMaskCpu}}};
constexpr std::array<Word<MemBind>, 6> kMemWords = {{{"no", MemBind::kNone},
                                                     {"none", MemBind::kNone},
                                                     {"local", MemBind::kLocal},
                                                     {"rank", MemBind::kRank},
                                                     {"map_mem", MemBind::kMapMem},
                                                     {"mask_mem", MemBind::kMaskMem}}};

constexpr std::array<Word<GpuBind>, 6> kGpuWords = {{{"none", GpuBind::kNone},
                                                     {"closest", GpuBind::kClosest},
                                                     {"single", GpuBind::kSingle},
                                                     {"per_task", GpuBind::kPerTask},
                                                     {"map_gpu", GpuBind::kMapGpu},
                                                     {"mask_gpu", GpuBind::kMaskGpu}}};

absl::Status NotAKind(const std::string& text, const char* kinds) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(text), " is not one of ", kinds));
}

// The bits of a hexadecimal mask, with or without 0x; nothing for what is none, or is empty.
template <class Set>
std::optional<Set> SetOfMask(std::string_view mask) {
  if (mask.rfind("0x", 0) == 0 || mask.rfind("0X", 0) == 0) {
    mask.remove_prefix(2);
  }
  Set set;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const char c = mask[mask.size() - 1 - i];
    const bool digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (!digit && (lower < 'a' || lower > 'f')) {
      return std::nullopt;
    }
    const auto value = static_cast<unsigned>(digit ? c - '0' : lower - 'a' + 10);
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      if ((value >> bit & 1U) != 0 && 4 * i + bit > kNumberMax) {
        return std::nullopt;
      }
      if ((value >> bit & 1U) != 0) {
        set.Insert(static_cast<std::uint32_t>(4 * i) + bit);
      }
    }
  }
  return set.Empty() ? std::nullopt : std::optional(std::move(set));
}

// Numbers, or masks, with commas between them.
template <class Set>
absl::StatusOr<std::vector<Set>> SetsOf(const std::string& list, bool masks) {
  const std::vector<std::string> pieces = absl::StrSplit(list, ',');
  if (pieces.size() > kListMax) {
    return absl::InvalidArgumentError(absl::StrCat("a list of more than ", kListMax));
  }
  std::vector<Set> sets;
  for (const std::string& piece : pieces) {
    std::optional<Set> set;
    if (masks) {
      set = SetOfMask<Set>(piece);
    } else if (const auto number = ParseDigits(piece, kNumberMax); number.ok()) {
      set = Set::Of({static_cast<std::uint32_t>(*number)});
    }
    if (!set.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(piece), masks ? " is not a mask: use hexadecimal, like 0x3"
                                           : " is not a number: use one like 4"));
    }
    sets.push_back(*std::move(set));
  }
  return sets;
}

// "KIND" or "KIND:LIST"; a kind has a list exactly when its name says map or mask.
template <class Set>
absl::Status ReadList(const std::string& text, std::vector<Set>* list) {
  const std::size_t colon = text.find(':');
  const bool wanted = text.rfind("map", 0) == 0 || text.rfind("mask", 0) == 0;
  if (wanted != (colon != std::string::npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), wanted ? " needs a list: KIND:LIST" : " takes no list"));
  }
  list->clear();
  if (wanted) {
    ASSIGN_OR_RETURN(*list, SetsOf<Set>(text.substr(colon + 1), text.rfind("mask", 0) == 0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseDistribution(const std::string& text, RankLayout* layout) {
  constexpr const char* kDistributions =
      "block, cyclic, plane=N, alone or before :block, :cyclic or :fcyclic";
  const std::size_t colon = text.find(':');
  std::string nodes = text.substr(0, colon);
  std::uint32_t plane = 0;
  if (nodes.rfind("plane=", 0) == 0) {
    ASSIGN_OR_RETURN(plane, ParseCount(nodes.substr(6)));
    nodes = "plane";
  }
  const std::optional<Dealing> over_nodes = KindOf(kNodeWords, nodes);
  const std::optional<Dealing> over_sockets =
      colon == std::string::npos ? Dealing::kUnsaid : KindOf(kSocketWords, text.substr(colon + 1));
  const bool has_plane = over_nodes == Dealing::kPlane;
  if (!over_nodes.has_value() || !over_sockets.has_value() || has_plane != (plane > 0)) {
    return NotAKind(text, kDistributions);
  }
  layout->nodes = *over_nodes;
  layout->plane = plane;
  layout->sockets = *over_sockets;
  return absl::OkStatus();
}

absl::Status ParseCpuBind(const std::string& text, RankLayout* layout) {
  const std::optional<CpuBind> kind = KindOf(kCpuWords, text.substr(0, text.find(':')));
  if (!kind.has_value()) {
    return NotAKind(text,
                    "none, threads, cores, sockets, ldoms, rank_ldom, map_cpu:LIST, mask_cpu:LIST");
  }
  std::vector<CpuSet> list;
  RETURN_IF_ERROR(ReadList(text, &list));
  layout->cpu_bind = *kind;
  layout->cpu_list = std::move(list);
  return absl::OkStatus();
}

absl::Status ParseMemBind(const std::string& text, RankLayout* layout) {
  const std::optional<MemBind> kind = KindOf(kMemWords, text.substr(0, text.find(':')));
  if (!kind.has_value()) {
    return NotAKind(text, "none, local, rank, map_mem:LIST, mask_mem:LIST");
  }
  std::vector<NumaSet> list;
  RETURN_IF_ERROR(ReadList(text, &list));
  layout->mem_bind = *kind;
  layout->mem_list = std::move(list);
  return absl::OkStatus();
}

absl::Status ParseHint(const std::string& text, RankLayout* layout) {
  if (text == "memory_bound") {
    layout->tasks_per_socket = layout->tasks_per_socket == 0 ? 1 : layout->tasks_per_socket;
  } else if (text == "nomultithread") {
    layout->threads_per_core = layout->threads_per_core == 0 ? 1 : layout->threads_per_core;
  } else if (text != "compute_bound" && text != "multithread") {
    return NotAKind(text, "compute_bound, memory_bound, multithread, nomultithread");
  } else if (layout->cpu_bind == CpuBind::kUnsaid) {
    layout->cpu_bind = text == "multithread" ? CpuBind::kThreads : CpuBind::kCores;
  }
  return absl::OkStatus();
}

absl::Status ParseGpuBind(const std::string& text, RankLayout* layout) {
  constexpr const char* kBindings =
      "none, closest, single[:N], per_task:N, map_gpu:LIST, mask_gpu:LIST";
  constexpr std::string_view kVerbose = "verbose,";
  const std::string said = text.rfind(kVerbose, 0) == 0 ? text.substr(kVerbose.size()) : text;
  const std::size_t colon = said.find(':');
  const std::optional<GpuBind> kind = KindOf(kGpuWords, said.substr(0, colon));
  if (!kind.has_value()) {
    return NotAKind(text, kBindings);
  }
  std::vector<GpuSet> list;
  std::uint32_t count = 0;
  if (*kind == GpuBind::kPerTask || (*kind == GpuBind::kSingle && colon != std::string::npos)) {
    const absl::StatusOr<std::uint32_t> number =
        ParseCount(colon == std::string::npos ? "" : said.substr(colon + 1));
    if (!number.ok()) {
      return NotAKind(text, kBindings);
    }
    count = *number;
  } else {
    RETURN_IF_ERROR(ReadList(said, &list));
  }
  layout->gpu_bind = *kind;
  layout->gpu_bind_count = count;
  layout->gpu_list = std::move(list);
  return absl::OkStatus();
}

absl::Status ParseParallel(const std::string& text, RankLayout* layout) {
  ParallelGroups groups{0, 0, 0, 0, 0, 0};
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::string name = piece.substr(0, piece.find('='));
    std::uint32_t* group = name == "tp"      ? &groups.tensor
                           : name == "cp"    ? &groups.context
                           : name == "pp"    ? &groups.pipeline
                           : name == "dp"    ? &groups.data
                           : name == "ep"    ? &groups.expert
                           : name == "shard" ? &groups.shard
                                             : nullptr;
    const absl::StatusOr<std::uint32_t> count =
        ParseCount(piece.size() > name.size() ? piece.substr(name.size() + 1) : "");
    if (group == nullptr || *group != 0 || !count.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(text),
                       " does not say groups of ranks: use tp=N,cp=N,pp=N,dp=N,ep=N,shard=N, each "
                       "at most once"));
    }
    *group = *count;
  }
  layout->parallel = groups;
  return absl::OkStatus();
}

absl::Status ParseGrid(const std::string& text, RankLayout* layout) {
  std::vector<std::uint32_t> grid;
  for (const std::string& piece : std::vector<std::string>(absl::StrSplit(text, 'x'))) {
    const absl::StatusOr<std::uint32_t> size = ParseCount(piece);
    if (!size.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(text), " is not a grid: use its sizes, such as 4x2x2"));
    }
    grid.push_back(*size);
  }
  layout->grid = std::move(grid);
  return absl::OkStatus();
}

}  // namespace muster::cli
