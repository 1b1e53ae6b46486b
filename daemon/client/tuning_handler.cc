#include "daemon/client/tuning_handler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "proto/convert/convert.h"

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

}  // namespace

void TuningHandler::PutTuning(const Call& call, const wire::PutTuningRequest& request,
                              wire::PutTuningReply* /*reply*/) {
  auto* const reactor = call.reactor;
  Tuning tuning;
  absl::Status status = FromWire(request.tuning(), &tuning);
  status.Update(CheckTuning(tuning));
  if (!status.ok()) {
    call.Finish(status);
    return;
  }
  controller_.Keep(std::move(tuning),
                   [reactor](const absl::Status& kept) { reactor->Finish(ToGrpc(kept)); });
}

void TuningHandler::ListTunings(const Call& call, const wire::ListTuningsRequest& request,
                                wire::ListTuningsReply* reply) {
  auto* const reactor = call.reactor;
  ReadAside(reader_, reactor, [this, reactor, reply, kernel = request.kernel()] {
    const absl::StatusOr<std::vector<Tuning>> tunings = store_.ReadTunings(kernel);
    if (tunings.ok()) {
      for (const Tuning& tuning : *tunings) {
        ToWire(tuning, reply->add_tunings());
      }
    }
    reactor->Finish(ToGrpc(tunings.status()));
  });
}

}  // namespace muster::daemon
