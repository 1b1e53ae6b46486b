#include "cli/stage/stage_report.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/disk/report_socket.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kSayEvery{1};

}  // namespace

StageReport::StageReport(std::string socket, const Clock& clock)
    : socket_(std::move(socket)),
      clock_(clock),
      begun_(clock.SteadyNow()),
      next_(begun_ + kSayEvery) {}

void StageReport::Tell(std::uint64_t done, std::uint64_t total) {
  done_ = done;
  total_ = std::max(done, total);
  if (clock_.SteadyNow() >= next_) {
    Say();
  }
}

void StageReport::EndPair() {
  before_ += total_;
  done_ = 0;
  total_ = 0;
  Say();
}

void StageReport::Say() {
  const SteadyTime now = clock_.SteadyNow();
  next_ = now + kSayEvery;
  if (socket_.empty()) {
    return;
  }
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  const std::uint64_t done = before_ + done_;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  (void)checkpoint::SendReport(
      socket_, absl::StrCat(kStagedBytes, "=", done, " ", kStagedTotal, "=", before_ + total_, " ",
                            kStagedRate, "=", static_cast<std::uint64_t>(rate)));
}

}  // namespace muster::cli
