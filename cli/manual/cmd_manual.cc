#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cli/frame/command_line.h"
#include "cli/frame/verbs.h"
#include "cli/manual/manual_page.h"
#include "cli/manual/page_source.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

constexpr mode_t kPageMode = 0644;
constexpr const char* kOverview = "muster";

// The files of one folder, and which of them and of their options some page has used.
struct Sources {
  std::string folder;
  std::set<std::string> files;
  std::set<std::string> used_files;
  std::set<std::string> texts;  // where each text of an option begins
  std::set<std::string> used_texts;
};

absl::StatusOr<Sources> List(const std::string& folder) {
  Sources sources{.folder = folder, .files = {}, .used_files = {}, .texts = {}, .used_texts = {}};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".page") {
      sources.files.insert(entry.path().stem().string());
    }
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  return sources;
}

// The source of the page of `name`: empty when there is none. An option of the page itself that is
// not one of `options` is an error.
absl::StatusOr<PageSource> SourceOf(const std::string& name, const std::vector<Option>& options,
                                    Sources* sources) {
  if (sources->files.count(name) == 0) {
    return PageSource();
  }
  ASSIGN_OR_RETURN(PageSource source, ReadPageSource(name, [sources](const std::string& file) {
                     sources->used_files.insert(file);
                     return ReadFile(absl::StrCat(sources->folder, "/", file, ".page"));
                   }));
  std::set<std::string> shown;
  for (const Option& option : options) {
    if (!option.text.empty()) {
      shown.insert(option.name);
    }
  }
  for (const auto& [option, text] : source.options) {
    sources->texts.insert(text.origin);
    if (shown.count(option) != 0) {
      sources->used_texts.insert(text.origin);
    } else if (!text.included) {
      return absl::InvalidArgumentError(
          absl::StrCat(text.origin, ": muster ", name, " has no option --", option));
    }
  }
  return source;
}

absl::Status WritePage(const std::string& folder, const std::string& name,
                       const std::string& page) {
  return WriteFileAtomically(absl::StrCat(folder, "/", name, ".1"), page, kPageMode);
}

// That every file and every text of an option has its use.
absl::Status CheckUses(const Sources& sources) {
  for (const std::string& file : sources.files) {
    if (sources.used_files.count(file) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ".page: no verb has this name, and no page includes it"));
    }
  }
  for (const std::string& text : sources.texts) {
    if (sources.used_texts.count(text) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(text, ": no page shows this option's text"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Manual(const Invocation& invocation) {
  const std::string& folder = invocation.arguments[1];
  ASSIGN_OR_RETURN(Sources sources, List(invocation.arguments[0]));
  for (const Verb& verb : invocation.verbs) {
    if (!verb.purpose.empty()) {
      ASSIGN_OR_RETURN(const PageSource source, SourceOf(verb.name, verb.options, &sources));
      RETURN_IF_ERROR(
          WritePage(folder, absl::StrCat("muster-", verb.name), ManualPage(verb, source)));
    }
  }
  ASSIGN_OR_RETURN(const PageSource overview, SourceOf(kOverview, AllOptions(Verb()), &sources));
  RETURN_IF_ERROR(WritePage(folder, kOverview, OverviewPage(invocation.verbs, overview)));
  RETURN_IF_ERROR(CheckUses(sources));
  return 0;
}

}  // namespace

Verb ManualVerb() {
  Verb verb;
  verb.name = "manual";
  verb.synopsis = "SOURCES DIRECTORY";
  verb.examples = {"muster manual cli/man pages"};
  verb.arguments_min = 2;
  verb.arguments_max = 2;
  verb.run = Manual;
  return verb;
}

}  // namespace muster::cli
