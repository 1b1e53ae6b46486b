// Tuned kernels, kept beside the cluster's state (client_methods.h).
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kTextBytesMax = 512;
constexpr std::size_t kChoiceBytesMax = 4096;

bool IsText(const std::string& text, std::size_t most) {
  return !text.empty() && text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c != 0x7f; });
}

absl::Status CheckTuning(const Tuning& tuning) {
  const bool good = IsText(tuning.kernel, kTextBytesMax) && IsText(tuning.shape, kTextBytesMax) &&
                    IsText(tuning.type, kTextBytesMax) &&
                    IsText(tuning.architecture, kTextBytesMax) &&
                    IsText(tuning.choice, kChoiceBytesMax);
  return good ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    "a tuning names its kernel, shape, type and architecture in printable words, "
                    "and a choice of at most 4096 bytes");
}

void TakeTuning(const Backend& backend, const Call<PutTuning>& call, PutTuning given) {
  if (const absl::Status good = CheckTuning(given.tuning); !good.ok()) {
    call.Refuse(good);
    return;
  }
  backend.controller.Keep(
      [tuning = std::move(given.tuning)](Batch& batch, Time now) {
        batch.tunings.push_back(tuning);
        batch.tunings.back().time = now;
      },
      [call](const absl::Status& kept) { call.Finish(kept); });
}

void AnswerListTunings(const Backend& backend, const Call<ListTunings>& call,
                       const ListTunings& asked) {
  call.Aside(backend.reader, [backend, call, asked] {
    const absl::StatusOr<std::vector<Tuning>> tunings = backend.store.ReadTunings(asked.kernel);
    call.Finish(tunings.status(), tunings.ok() ? *tunings : std::vector<Tuning>());
  });
}

}  // namespace

void ServeTunings(Methods& methods, const Backend& backend) {
  AnswerAtOnce<PutTuning>(methods, backend, TakeTuning);
  AnswerAtOnce<ListTunings>(methods, backend, AnswerListTunings);
}

}  // namespace muster::daemon
