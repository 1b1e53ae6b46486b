#include "cli/manual/page_source.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr int kIncludesMax = 8;  // one within another

constexpr std::string_view kAfterHelp = " +";

// Takes `prefix` from the front of `text`; false when it is not there.
bool Consume(std::string_view prefix, std::string_view* text) {
  const bool there = text->starts_with(prefix);
  text->remove_prefix(there ? prefix.size() : 0);
  return there;
}

// "name" of a line that is "--name" or "--name +"; empty for any other.
std::string OptionOfHead(std::string_view line) {
  line.remove_suffix(line.ends_with(kAfterHelp) ? kAfterHelp.size() : 0);
  const bool option =
      Consume("--", &line) && !line.empty() && std::all_of(line.begin(), line.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return absl::ascii_islower(byte) || absl::ascii_isdigit(byte) || c == '-';
      });
  return option ? std::string(line) : "";
}

std::string_view FileOf(std::string_view place) {
  return place.substr(0, place.find(':'));
}

class Parser {
 public:
  explicit Parser(const PageReader& read) : read_(read) {}

  absl::Status Take(const std::string& name, int depth) {
    ASSIGN_OR_RETURN(const std::string text, read_(name));
    std::vector<std::string> lines = absl::StrSplit(text, '\n');
    if (lines.back().empty()) {
      lines.pop_back();
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string place = absl::StrCat(name, ".page:", i + 1);
      RETURN_IF_ERROR(TakeLine(lines[i], place, depth));
    }
    return absl::OkStatus();
  }

  PageSource Finish() {
    for (PageSection& section : source_.sections) {
      DropBlanks(&section.lines);
    }
    for (auto& [name, option] : source_.options) {
      DropBlanks(&option.lines);
    }
    return std::move(source_);
  }

 private:
  absl::Status TakeLine(const std::string& line, const std::string& place, int depth) {
    std::string_view rest = line;
    if (Consume("@include ", &rest)) {
      if (depth == kIncludesMax) {
        return absl::InvalidArgumentError(absl::StrCat(place, ": includes itself"));
      }
      return Take(std::string(rest), depth + 1);
    }
    const bool part = Consume("## ", &rest);
    if (part || Consume("# ", &rest)) {
      source_.sections.push_back({std::string(rest), part, {}});
      into_ = &source_.sections.back().lines;
      in_options_ = !part && rest == "OPTIONS";
      return absl::OkStatus();
    }
    if (const std::string option = in_options_ ? OptionOfHead(line) : ""; !option.empty()) {
      return BeginOption(option, line, place, depth > 0);
    }
    if (into_ == nullptr) {
      return line.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(
                                absl::StrCat(place, ": begin with a title, \"# DESCRIPTION\""));
    }
    into_->push_back(line);
    return absl::OkStatus();
  }

  absl::Status BeginOption(const std::string& name, const std::string& line,
                           const std::string& place, bool included) {
    OptionText& text = source_.options[name];
    const bool own_before = !text.origin.empty() && !text.included;
    if (own_before || (!text.origin.empty() && FileOf(text.origin) == FileOf(place))) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": --", name, " has a text already, at ", text.origin,
                       own_before && included ? ": include before what the page says itself" : ""));
    }
    text = {line.ends_with(kAfterHelp), included, place, {}};
    into_ = &text.lines;
    return absl::OkStatus();
  }

  static void DropBlanks(std::vector<std::string>* lines) {
    while (!lines->empty() && lines->back().empty()) {
      lines->pop_back();
    }
  }

  const PageReader& read_;
  PageSource source_;
  std::vector<std::string>* into_ = nullptr;
  bool in_options_ = false;
};

}  // namespace

absl::StatusOr<PageSource> ReadPageSource(const std::string& name, const PageReader& read) {
  Parser parser(read);
  RETURN_IF_ERROR(parser.Take(name, 0));
  return parser.Finish();
}

const PageSection* FindSection(const PageSource& source, const std::string& title) {
  const auto found =
      std::find_if(source.sections.begin(), source.sections.end(),
                   [&title](const PageSection& section) { return section.title == title; });
  return found == source.sections.end() ? nullptr : &*found;
}

}  // namespace muster::cli
