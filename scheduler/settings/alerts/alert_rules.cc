#include "scheduler/settings/alerts/alert_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {

AlertSettings DefaultAlertSettings() {
  AlertSettings settings;
  for (const AlertRule& rule : kAlertRules) {
    settings[rule.name] = {rule.severity, rule.hold};
  }
  return settings;
}

absl::Status ReadAlertSettings(ConfigFile& file, AlertSettings* settings) {
  for (const std::string& name : file.KeysUnder("alert")) {
    const std::string table = absl::StrCat("alert.", name);
    const bool known = std::any_of(kAlertRules.begin(), kAlertRules.end(),
                                   [&name](const AlertRule& rule) { return name == rule.name; });
    if (!known) {
      return file.ErrorAt(table, "no such rule; muster alerts test lists those that there are");
    }
    AlertSetting& setting = (*settings)[name];
    RETURN_IF_ERROR(file.ReadString(table + ".severity", &setting.severity));
    RETURN_IF_ERROR(file.ReadDuration(table + ".for", &setting.hold));
    if (setting.severity.empty()) {
      return file.ErrorAt(table + ".severity", "a word, such as critical; none: the rule is off");
    }
    if (setting.severity == "none") {
      settings->erase(name);
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
