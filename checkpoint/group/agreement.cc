#include "checkpoint/group/agreement.h"

#include <algorithm>
#include <array>

namespace muster::checkpoint {
namespace {

constexpr std::size_t kTextMax = 500;

// What went wrong on one rank, as the others are told.
struct Told {
  int fault = 0;
  std::array<char, kTextMax> text{};
};

}  // namespace

Error Agreement::Verdict() const {
  return broken_ ? MakeError(Fault::kSystem, "the ranks lost one another: a rank is gone")
                 : Error();
}

Error Agreement::Broadcast(std::uint32_t root, void* bytes, std::size_t size) {
  broken_ = broken_ || !group_->Broadcast(root, bytes, size);
  return Verdict();
}

Error Agreement::Least(std::uint64_t* number) {
  broken_ = broken_ || !group_->Least(number);
  return Verdict();
}

Error Agreement::Share(std::uint64_t* number) {
  return Broadcast(0, number, sizeof *number);
}

Error Agreement::ShareText(std::uint32_t root, std::string* text) {
  std::uint64_t size = text->size();
  const Error error = Broadcast(root, &size, sizeof size);
  text->resize(error.failed() ? 0 : size);
  return Broadcast(root, text->data(), text->size());
}

Error Agreement::Agree(const Error& own) {
  std::uint64_t first = own.failed() ? rank() : ranks();
  if (Error gone = Least(&first); gone.failed() || first >= ranks()) {
    return gone;
  }
  Told told;
  if (first == rank()) {
    told.fault = static_cast<int>(own.fault);
    std::copy_n(own.text.begin(), std::min(own.text.size(), kTextMax - 1), told.text.begin());
  }
  const Error gone = Broadcast(static_cast<std::uint32_t>(first), &told, sizeof told);
  return gone.failed() ? gone
                       : MakeError(static_cast<Fault>(told.fault),
                                   "rank " + std::to_string(first) + ": " + told.text.data());
}

}  // namespace muster::checkpoint
