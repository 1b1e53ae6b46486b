// TRES lists, periods and moments: what is accepted reads back, and a refusal is one line.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <string>

#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/model/policy/tres.h"
#include "scheduler/model/value/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  muster::TresList list;
  muster::TresList again;
  const absl::Status status = muster::MergeTres(text, &list);
  if (status.ok() ? !muster::MergeTres(muster::TresText(list), &again).ok() || again != list
                  : status.message().find('\n') != std::string::npos) {
    return 1;
  }
  const absl::StatusOr<muster::Duration> period = muster::ParsePeriod(text);
  if (period.ok() && (period->count() < 0 ||
                      muster::ParsePeriod(muster::PeriodText(*period)).value() != *period)) {
    return 1;
  }
  const absl::StatusOr<muster::Time> moment = muster::ParseMoment(text);
  return moment.ok() && muster::ParseMoment(muster::MomentText(*moment)).value() != *moment ? 1 : 0;
}
