#include "cli/parse/request/notice_words.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kAddressBytesMax = 320;
constexpr std::size_t kUrlBytesMax = 2000;

constexpr std::array<const char*, 9> kNewsNames = {
    "BEGIN",      "END",           "FAIL",          "REQUEUE",      "INVALID_DEPEND",
    "TIME_LIMIT", "TIME_LIMIT_90", "TIME_LIMIT_80", "TIME_LIMIT_50"};

void AddUsual(NewsKinds& kinds) {
  for (const News news : {News::kEnd, News::kFail, News::kRequeue, News::kInvalidDepend}) {
    kinds.Add(news);
  }
}

bool AddKind(const std::string& word, NewsKinds& kinds) {
  if (word == "ALL") {
    AddUsual(kinds);
    kinds.Add(News::kBegin);
    return true;
  }
  if (word == "ARRAY_TASKS") {
    kinds.of_each_element = true;
    return true;
  }
  for (std::size_t i = 0; i < kNewsNames.size(); ++i) {
    if (word == kNewsNames[i]) {
      kinds.Add(static_cast<News>(i));
      return true;
    }
  }
  return word == "NONE" || word == "STAGE_OUT";  // nothing is staged out here
}

}  // namespace

const char* NewsName(News news) {
  return kNewsNames[static_cast<std::size_t>(news)];
}

absl::StatusOr<NewsKinds> ParseMailTypes(std::string_view text) {
  NewsKinds kinds;
  for (const std::string& piece :
       std::vector<std::string>(absl::StrSplit(std::string(text), ',', absl::SkipWhitespace()))) {
    const std::string word = absl::AsciiStrToUpper(std::string(absl::StripAsciiWhitespace(piece)));
    if (!AddKind(word, kinds)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(piece), " is not a kind of mail: use NONE, BEGIN, END, FAIL, REQUEUE, ALL, ",
          "INVALID_DEPEND, STAGE_OUT, TIME_LIMIT, TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50 or ",
          "ARRAY_TASKS"));
    }
    if (word == "NONE") {
      kinds = NewsKinds();
    }
  }
  return kinds;
}

absl::Status CheckMailUser(std::string_view text) {
  RETURN_IF_ERROR(CheckText(text, kAddressBytesMax));
  if (text.empty() || text.front() == '-' ||
      text.find_first_of(" \t<>,;:\"()[]\\") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a user or an address: write ada or ada@example.org"));
  }
  return absl::OkStatus();
}

bool IsWebhook(const std::string& text) {
  const bool is_url = absl::StartsWith(text, "https://") || absl::StartsWith(text, "http://");
  return is_url && CheckText(text, kUrlBytesMax).ok() &&
         text.find_first_of(" \"<>\\") == std::string::npos;
}

absl::Status CheckNotify(std::string_view text) {
  RETURN_IF_ERROR(CheckText(text, kUrlBytesMax));
  const std::string word(text);
  return word == "mail" || word == "desktop" || IsWebhook(word)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   Quote(text),
                   " is not a notification target: write mail, desktop, or https://…"));
}

bool WantsDesktop(const std::vector<std::string>& recorded) {
  return std::find(recorded.begin(), recorded.end(), "notify=desktop") != recorded.end();
}

Notices ReadNotices(const std::vector<std::string>& notices, const std::string& user) {
  Notices asked;
  bool has_kinds = false;
  std::string address = user;
  bool by_mail = false;
  for (const std::string& notice : notices) {
    const std::size_t equals = notice.find('=');
    const std::string name = notice.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : notice.substr(equals + 1);
    if (name == "mail-type") {
      const absl::StatusOr<NewsKinds> kinds = ParseMailTypes(value);
      asked.kinds = kinds.ok() ? *kinds : NewsKinds();
      has_kinds = by_mail = true;
    } else if (name == "mail-user" && CheckMailUser(value).ok()) {
      address = value;
    } else if (name == "notify" && value == "mail") {
      by_mail = true;
    } else if (name == "notify" && IsWebhook(value)) {
      asked.url = value;
    }
  }
  if (!has_kinds && (by_mail || !asked.url.empty())) {
    AddUsual(asked.kinds);
  }
  asked.mail_to = by_mail && asked.kinds.bits != 0 ? address : "";
  return asked;
}

}  // namespace muster::cli
