#include "cli/parse/request/stage_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/plan/node_data.h"

namespace muster::cli {
namespace {

constexpr std::size_t kPairBytesMax = 8192;
constexpr std::size_t kPairsMax = 64;
constexpr std::string_view kBeginPaths = "/.~$";
constexpr std::string_view kEvery = ",every=";

// "//host" is the middle of an address.
bool SaysItIsAPath(std::string_view place) {
  return !place.empty() && kBeginPaths.find(place.front()) != std::string_view::npos &&
         place.rfind("//", 0) != 0;
}

// A path from the root, or one that the node expands.
bool SaysItIsExpanded(std::string_view place) {
  return !place.empty() && std::string_view("/~$").find(place.front()) != std::string_view::npos;
}

bool IsOfARemotesName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_.+@-").find(c) != std::string_view::npos;
}

absl::Status Add(std::string_view lines, absl::StatusOr<StagePair> (*parse)(std::string_view),
                 std::vector<StagePair>* pairs) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(lines), '\n'))) {
    RETURN_IF_ERROR(CheckText(line, kPairBytesMax));
    ASSIGN_OR_RETURN(StagePair pair, parse(line));
    if (pairs->size() == kPairsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", kPairsMax, " copies: name the directory that holds them"));
    }
    pairs->push_back(std::move(pair));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StagePair> ParseStageIn(std::string_view text) {
  for (std::size_t at = text.rfind(':'); at != std::string_view::npos && at > 0;
       at = text.rfind(':', at - 1)) {
    if (SaysItIsAPath(text.substr(at + 1))) {
      return StagePair{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(std::string(text)),
                   " does not say what is copied to which path: use SRC:/PATH, SRC:./PATH or "
                   "SRC:~/PATH"));
}

absl::StatusOr<StagePair> ParseStageOut(std::string_view text) {
  const std::size_t at = text.find(':');
  if (at != std::string_view::npos && at > 0) {
    const std::string_view to = text.substr(at + 1);
    if (SaysItIsAPath(to) || IsRemotePlace(to)) {
      return StagePair{std::string(text.substr(0, at)), std::string(to)};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(std::string(text)),
                   " does not say which path is copied where: use PATH:/PATH, PATH:./PATH or "
                   "PATH:REMOTE:PATH"));
}

absl::Status AddStageIns(std::string_view lines, std::vector<StagePair>* pairs) {
  return Add(lines, ParseStageIn, pairs);
}

absl::Status AddStageOuts(std::string_view lines, std::vector<StagePair>* pairs) {
  return Add(lines, ParseStageOut, pairs);
}

absl::Status AddNodeData(std::string_view lines, std::vector<std::string>* sources) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(lines), '\n'))) {
    RETURN_IF_ERROR(CheckText(line, kPairBytesMax));
    const std::size_t last = line.find_last_not_of('/');
    sources->push_back(line.substr(0, last == std::string::npos ? line.size() : last + 1));
  }
  return CheckNodeData(*sources);
}

std::string WithAbsoluteSource(const std::string& source, const std::string& directory) {
  return SaysItIsExpanded(source) || IsRemotePlace(source) ? source
                                                           : absl::StrCat(directory, "/", source);
}

absl::StatusOr<ObjectCopies> ParseObjectCopies(const std::string& text) {
  RETURN_IF_ERROR(CheckText(text, kPairBytesMax));
  ObjectCopies copies;
  const std::size_t at = text.rfind(kEvery);
  copies.place = text.substr(0, at);
  if (at != std::string::npos) {
    ASSIGN_OR_RETURN(copies.every, ParseDuration(text.substr(at + kEvery.size())));
  }
  if (!IsRemotePlace(copies.place)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(copies.place), " is no remote of rclone: use REMOTE:PATH, such as s3:bucket/state"));
  }
  // Of a place with options for rclone the commas are before its last colon.
  const std::string path = copies.place.substr(copies.place.rfind(':') + 1);
  const std::string last = path.substr(path.rfind(',') + 1);
  if (last != path && absl::StrContains(last, '=') && !absl::StrContains(last, '/')) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(last), " is no option: use every=TIME; a path that ends so has a / behind"));
  }
  while (copies.place.back() == '/') {
    copies.place.pop_back();
  }
  return copies;
}

absl::Status ReadObjectCopies(const std::string& text, std::string* copies) {
  RETURN_IF_ERROR(ParseObjectCopies(text).status());
  *copies = text;
  return absl::OkStatus();
}

bool IsRemotePlace(std::string_view place) {
  const std::size_t colon = place.find(':', place.rfind(':', 0) == 0 ? 1 : 0);
  if (colon == std::string_view::npos || SaysItIsAPath(place)) {
    return false;
  }
  const std::string_view name = place.substr(0, colon);
  return name.front() == ':' ? name.size() > 1
                             : !name.empty() && name.front() != '-' &&
                                   std::all_of(name.begin(), name.end(), IsOfARemotesName);
}

std::string StagedName(const std::string& from, const std::string& to) {
  return to.back() == '/' ? to + NameOfSource(from) : to;
}

}  // namespace muster::cli
