#include "cli/notify/webhook_body.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/request/notice_words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kJsonType = "application/json";
constexpr std::array<std::pair<std::string_view, std::string WebhookWords::*>, 6> kWords = {
    {{"news", &WebhookWords::news},
     {"subject", &WebhookWords::subject},
     {"text", &WebhookWords::text},
     {"job", &WebhookWords::job},
     {"user", &WebhookWords::user},
     {"event", &WebhookWords::event}}};

bool IsLetters(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As it stands within the quotes of a text.
std::string Escaped(const std::string& text) {
  const std::string quoted = Dumped(Json(text));
  return quoted.substr(1, quoted.size() - 2);
}

Json EventOf(const WebhookWords& words) {
  return words.event.empty() ? Json() : Json::parse(words.event, nullptr, false);
}

// The body with its words; a word that is none is NotFound. Braces about anything else stay.
absl::StatusOr<std::string> Filled(const WebhookTemplate& form, const WebhookWords& words) {
  const bool json = absl::StartsWith(form.type, kJsonType);
  std::string filled;
  std::size_t at = 0;
  while (at < form.body.size()) {
    const std::size_t end = form.body[at] == '{' ? form.body.find('}', at) : std::string::npos;
    const std::string name = end == std::string::npos ? "" : form.body.substr(at + 1, end - at - 1);
    if (!IsLetters(name)) {
      filled.push_back(form.body[at++]);
      continue;
    }
    const std::string WebhookWords::*found = nullptr;
    for (const auto& [known, member] : kWords) {
      found = known == name ? member : found;
    }
    if (found == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "{", name, "} is none of {news}, {subject}, {text}, {job}, {user} and {event}"));
    }
    const bool whole = name == "event";  // an object, which stands without quotes
    filled += whole ? Dumped(EventOf(words)) : json ? Escaped(words.*found) : words.*found;
    at = end + 1;
  }
  return filled;
}

absl::Status ReadTemplate(ConfigFile& file, const std::string& table, WebhookTemplate& form) {
  RETURN_IF_ERROR(file.ReadString(table + ".url", &form.url));
  RETURN_IF_ERROR(file.ReadString(table + ".body", &form.body));
  RETURN_IF_ERROR(file.ReadString(table + ".type", &form.type));
  if (!IsWebhook(form.url)) {
    return file.ErrorAt(table + ".url",
                        "how the webhooks begin, such as https://hooks.example.org/");
  }
  if (form.type.find('/') == std::string::npos ||
      form.type.find_first_of("\r\n") != std::string::npos) {
    return file.ErrorAt(table + ".type", "a media type, such as text/plain");
  }
  const absl::StatusOr<std::string> filled =
      Filled(form, {"END", "a \"b\"", "c\nd", "7", "ada", ""});
  if (!filled.ok() || form.body.empty()) {
    return file.ErrorAt(table + ".body", form.body.empty()
                                             ? "says nothing"
                                             : std::string(filled.status().message()));
  }
  if (absl::StartsWith(form.type, kJsonType) && !Json::accept(*filled)) {
    return file.ErrorAt(table + ".body",
                        "is no JSON once its words are in; words of text stand in quotes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadWebhookTemplates(ConfigFile& file, std::vector<WebhookTemplate>* templates) {
  for (const std::string& name : file.KeysUnder("webhook")) {
    WebhookTemplate form;
    RETURN_IF_ERROR(ReadTemplate(file, absl::StrCat("webhook.", name), form));
    templates->push_back(std::move(form));
  }
  return absl::OkStatus();
}

WebhookBody MakeWebhookBody(const std::vector<WebhookTemplate>& templates, const std::string& url,
                            const WebhookWords& words) {
  const WebhookTemplate* chosen = nullptr;
  for (const WebhookTemplate& form : templates) {
    if (absl::StartsWith(url, form.url) &&
        (chosen == nullptr || form.url.size() > chosen->url.size())) {
      chosen = &form;
    }
  }
  if (chosen == nullptr) {
    return {kJsonType,
            Dumped({{"news", words.news}, {"subject", words.subject}, {"event", EventOf(words)}})};
  }
  return {chosen->type, Filled(*chosen, words).value_or("")};
}

}  // namespace muster::cli
