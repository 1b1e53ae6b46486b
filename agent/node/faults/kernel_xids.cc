#include "agent/node/faults/kernel_xids.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace muster::agent {
namespace {

constexpr std::size_t kRecordMost = 8192;  // the kernel's own limit of one read
constexpr int kReadsAtOnce = 4096;
constexpr std::uint64_t kFacilityBits = 3;  // below them is a line's level; the kernel's own is 0

// "PCI:0000:3b:00", of old drivers without the word; nothing: it is none.
std::string PlaceIn(std::string_view text) {
  if (absl::StartsWith(absl::string_view(text.data(), text.size()), "PCI:")) {
    text.remove_prefix(4);
  }
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ':');
  std::array<std::uint32_t, 3> numbers{};
  if (parts.size() != numbers.size()) {
    return "";
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string digits = parts[i].substr(0, parts[i].find('.'));  // without the function
    if (!absl::SimpleHexAtoi(digits, &numbers.at(i))) {
      return "";
    }
  }
  return absl::StrFormat("%04x:%02x:%02x", numbers[0], numbers[1], numbers[2]);
}

}  // namespace

std::optional<KernelXid> ReadKernelXid(std::string_view record) {
  constexpr std::string_view kBegin = "NVRM: Xid (";
  constexpr std::string_view kMiddle = "): ";
  const std::size_t text = record.find(';');
  std::uint64_t priority = 0;
  if (text == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(record.substr(0, record.find(','))), &priority) ||
      priority >> kFacilityBits != 0 || record.substr(text + 1, kBegin.size()) != kBegin) {
    return std::nullopt;
  }
  const std::string_view rest = record.substr(text + 1 + kBegin.size());
  const std::size_t end = rest.find(kMiddle);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  KernelXid xid{PlaceIn(rest.substr(0, end)), 0};
  const std::string_view number = rest.substr(end + kMiddle.size());
  return !xid.pci.empty() &&
                 absl::SimpleAtoi(std::string(number.substr(0, number.find(','))), &xid.number)
             ? std::optional(std::move(xid))
             : std::nullopt;
}

absl::StatusOr<KernelXids> KernelXids::Open(const std::string& file) {
  UniqueFd fd(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  // A file of the test's, too, is read from its end on.
  if (!fd.valid() || lseek(fd.get(), 0, SEEK_END) < 0) {
    return absl::ErrnoToStatus(errno, file);
  }
  return KernelXids(std::move(fd));
}

const KernelXids::Counts& KernelXids::Read() {
  std::array<char, kRecordMost> buffer{};
  for (int i = 0; i < kReadsAtOnce; ++i) {
    const ssize_t count = read(fd_.get(), buffer.data(), buffer.size());
    if (count > 0) {
      Take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    } else if (count == 0 || (errno != EPIPE && errno != EINTR)) {
      break;  // EPIPE: records were overwritten, and the next read has the oldest that is left
    }
  }
  return counts_;
}

void KernelXids::Take(std::string_view text) {
  part_.append(text);
  std::size_t begin = 0;
  for (std::size_t end = part_.find('\n'); end != std::string::npos;
       end = part_.find('\n', begin)) {
    if (const std::optional<KernelXid> xid =
            ReadKernelXid(std::string_view(part_).substr(begin, end - begin))) {
      ++counts_[xid->pci][xid->number];
    }
    begin = end + 1;
  }
  part_.erase(0, begin);
  if (part_.size() > kRecordMost) {
    part_.clear();
  }
}

}  // namespace muster::agent
