#pragma once

// What a webhook's POST says: our own JSON, or a template of the site's for addresses that want
// another form, such as those of chats.
//
//   [webhook.chat]
//   url = "https://hooks.example.org/"          # of webhooks that begin so; the longest counts
//   body = '{"text": "{subject} ({user})"}'     # {news} {subject} {text} {job} {user} {event}
//   type = "application/json"                   # the default; otherwise words stand as they are
//
// Pure. Invariant: in a body of JSON every word is escaped, so that no text of a user's changes its
// form.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/runtime/config_file.h"

namespace muster::cli {

struct WebhookTemplate {
  std::string url;
  std::string body;
  std::string type = "application/json";
};

// Errors are "FILE:LINE: KEY: PROBLEM".
absl::Status ReadWebhookTemplates(ConfigFile& file, std::vector<WebhookTemplate>* templates);

// What can be said of a message.
struct WebhookWords {
  std::string news;     // "END"
  std::string subject;  // one line
  std::string text;     // as a mail says it
  std::string job;      // its label
  std::string user;
  std::string event;  // CloudEvents 1.0; empty: null
};
struct WebhookBody {
  std::string type;
  std::string body;
};
WebhookBody MakeWebhookBody(const std::vector<WebhookTemplate>& templates, const std::string& url,
                            const WebhookWords& words);

}  // namespace muster::cli
