#pragma once

// Which messages a user wants about a job: --mail-type, --mail-user, --notify.
//
// They stand in the job as it was submitted, and the notifier reads them in its events; the
// scheduler does nothing with them. Pure; errors as in number.h. Invariant: an address and a URL
// are one word without control characters.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

// Slurm's kinds of mail.
enum class News : std::uint8_t {
  kBegin = 0,
  kEnd = 1,
  kFail = 2,
  kRequeue = 3,
  kInvalidDepend = 4,
  kTimeLimit = 5,
  kTimeLimit90 = 6,
  kTimeLimit80 = 7,
  kTimeLimit50 = 8,
};

inline constexpr std::array kAllNews = {
    News::kBegin,       News::kEnd,           News::kFail,
    News::kRequeue,     News::kInvalidDepend, News::kTimeLimit,
    News::kTimeLimit90, News::kTimeLimit80,   News::kTimeLimit50};

// "TIME_LIMIT_90".
const char* NewsName(News news);

struct NewsKinds {
  std::uint32_t bits = 0;        // 1 << News
  bool of_each_element = false;  // ARRAY_TASKS
  [[nodiscard]] bool Has(News news) const {
    return ((bits >> static_cast<unsigned>(news)) & 1U) != 0;
  }
  void Add(News news) { bits |= 1U << static_cast<unsigned>(news); }
};

// "END,FAIL", "ALL", "NONE", any case.
absl::StatusOr<NewsKinds> ParseMailTypes(std::string_view text);
// A user's name, or an address.
absl::Status CheckMailUser(std::string_view text);
// An http or https URL.
bool IsWebhook(const std::string& text);
// "mail", "desktop" (where the job was submitted, by its submitter's own process), or a webhook.
absl::Status CheckNotify(std::string_view text);
// Whether the words that a job was submitted with ask for the desktop.
bool WantsDesktop(const std::vector<std::string>& recorded);

// What a job asks for, from the words that it was submitted with.
struct Notices {
  NewsKinds kinds;
  std::string mail_to;  // empty: no mail
  std::string url;      // empty: no webhook
};
// `notices`: "mail-type=END", "mail-user=ada", "notify=https://…"; without a kind END, FAIL,
// REQUEUE and INVALID_DEPEND, when there is a way at all. `user`: whom mail goes to by itself.
Notices ReadNotices(const std::vector<std::string>& notices, const std::string& user);

}  // namespace muster::cli
