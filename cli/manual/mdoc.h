#pragma once

// Text with light marks into mdoc(7), the language of manual pages.
//
// In running text `literal`, *ARGUMENT*, **keyword**, <path>, $VARIABLE, --option and page(1) are
// marked. A blank line parts paragraphs, ": TERM" begins an item of a list, four blanks begin a
// literal line, and a line that begins with a dot is mdoc already. Invariants: no other text
// becomes a macro or an escape; each sentence begins a line.

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

// The lines of a source as mdoc.
std::string MdocText(const std::vector<std::string>& lines);

// A line of help as mdoc, in which only options, variables and pages are marked.
std::string MdocSentence(std::string_view help);

// What stands behind a verb or an option, as arguments of a macro: "MIN[-MAX]" becomes
// "Ar MIN Oo Ns - Ns Ar MAX Oc". Capitals are to be replaced, other words are typed as they are.
std::string MdocSynopsis(std::string_view words);

}  // namespace muster::cli
