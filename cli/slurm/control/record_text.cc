#include "cli/slurm/control/record_text.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/page/text.h"

namespace muster::cli::slurm {

std::string OneWord(const std::string& text) {
  return text.empty() ? "(null)" : absl::StrReplaceAll(Printable(text), {{" ", "_"}});
}

std::string JoinRecord(const std::vector<std::string>& lines, bool one_line) {
  return absl::StrJoin(lines, one_line ? " " : "\n   ") + (one_line ? "\n" : "\n\n");
}

}  // namespace muster::cli::slurm
