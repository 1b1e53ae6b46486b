// What comes through sockets from processes that may be anybody's: the messages of the process that
// serves PMIx, of a step's other supervisors and of sealed streams. Any bytes are taken or refused,
// however they are pieced, alike. Returns 1 when that does not hold. The first byte says which.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/supervisor/exchange/peer_session.h"
#include "agent/supervisor/pmix/pmix_wire.h"
#include "scheduler/runtime/sealed/sealed_stream.h"

namespace muster::fuzz {
namespace {

constexpr std::size_t kPiece = 5;

// What `take` makes of the whole, and of pieces, as text; "" once it has refused.
template <class Take>
bool SameInPieces(std::string_view said, const Take& make) {
  auto whole = make();
  auto pieced = make();
  const bool taken = whole(said);
  bool all = true;
  for (std::size_t at = 0; at < said.size() && all; at += kPiece) {
    all = pieced(said.substr(at, kPiece));
  }
  return taken == all;
}

bool TakePmix(std::string_view said) {
  agent::PmixStepConfig step;
  step.nodes = {"node1", "node2"};
  step.node_of_rank = {0, 1, 0};
  step.local_cpusets = {"", ""};
  return SameInPieces(said, [&step] {
    return [&step, reader = agent::PmixFrameReader()](std::string_view bytes) mutable {
      std::vector<std::string> frames;
      if (!reader.Take(bytes, &frames).ok()) {
        return false;
      }
      return std::all_of(frames.begin(), frames.end(), [&step](const std::string& frame) {
        wire::PmixReply reply;
        return reply.ParseFromString(frame) && agent::CheckPmixReply(reply, step).ok();
      });
    };
  });
}

bool TakePeer(std::string_view said) {
  return SameInPieces(said, [] {
    return [session =
                *agent::PeerSession::Answer({.secret = "secret", .step = "step", .position = 0})](
               std::string_view bytes) mutable {
      std::vector<wire::PeerFrame> frames;
      return session.Take(bytes, &frames).ok() && frames.empty();  // nobody has proved anything
    };
  });
}

bool TakeSealed(std::string_view said) {
  return SameInPieces(said, [] {
    return [answer = std::make_shared<SealedAnswer>(),
            seen = std::set<std::string>()](std::string_view bytes) mutable {
      std::string plain;
      return answer->Take(bytes, {"0123456789abcdef0123456789abcdef"}, &seen, &plain).ok() &&
             plain.empty();
    };
  });
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view said(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      return muster::fuzz::TakePmix(said) ? 0 : 1;
    case 1:
      return muster::fuzz::TakePeer(said) ? 0 : 1;
    default:
      return muster::fuzz::TakeSealed(said) ? 0 : 1;
  }
}
