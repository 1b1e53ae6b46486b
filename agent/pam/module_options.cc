#include "agent/pam/module_options.h"

#include <string_view>
#include <utility>

namespace muster::agent {
namespace {

// One that has two values: which of them sets the member.
struct Choice {
  std::string_view name;
  std::string_view yes;
  std::string_view no;
  bool ModuleOptions::*member;
};

constexpr Choice kChoices[] = {
    {"action_no_jobs", "deny", "ignore", &ModuleOptions::deny_without_job},
    {"action_unknown", "deny", "newest", &ModuleOptions::deny_with_several},
    {"action_generic_failure", "deny", "ignore", &ModuleOptions::deny_on_failure},
    {"ignore_root", "1", "0", &ModuleOptions::ignore_root},
};

std::string TakeWord(std::string_view word, ModuleOptions* options) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (name == "state") {
    options->state = value;
    return value.starts_with('/') ? "" : "state=" + std::string(value) + ": no absolute path";
  }
  for (const Choice& choice : kChoices) {
    if (name == choice.name) {
      options->*choice.member = value == choice.yes;
      return value == choice.yes || value == choice.no
                 ? ""
                 : std::string(word) + ": say " + std::string(choice.name) + "=" +
                       std::string(choice.yes) + " or " + std::string(choice.no);
    }
  }
  return std::string(word) +
         ": no option of pam_muster; there are state=, action_no_jobs=, action_unknown=, "
         "action_generic_failure= and ignore_root=";
}

}  // namespace

ModuleOptions ParseModuleOptions(const std::vector<std::string>& words) {
  ModuleOptions options;
  for (const std::string& word : words) {
    std::string mistake = TakeWord(word, &options);
    if (options.mistake.empty()) {
      options.mistake = std::move(mistake);
    }
  }
  return options;
}

}  // namespace muster::agent
