#include "cli/live/output_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {

void OutputReader::Tell(const std::string& line) {
  if (line != std::exchange(told_, line)) {
    ways_.tell(line);
  }
}

bool OutputReader::Take(const OutputPiece& piece) {
  if (piece.anew) {
    ways_.tell(absl::StrCat(piece.path, ": was cut or replaced; from its beginning"));
  }
  next_.offset = piece.offset + piece.data.size();
  next_.file = piece.file;
  next_.tail = 0;
  return ways_.take(piece);
}

absl::Status OutputReader::ReadToEnd() {
  std::uint64_t end = 0;
  for (bool first = true; first || next_.offset < end; first = false) {
    ASSIGN_OR_RETURN(const OutputPiece piece, ways_.ask(next_));
    if (!piece.waits.empty()) {
      return absl::FailedPreconditionError(piece.waits);
    }
    end = first ? piece.size : std::min(end, piece.size);
    if ((piece.anew && !first) || !Take(piece) || piece.data.empty()) {
      break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputPiece> OutputReader::AskPatiently() {
  std::chrono::milliseconds away{0};
  while (true) {
    absl::StatusOr<OutputPiece> piece = ways_.ask(next_);
    if (!absl::IsUnavailable(piece.status()) || away >= kAwayMost) {
      return piece;
    }
    Tell(std::string(piece.status().message()));
    ways_.sleep(kPauseMost);
    away += kPauseMost;
  }
}

absl::Status OutputReader::Follow() {
  std::chrono::milliseconds pause = kPauseLeast;
  while (true) {
    ASSIGN_OR_RETURN(const OutputPiece piece, AskPatiently());
    if (!piece.waits.empty()) {
      Tell(piece.waits);
    } else {
      told_.clear();
      if (!Take(piece)) {
        return absl::OkStatus();
      }
      if (next_.offset < piece.size) {
        pause = kPauseLeast;
        continue;
      }
      if (piece.ended) {
        return absl::OkStatus();
      }
    }
    pause = piece.data.empty() ? std::min(pause * 3 / 2, kPauseMost) : kPauseLeast;
    ways_.sleep(pause);
  }
}

}  // namespace muster::cli
