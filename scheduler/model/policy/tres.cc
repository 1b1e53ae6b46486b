#include "scheduler/model/policy/tres.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/gres.h"

namespace muster {
namespace {

constexpr std::size_t kTypeBytesMax = 64;
constexpr std::size_t kItemsMax = 64;

std::optional<Tres> NameOnly(const std::string& name) {
  Tres tres;
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "cpu") {
    tres.kind = TresKind::kCpu;
  } else if (lower == "mem") {
    tres.kind = TresKind::kMemory;
  } else if (lower == "node") {
    tres.kind = TresKind::kNode;
  } else if (lower == "gres/gpu" || lower.rfind("gres/gpu:", 0) == 0) {
    tres.kind = TresKind::kGpu;
    const std::string rest = lower.substr(8);
    if (!rest.empty() && (rest[0] != ':' || rest.size() < 2 || rest.size() > kTypeBytesMax ||
                          !std::all_of(rest.begin() + 1, rest.end(), IsNameCharacter))) {
      return std::nullopt;
    }
    tres.type = rest.empty() ? "" : rest.substr(1);
  } else if (lower.rfind("gres/", 0) == 0 && IsGresName(name.substr(5))) {
    tres.kind = TresKind::kGres;
    tres.type = name.substr(5);
  } else {
    return std::nullopt;
  }
  return tres;
}

std::optional<std::uint64_t> ReadCount(TresKind kind, std::string_view text) {
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 56;
  if (kind == TresKind::kMemory) {
    return ParseSize(text, PlainSize::kMebibytes, kCountMax);
  }
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, kCountMax);
  return count.ok() ? std::optional(*count) : std::nullopt;
}

bool Before(const Tres& a, const Tres& b) {
  return std::tie(a.kind, a.type) < std::tie(b.kind, b.type);
}

// Replaces the amount of the same name, or takes it out when there is none.
void Put(const Tres& tres, bool remove, TresList* list) {
  const auto at = std::lower_bound(list->begin(), list->end(), tres, Before);
  const bool there = at != list->end() && !Before(tres, *at);
  if (remove) {
    if (there) {
      list->erase(at);
    }
  } else if (there) {
    at->count = tres.count;
  } else {
    list->insert(at, tres);
  }
}

}  // namespace

std::string TresName(const Tres& tres) {
  switch (tres.kind) {
    case TresKind::kCpu:
      return "cpu";
    case TresKind::kMemory:
      return "mem";
    case TresKind::kNode:
      return "node";
    case TresKind::kGpu:
      return tres.type.empty() ? "gres/gpu" : absl::StrCat("gres/gpu:", tres.type);
    case TresKind::kGres:
      return absl::StrCat("gres/", tres.type);
  }
  return "";
}

std::string TresAmountText(TresKind kind, std::uint64_t count) {
  return kind == TresKind::kMemory ? SizeText(count) : absl::StrCat(count);
}

std::string TresText(const TresList& list) {
  std::string text;
  for (const Tres& tres : list) {
    absl::StrAppend(&text, text.empty() ? "" : ",", TresName(tres), "=",
                    TresAmountText(tres.kind, tres.count));
  }
  return text;
}

absl::Status MergeTres(const std::string& text, TresList* list) {
  if (text.empty()) {
    list->clear();
    return absl::OkStatus();
  }
  TresList merged = *list;
  const std::vector<std::string> items = absl::StrSplit(text, ',');
  if (items.size() > kItemsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kItemsMax, " amounts"));
  }
  for (const std::string& item : items) {
    const std::size_t equals = item.rfind('=');
    if (equals == std::string::npos) {
      return BadText(item, "is not an amount: write NAME=COUNT, like cpu=64 or mem=4G");
    }
    std::optional<Tres> tres = NameOnly(item.substr(0, equals));
    if (!tres.has_value()) {
      return BadText(item,
                     "names no resource: use cpu, mem, node, gres/gpu, gres/gpu:TYPE or gres/NAME");
    }
    const std::string amount = item.substr(equals + 1);
    const std::optional<std::uint64_t> count = ReadCount(tres->kind, amount);
    if (!count.has_value() && amount != "-1") {
      return BadText(
          item, "is not an amount: use a whole number (mem with K, M, G or T), or -1 for none");
    }
    tres->count = count.value_or(0);
    Put(*tres, !count.has_value(), &merged);
  }
  *list = std::move(merged);
  return absl::OkStatus();
}

}  // namespace muster
