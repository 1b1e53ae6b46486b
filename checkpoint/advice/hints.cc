#include "checkpoint/advice/hints.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/shared_page.h"

namespace muster::checkpoint {

// All fields are atomics that need no lock, so that they work between processes. What comes later
// goes behind them: there a page of an older publisher holds zeros.
struct HintPage {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint32_t> sequence;
  std::atomic<std::uint32_t> notice;
  std::atomic<std::uint32_t> notice_number;
  std::atomic<std::uint32_t> write_slot;
  std::atomic<std::uint64_t> interval_ms;
  std::atomic<std::uint64_t> deadline_ms;
  std::atomic<std::uint32_t> copy_every;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

namespace {

constexpr std::uint64_t kHintMagic = 0x31544e4948534d00;  // "\0MSHINT1", little-endian
constexpr off_t kHintPageBytes = 4096;
constexpr int kTriesMax = 16;

}  // namespace

Result<HintFile> HintFile::Map(const std::string& path, int flags, bool create) {
  const OpenFile file(Disk::Real(),
                      open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (file.ok() && create && ftruncate(file.get(), kHintPageBytes) != 0) {
    return {{}, SystemError(path, errno)};
  }
  const int protection = create ? PROT_READ | PROT_WRITE : PROT_READ;
  const Result<void*> page = MapSharedPage(file, path, kHintPageBytes, protection, "hint");
  return page.ok() ? Result<HintFile>{HintFile(static_cast<HintPage*>(page.value)), {}}
                   : Result<HintFile>{{}, page.error};
}

Result<HintFile> HintFile::Create(const std::string& path) {
  Result<HintFile> file = Map(path, O_RDWR | O_CREAT, true);
  if (file.ok()) {
    // A publisher that was killed may have left an odd number.
    HintPage* page = file.value.page_;
    const std::uint32_t sequence = page->sequence.load();
    page->sequence.store(sequence + (sequence & 1));
    page->magic.store(kHintMagic);
  }
  return file;
}

Result<HintFile> HintFile::Open(const std::string& path) {
  Result<HintFile> file = Map(path, O_RDONLY, false);
  if (file.ok() && file.value.page_->magic.load() != kHintMagic) {
    return {{}, MakeError(Fault::kForeign, path + ": is no hint file")};
  }
  return file;
}

HintFile::HintFile(HintFile&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), known_(other.known_) {}

HintFile& HintFile::operator=(HintFile&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(known_, other.known_);
  return *this;
}

HintFile::~HintFile() {
  if (page_ != nullptr) {
    munmap(page_, kHintPageBytes);
  }
}

void HintFile::Publish(const Hints& hints) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint32_t sequence = page_->sequence.load(kRelaxed);
  page_->sequence.store(sequence + 1, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page_->interval_ms.store(hints.interval_ms, kRelaxed);
  page_->deadline_ms.store(hints.deadline_ms, kRelaxed);
  page_->notice.store(static_cast<std::uint32_t>(hints.notice), kRelaxed);
  page_->notice_number.store(hints.notice_number, kRelaxed);
  page_->write_slot.store(static_cast<std::uint32_t>(hints.write_slot), kRelaxed);
  page_->copy_every.store(hints.copy_every, kRelaxed);
  page_->sequence.store(sequence + 2, std::memory_order_release);
}

const Hints& HintFile::Read() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  for (int i = 0; page_ != nullptr && i < kTriesMax; ++i) {
    const std::uint32_t before = page_->sequence.load(std::memory_order_acquire);
    Hints hints;
    hints.interval_ms = page_->interval_ms.load(kRelaxed);
    hints.deadline_ms = page_->deadline_ms.load(kRelaxed);
    hints.notice = static_cast<Notice>(page_->notice.load(kRelaxed));
    hints.notice_number = page_->notice_number.load(kRelaxed);
    hints.write_slot = static_cast<WriteSlot>(page_->write_slot.load(kRelaxed));
    hints.copy_every = page_->copy_every.load(kRelaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((before & 1) == 0 && page_->sequence.load(kRelaxed) == before) {
      known_ = hints;
      break;
    }
  }
  return known_;
}

}  // namespace muster::checkpoint
