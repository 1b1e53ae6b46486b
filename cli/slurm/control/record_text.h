#pragma once

// The words of a record, joined into lines.
//
// Pure. Invariant: a value that people wrote is one word.

#include <string>
#include <vector>

namespace muster::cli::slurm {

// `text` as one word, its blanks as "_"; "(null)" of none.
std::string OneWord(const std::string& text);

// The lines of a record: below each other with three blanks in front and an empty line after the
// last, or all on one.
std::string JoinRecord(const std::vector<std::string>& lines, bool one_line);

}  // namespace muster::cli::slurm
