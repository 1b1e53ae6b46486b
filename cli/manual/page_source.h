#pragma once

// What a manual page says besides its verb's own data: a file NAME.page of cli/man, read.
//
// "# TITLE" begins a section and "## TITLE" a part of one; "# OPTIONS" is where the options stand,
// and in it "--name" alone on a line begins what is said of an option in place of its line of help,
// "--name +" what is said after that line. "@include NAME" takes in another such file. What mdoc.h
// marks is kept as it is. Thread promise: pure but for the reader that it is given. Invariants: an
// option has one text: the page's own, else that of the file that is included last.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

struct OptionText {
  bool after_help = false;
  bool included = false;
  std::string origin;  // "job_options:12"
  std::vector<std::string> lines;
};

struct PageSection {
  std::string title;
  bool part = false;  // of the section before
  std::vector<std::string> lines;
};

struct PageSource {
  std::vector<PageSection> sections;
  std::map<std::string, OptionText> options;  // by name
};

// Gives the text of NAME.page.
using PageReader = std::function<absl::StatusOr<std::string>(const std::string& name)>;

// Reads the file of `name`; InvalidArgument is one line with file and line number.
absl::StatusOr<PageSource> ReadPageSource(const std::string& name, const PageReader& read);

// The section of that title, or null.
const PageSection* FindSection(const PageSource& source, const std::string& title);

}  // namespace muster::cli
