#include "cli/notify/notifier_config.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/request/notice_words.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/identity/trusted_path.h"

namespace muster::cli {
namespace {

constexpr const char* kNotifierFooter =
    "Notifies users of what happens to their jobs: mail and webhooks, as --mail-type, --mail-user "
    "and\n"
    "--notify of muster submit ask for, and alerts for an Alertmanager. It reads the controller's\n"
    "events as an operator; run it as the user who runs musterd.\n\n"
    "Examples:\n"
    "  muster-notifier --state /var/lib/muster-notifier --config /etc/muster/notifier.toml\n"
    "  muster-notifier --controller unix:/run/me/controller.sock --state ~/.local/state/notifier\n";

absl::Status ReadNotifierFile(const std::string& path, NotifierConfig& config) {
  RETURN_IF_ERROR(CheckTrustedPath(path));
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  const std::pair<const char*, std::string*> texts[] = {
      {"controller", &config.controller},   {"state", &config.state},
      {"sendmail", &config.sendmail},       {"mail_from", &config.mail_from},
      {"mail_domain", &config.mail_domain}, {"alertmanager", &config.alertmanager}};
  for (const auto& [key, value] : texts) {
    RETURN_IF_ERROR(file.ReadString(key, value));
  }
  RETURN_IF_ERROR(file.ReadBool("webhook_private", &config.webhook_private));
  if (const std::vector<std::string> rules = file.KeysUnder("alert"); !rules.empty()) {
    return file.ErrorAt(absl::StrCat("alert.", rules.front()),
                        "rules of alerts are the controller's: write this table into musterd.toml");
  }
  RETURN_IF_ERROR(ReadWebhookTemplates(file, &config.webhooks));
  if (!CheckMailUser(config.mail_from).ok()) {
    return file.ErrorAt("mail_from", "a user or an address");
  }
  if (!config.alertmanager.empty() && !IsWebhook(config.alertmanager)) {
    return file.ErrorAt("alertmanager", "a URL, such as http://127.0.0.1:9093");
  }
  return file.RefuseUnknownKeys();
}

}  // namespace

absl::StatusOr<NotifierConfig> ParseNotifierConfig(int argc, const char* const* argv) {
  NotifierConfig config;
  NotifierConfig said;
  std::string file;
  CLI::App app("muster-notifier");
  app.footer(kNotifierFooter);
  app.add_option("--controller", said.controller,
                 "unix:PATH or HOST:PORT (default: as muster finds it)");
  app.add_option("--state", said.state, "a directory of its own, where it keeps its place");
  app.add_option("--config", file,
                 "settings, TOML: controller, state, sendmail, mail_from, mail_domain, "
                 "webhook_private, alertmanager, [webhook.NAME]");
  app.add_option("--key-of", said.key_of, "print the key that signs this user's webhooks");
  app.add_option("--ready-fd", config.ready_fd, "write \"ready\" here once reading");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    config.help = true;
    config.help_text = app.help();
    return config;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see muster-notifier --help"));
  }
  if (!file.empty()) {
    RETURN_IF_ERROR(ReadNotifierFile(file, config));
  }
  config.controller = said.controller.empty() ? config.controller : said.controller;
  config.state = said.state.empty() ? config.state : said.state;
  config.key_of = said.key_of;
  if (config.state.empty()) {
    return absl::InvalidArgumentError("--state: say in which directory it keeps its place");
  }
  return config;
}

}  // namespace muster::cli
