#pragma once

// A value in its column, safe to print.
//
// People name jobs as they like, so such a text neither reaches a terminal nor ends its column:
// control characters and bytes that are not UTF-8 become \x1b, and where the text holds the first
// character of the column's suffix, that is escaped, too. Pure. Invariants: what is cut is cut
// between characters; a column of a width has just that width.

#include <string>
#include <string_view>

#include "cli/slurm/format/percent_format.h"

namespace muster::cli::slurm {

// `text` as it may stand before `suffix`: in a JSON string, when the suffix begins with a quote.
std::string Harmless(std::string_view text, std::string_view suffix);

// `text` cut or padded to the slot, and its suffix. REQUIRES: the text is harmless.
std::string InSlot(std::string_view text, const Slot& slot);

}  // namespace muster::cli::slurm
