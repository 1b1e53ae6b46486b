#include "agent/supervisor/image/layout/image_take.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "agent/supervisor/image/layout/share_channel.h"
#include "agent/supervisor/image/layout/shared_layout.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

// Within which the controller has somebody call us, through their node's agent.
constexpr std::chrono::seconds kCallWithin{20};
constexpr std::size_t kTokenBytes = 32;

absl::Status WriteFrames(const ImageTaking& wanted, ShareChannel& channel, ShareFrame frame) {
  const auto patience = std::chrono::ceil<std::chrono::milliseconds>(wanted.patience);
  ASSIGN_OR_RETURN(LayoutDraft draft, LayoutDraft::Make(wanted.layout, wanted.bytes_max));
  while (frame.kind != ShareKind::kEnd) {
    if (frame.kind == ShareKind::kFile) {
      RETURN_IF_ERROR(draft.Begin(frame.text));
    } else if (frame.kind == ShareKind::kData) {
      RETURN_IF_ERROR(draft.Add(frame.text));
    } else {
      return absl::UnavailableError("the other node has stopped");
    }
    ASSIGN_OR_RETURN(frame, channel.Receive(patience));
  }
  RETURN_IF_ERROR(draft.End());
  return CheckLayout(wanted.layout, wanted.digest);
}

}  // namespace

absl::StatusOr<TakenImage> TakeImage(const ImageTaking& wanted, const ImageSharing& sharing) {
  const auto patience = std::chrono::ceil<std::chrono::milliseconds>(wanted.patience);
  ASSIGN_OR_RETURN(const PeerListener listener, ListenForPeers(sharing.one_machine));
  ASSIGN_OR_RETURN(const std::string secret, RandomBytes(kTokenBytes));
  const std::string token = absl::BytesToHexString(secret);
  if (!sharing.announce({wanted.image, wanted.digest, listener.addresses, token})) {
    return absl::UnavailableError("no other node can be asked");
  }
  ASSIGN_OR_RETURN(ShareChannel channel,
                   ShareChannel::AwaitCall(listener.socket, token, kCallWithin));
  for (;;) {
    ASSIGN_OR_RETURN(ShareFrame frame, channel.Receive(patience));
    switch (frame.kind) {
      case ShareKind::kWait:
        continue;
      case ShareKind::kAlone:
        return TakenImage{.taken = false, .kept = false};
      case ShareKind::kFetch:
        return TakenImage{.taken = false, .kept = true};
      default:
        RETURN_IF_ERROR(WriteFrames(wanted, channel, std::move(frame)));
        return TakenImage{.taken = true, .kept = true};
    }
  }
}

}  // namespace muster::agent
