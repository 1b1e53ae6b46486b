#pragma once

// muster-notifier's settings: from the command line and, where given, a TOML file.
//
// Invariant: what ParseNotifierConfig returns has been checked.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/notify/webhook_body.h"

namespace muster::cli {

struct NotifierConfig {
  std::string controller;  // unix:PATH or HOST:PORT; empty: the personal cluster's
  std::string state;       // its own directory
  std::string sendmail = "/usr/sbin/sendmail";
  std::string mail_from = "muster";
  std::string mail_domain;       // after the name of a user who gave no address; empty: none
  bool webhook_private = false;  // webhooks may go to private networks
  std::string alertmanager;      // "http://127.0.0.1:9093"; empty: none
  std::vector<WebhookTemplate> webhooks = {};
  std::string key_of;  // prints the webhook key of that user, and ends
  int ready_fd = -1;
  bool help = false;
  std::string help_text;
};

// From argv. InvalidArgument is one line for the user.
absl::StatusOr<NotifierConfig> ParseNotifierConfig(int argc, const char* const* argv);

}  // namespace muster::cli
