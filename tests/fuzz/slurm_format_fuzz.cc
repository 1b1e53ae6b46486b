// Formats of Slurm's query commands, its moments, and names in columns: a width is bounded, a name
// that is in a column is printable, a column has its width, and no name has the separator in it.
// Returns 1 when an invariant of a parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/page/text.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/field_list.h"
#include "cli/slurm/frame/states.h"
#include "cli/slurm/history/sacct_options.h"

namespace {

using muster::cli::slurm::kColumnWidthMax;

bool IsBounded(const std::string& text) {
  const auto fits = [](const auto& field) { return field.slot.width <= kColumnWidthMax; };
  const muster::cli::slurm::PercentFormat letters = muster::cli::slurm::ParsePercentFormat(text);
  const auto names = muster::cli::slurm::ParseWideFormat(text);
  return std::all_of(letters.fields.begin(), letters.fields.end(), fits) &&
         std::all_of(names.begin(), names.end(), fits);
}

bool StaysInItsColumn(const std::string& text) {
  const std::string safe = muster::cli::slurm::Harmless(text, "|");
  const std::string cell =
      muster::cli::slurm::InSlot(safe, {.width = 7, .right = true, .suffix = "|"});
  return safe.find('|') == std::string::npos && muster::Printable(safe) == safe &&
         muster::cli::DisplayWidth(cell) == 8;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const muster::cli::slurm::SizedField& field : muster::cli::slurm::ParseSizedFormat(text)) {
    if (field.name.empty()) {
      return 1;
    }
  }
  const absl::StatusOr<std::vector<std::string>> states = muster::cli::slurm::ReadStates(text);
  const muster::cli::slurm::Asker asker{.uid = 0,
                                        .now = muster::Time(muster::Duration(1'773'480'413'000)),
                                        .zone = absl::UTCTimeZone()};
  const absl::StatusOr<muster::Time> moment = muster::cli::slurm::ReadMoment(text, asker);
  const bool named = states.ok() || absl::IsInvalidArgument(states.status());
  const bool read = moment.ok() || absl::IsInvalidArgument(moment.status());
  return named && read && IsBounded(text) && StaysInItsColumn(text) ? 0 : 1;
}
