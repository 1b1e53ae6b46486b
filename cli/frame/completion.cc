#include "cli/frame/completion.h"

#include "absl/strings/str_cat.h"
#include "cli/frame/command_line.h"

namespace muster::cli {
namespace {

std::string OptionWords(const Verb& verb) {
  std::string words = "--help";
  for (const Option& option : AllOptions(verb)) {
    if (!option.text.empty()) {
      absl::StrAppend(&words, " --", option.name);
    }
  }
  return words;
}

std::string VerbWords(const std::vector<Verb>& verbs) {
  std::string words;
  for (const Verb& verb : verbs) {
    if (!verb.purpose.empty()) {
      absl::StrAppend(&words, words.empty() ? "" : " ", verb.name);
    }
  }
  return words;
}

}  // namespace

std::string BashCompletion(const std::vector<Verb>& verbs) {
  std::string script = absl::StrCat(
      "_muster() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '",
      VerbWords(verbs),
      "' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n");
  for (const Verb& verb : verbs) {
    if (verb.purpose.empty()) {
      continue;
    }
    absl::StrAppend(&script, "    ", verb.name, ") words='",
                    verb.name == "help" ? VerbWords(verbs) : OptionWords(verb), "' ;;\n");
  }
  absl::StrAppend(&script,
                  "  esac\n"
                  "  if [ \"${COMP_WORDS[1]}\" = help ] || [ \"${word#-}\" != \"$word\" ]; then\n"
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                  "  fi\n"
                  "}\n"
                  "complete -o default -F _muster muster\n");
  return script;
}

}  // namespace muster::cli
