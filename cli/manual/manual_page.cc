#include "cli/manual/manual_page.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/frame/command_line.h"
#include "cli/manual/mdoc.h"

namespace muster::cli {
namespace {

constexpr const char* kDate = "November 23, 2026";
constexpr const char* kPurpose = "Run jobs on clusters of CPU and GPU nodes";
constexpr const char* kExitCodes =
    "0 when done, 1 when refused (no controller, no such job or node), 2 on bad usage.";

std::string LowerFirst(std::string text) {
  text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  return text;
}

std::string Head(const std::string& name, const std::string& purpose) {
  return absl::StrCat(".\\\" Made from the verb's data and cli/man: change those.\n.Dd ", kDate,
                      "\n.Dt ", absl::AsciiStrToUpper(name), " 1\n.Os\n.Sh NAME\n.Nm ", name,
                      "\n.Nd ", LowerFirst(purpose), "\n.Sh SYNOPSIS\n");
}

// ".It Fl n Ar N , Fl -ntasks Ar N" and what there is to say.
std::string OptionEntry(const Option& option, const PageSource& source) {
  const std::string value = option.metavar.empty() ? "" : MdocSynopsis(option.metavar);
  const std::string behind = absl::StrCat(value.empty() ? "" : " ", value);
  std::string entry = ".It ";
  if (option.letter != '\0') {
    absl::StrAppend(&entry, "Fl ", std::string(1, option.letter), behind, " , ");
  }
  absl::StrAppend(&entry, "Fl -", option.name, behind, "\n");
  const auto found = source.options.find(option.name);
  if (found == source.options.end() || found->second.after_help) {
    entry += MdocSentence(option.text);
  }
  return found == source.options.end() ? entry : absl::StrCat(entry, MdocText(found->second.lines));
}

std::string OptionList(const std::vector<Option>& options, const PageSource& source) {
  std::string list;
  for (const Option& option : options) {
    list += option.text.empty() ? "" : OptionEntry(option, source);
  }
  return list.empty() ? "" : absl::StrCat(".Bl -tag -width Ds\n", list, ".El\n");
}

// The options of a verb, below the sentence that says where the others are.
std::string VerbOptions(const Verb& verb, const PageSource& source) {
  const std::string list = OptionList(verb.options, source);
  return list.empty() ? ""
                      : absl::StrCat(
                            ".Pp\nThe options are as follows, besides those of every verb, which\n"
                            ".Xr muster 1\ndescribes.\n",
                            list);
}

std::string Description(const Verb& verb, const PageSource& source) {
  const PageSection* section = FindSection(source, "DESCRIPTION");
  if (section != nullptr) {
    return MdocText(section->lines);
  }
  std::string said = verb.remarks.empty() ? verb.purpose : verb.remarks;
  std::replace(said.begin(), said.end(), '\n', ' ');
  return MdocSentence(said.substr(0, said.find_last_not_of(' ') + 1));
}

// The section's text, or `otherwise`, a line.
std::string SectionOr(const PageSource& source, const std::string& title,
                      const std::string& otherwise) {
  const PageSection* section = FindSection(source, title);
  return MdocText(section == nullptr ? std::vector<std::string>{otherwise} : section->lines);
}

// What only the source has, in its order: parts and sections.
std::string OtherSections(const PageSource& source) {
  static const std::set<std::string> kPlaced = {"DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES",
                                                "SEE ALSO"};
  std::string text;
  for (const PageSection& section : source.sections) {
    if (kPlaced.count(section.title) == 0) {
      absl::StrAppend(&text, section.part ? ".Ss " : ".Sh ", section.title, "\n",
                      MdocText(section.lines));
    }
  }
  return text;
}

std::string Examples(const std::vector<std::string>& examples, const PageSource& source) {
  std::string text;
  for (const std::string& example : examples) {
    std::string line;
    for (const char c : example) {
      line += c == '\\' ? std::string("\\e") : c == '"' ? "\\(dq" : std::string(1, c);
    }
    // A word "--" would be read as a dash between words.
    absl::StrAppend(&text, ".Dl ", absl::StrReplaceAll(line, {{" -- ", " \\-\\- "}}), "\n");
  }
  const std::string more = SectionOr(source, "EXAMPLES", "");
  return absl::StrCat(text, text.empty() || more.empty() ? "" : ".Pp\n", more);
}

// The pages that `text` names, as "SECTION NAME" so that they sort as they are listed.
std::set<std::string> PagesIn(const std::string& text) {
  std::set<std::string> pages;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    for (std::size_t i = 0; line.starts_with('.') && i + 2 < words.size(); ++i) {
      if (words[i] == "Xr" || words[i] == ".Xr") {
        pages.insert(absl::StrCat(words[i + 2], " ", words[i + 1]));
      }
    }
  }
  return pages;
}

// The list at the end: the pages of `text` and those that the source lists, but for the page.
std::string SeeAlso(const std::string& text, const PageSource& source, const std::string& self) {
  std::set<std::string> pages = PagesIn(text);
  pages.merge(PagesIn(SectionOr(source, "SEE ALSO", "")));
  pages.erase(absl::StrCat("1 ", self));
  std::vector<std::string> lines;
  for (const std::string& page : pages) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(page, ' ');
    lines.push_back(absl::StrCat(".Xr ", parts.second, " ", parts.first));
  }
  return absl::StrCat(".Sh SEE ALSO\n", absl::StrJoin(lines, " ,\n"), "\n");
}

}  // namespace

std::string ManualPage(const Verb& verb, const PageSource& source) {
  const std::string name = absl::StrCat("muster ", verb.name);
  const std::string title = absl::StrCat("muster-", verb.name);
  std::string page = Head(title, verb.purpose);
  for (const std::string& form : FormsOf(verb)) {
    absl::StrAppend(&page, ".Nm ", name, "\n.", MdocSynopsis(form), "\n");
  }
  absl::StrAppend(&page, ".Sh DESCRIPTION\n", Description(verb, source), VerbOptions(verb, source),
                  OtherSections(source), ".Sh EXIT STATUS\n",
                  SectionOr(source, "EXIT STATUS", kExitCodes), ".Sh EXAMPLES\n",
                  Examples(verb.examples, source));
  const std::string see = SeeAlso(absl::StrCat(page, ".Xr muster 1\n"), source, title);
  return page + see;
}

std::string OverviewPage(const std::vector<Verb>& verbs, const PageSource& source) {
  std::string page =
      absl::StrCat(Head("muster", kPurpose), ".Nm\n.Ar VERB\n.Op Ar options\n.Op Ar arguments\n",
                   ".Sh DESCRIPTION\n", SectionOr(source, "DESCRIPTION", ""),
                   ".Pp\nThe verbs, each with a page of its own, are:\n"
                   ".Bl -tag -width muster-completionX\n");
  for (const Verb& verb : verbs) {
    if (!verb.purpose.empty()) {
      absl::StrAppend(&page, ".It Xr muster-", verb.name, " 1\n", MdocSentence(verb.purpose));
    }
  }
  std::vector<Option> options = AllOptions(Verb());
  options.insert(options.begin(), Option{.name = "help",
                                         .letter = 'h',
                                         .metavar = "",
                                         .text = "Print what the verb does and takes"});
  absl::StrAppend(&page, ".El\n.Pp\nEvery verb takes these options:\n", OptionList(options, source),
                  OtherSections(source), ".Sh EXIT STATUS\n",
                  SectionOr(source, "EXIT STATUS", kExitCodes), ".Sh EXAMPLES\n",
                  Examples({}, source));
  const std::string see = SeeAlso("", source, "muster");
  return page + see;
}

}  // namespace muster::cli
