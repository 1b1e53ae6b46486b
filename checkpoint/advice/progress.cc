#include "checkpoint/advice/progress.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/shared_page.h"

namespace muster::checkpoint {

// The file, as it lies there. All fields are atomics that need no lock, so that they work between
// processes; the layout is this machine's, for no other ever reads it.
struct ProgressSlotFields {
  std::atomic<std::uint64_t> owner;   // 0: never taken; else the pid, and kClosed
  std::atomic<std::uint64_t> serial;  // 0: its owner is still filling it in
  std::atomic<std::uint64_t> start_ticks;
  std::atomic<std::uint64_t> opened_ms;
  std::atomic<std::uint64_t> restored_ms;
  std::atomic<std::uint64_t> commits;  // behind what it says of the newest
  std::atomic<std::uint64_t> begun_ms;
  std::atomic<std::uint64_t> ended_ms;
  std::atomic<std::uint64_t> cost_us;
  std::atomic<std::uint64_t> stall_us;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> notice;
  std::atomic<std::uint64_t> beats;
  std::atomic<std::uint64_t> failed;
  std::array<std::uint64_t, 2> reserved;
};

struct ProgressPage {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> serial;  // of the session that came last
  std::atomic<std::uint64_t> crowded;
  std::atomic<std::uint64_t> copies;  // behind what it says of the newest
  std::atomic<std::uint64_t> copy_us;
  // A reader may find it half written, and reads it again at its next look.
  std::array<std::atomic<std::uint64_t>, kRefusalBytesMax / sizeof(std::uint64_t)> refused;
  std::array<ProgressSlotFields, kProgressSlots> slots;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));

namespace {

constexpr std::uint64_t kProgressMagic = 0x3147505250534d00;  // "\0MSPRPG1", little-endian
constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
constexpr std::uint64_t kPidMask = 0xffffffff;
constexpr std::size_t kProgressPageBytes = sizeof(ProgressPage);
constexpr auto kRelaxed = std::memory_order_relaxed;

std::uint64_t UnixMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

// Field 22 of /proc/self/stat; 0 when it cannot be read.
std::uint64_t OwnStartTicks() {
  constexpr int kFieldsBehindName = 20;  // the name is field 2, and may hold anything
  const OpenFile file(Disk::Real(), open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t size = file.ok() ? read(file.get(), text.data(), text.size() - 1) : 0;
  const char* at = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
  for (int i = 0; i < kFieldsBehindName && at != nullptr; ++i) {
    at = std::strchr(at + 1, ' ');
  }
  return at != nullptr ? std::strtoull(at, nullptr, 10) : 0;
}

bool IsGone(std::uint64_t owner) {
  const auto pid = static_cast<pid_t>(owner & kPidMask);
  return pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH);
}

// Whether a slot of that owner may be taken, the more willingly the lower the round.
bool IsFree(std::uint64_t owner, int round) {
  switch (round) {
    case 0:
      return owner == 0;
    case 1:
      return (owner & kClosed) != 0;
    default:
      return (owner & kClosed) == 0 && owner != 0 && IsGone(owner);
  }
}

ProgressSlotFields* TakeOne(ProgressPage* page, std::uint32_t pid) {
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    for (ProgressSlotFields& slot : page->slots) {
      std::uint64_t owner = slot.owner.load();
      if (IsFree(owner, round) && slot.owner.compare_exchange_strong(owner, pid)) {
        return &slot;
      }
    }
  }
  page->crowded.store(1);
  return nullptr;
}

void FillIn(ProgressPage* page, ProgressSlotFields* slot) {
  slot->serial.store(0);
  for (std::atomic<std::uint64_t>* field :
       {&slot->restored_ms, &slot->commits, &slot->begun_ms, &slot->ended_ms, &slot->cost_us,
        &slot->stall_us, &slot->bytes, &slot->notice, &slot->beats, &slot->failed}) {
    field->store(0);
  }
  slot->start_ticks.store(OwnStartTicks());
  slot->opened_ms.store(UnixMilliseconds());
  slot->serial.store(page->serial.fetch_add(1) + 1);
}

void StoreRefusal(ProgressPage* page, const std::string& why) {
  for (std::size_t i = 0; i < page->refused.size(); ++i) {
    const std::size_t at = i * sizeof(std::uint64_t);
    std::uint64_t word = 0;
    if (at < why.size()) {
      std::memcpy(&word, why.data() + at, std::min(why.size() - at, sizeof word));
    }
    page->refused[i].store(word);
  }
}

// Up to the first byte that is none of a line.
std::string RefusalAt(const unsigned char* page) {
  std::string text(kRefusalBytesMax, '\0');
  std::memcpy(text.data(), page + offsetof(ProgressPage, refused), text.size());
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return {text.begin(), end};
}

Result<ProgressPage*> MapPage(const std::string& path) {
  const OpenFile file(Disk::Real(), open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  const Result<void*> mapped =
      MapSharedPage(file, path, kProgressPageBytes, PROT_READ | PROT_WRITE, "progress");
  if (!mapped.ok()) {
    return {nullptr, mapped.error};
  }
  auto* page = static_cast<ProgressPage*>(mapped.value);
  if (page->magic.load() != kProgressMagic) {
    munmap(page, kProgressPageBytes);
    return {nullptr, MakeError(Fault::kForeign, path + ": is no progress file")};
  }
  return {page, {}};
}

// The field of a copy of a slot's bytes.
std::uint64_t FieldAt(const unsigned char* slot, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, slot + offset, sizeof value);
  return value;
}

SlotReport ReportOf(const unsigned char* slot, std::uint32_t index) {
  const std::uint64_t owner = FieldAt(slot, offsetof(ProgressSlotFields, owner));
  SlotReport report;
  report.index = index;
  report.pid = static_cast<std::uint32_t>(owner & kPidMask);
  report.closed = (owner & kClosed) != 0;
  report.serial = FieldAt(slot, offsetof(ProgressSlotFields, serial));
  report.start_ticks = FieldAt(slot, offsetof(ProgressSlotFields, start_ticks));
  report.opened_ms = FieldAt(slot, offsetof(ProgressSlotFields, opened_ms));
  report.restored_ms = FieldAt(slot, offsetof(ProgressSlotFields, restored_ms));
  report.commits = FieldAt(slot, offsetof(ProgressSlotFields, commits));
  report.begun_ms = FieldAt(slot, offsetof(ProgressSlotFields, begun_ms));
  report.ended_ms = FieldAt(slot, offsetof(ProgressSlotFields, ended_ms));
  report.cost_us = FieldAt(slot, offsetof(ProgressSlotFields, cost_us));
  report.stall_us = FieldAt(slot, offsetof(ProgressSlotFields, stall_us));
  report.bytes = FieldAt(slot, offsetof(ProgressSlotFields, bytes));
  report.notice = static_cast<std::uint32_t>(FieldAt(slot, offsetof(ProgressSlotFields, notice)));
  report.beats = FieldAt(slot, offsetof(ProgressSlotFields, beats));
  report.failed = FieldAt(slot, offsetof(ProgressSlotFields, failed));
  return report;
}

}  // namespace

Result<ProgressReport> ParseProgress(const void* bytes, std::size_t size) {
  const auto* page = static_cast<const unsigned char*>(bytes);
  if (size < kProgressPageBytes || FieldAt(page, offsetof(ProgressPage, magic)) != kProgressMagic) {
    return {{}, MakeError(Fault::kForeign, "is no progress page")};
  }
  ProgressReport report;
  report.crowded = FieldAt(page, offsetof(ProgressPage, crowded)) != 0;
  report.copies = FieldAt(page, offsetof(ProgressPage, copies));
  report.copy_us = FieldAt(page, offsetof(ProgressPage, copy_us));
  report.refused = RefusalAt(page);
  for (std::uint32_t i = 0; i < kProgressSlots; ++i) {
    const SlotReport slot =
        ReportOf(page + offsetof(ProgressPage, slots) + i * sizeof(ProgressSlotFields), i);
    if (slot.pid != 0 && slot.serial != 0) {
      report.slots.push_back(slot);
    }
  }
  return {std::move(report), {}};
}

Result<int> CreateProgress(const std::string& path) {
  OpenFile file(
      Disk::Real(),
      open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  const std::uint64_t magic = kProgressMagic;
  if (!file.ok() || ftruncate(file.get(), static_cast<off_t>(kProgressPageBytes)) != 0 ||
      pwrite(file.get(), &magic, sizeof magic, offsetof(ProgressPage, magic)) != sizeof magic) {
    return {-1, SystemError(path, errno)};
  }
  return {file.Release(), {}};
}

Result<ProgressReport> ReadProgress(int fd) {
  std::vector<unsigned char> bytes(kProgressPageBytes);
  const ssize_t size = pread(fd, bytes.data(), bytes.size(), 0);  // of a file it reads all there is
  return size < 0 ? Result<ProgressReport>{{}, SystemError("progress", errno)}
                  : ParseProgress(bytes.data(), static_cast<std::size_t>(size));
}

void TellCopied(const std::string& path, std::uint64_t copy_us) {
  const Result<ProgressPage*> page = MapPage(path);
  if (page.ok()) {
    page.value->copy_us.store(copy_us);
    page.value->copies.fetch_add(1);
    StoreRefusal(page.value, "");
    munmap(page.value, kProgressPageBytes);
  }
}

void TellRefused(const std::string& path, const std::string& why) {
  const Result<ProgressPage*> page = MapPage(path);
  if (page.ok()) {
    StoreRefusal(page.value, why);
    munmap(page.value, kProgressPageBytes);
  }
}

Result<ProgressSlot> ProgressSlot::Take(const std::string& path) {
  const Result<ProgressPage*> page = MapPage(path);
  if (!page.ok()) {
    return {{}, page.error};
  }
  ProgressSlot slot;
  slot.page_ = page.value;
  slot.pid_ = static_cast<std::uint32_t>(getpid());
  slot.fields_ = TakeOne(page.value, slot.pid_);
  if (slot.fields_ == nullptr) {
    return {{}, MakeError(Fault::kBusy, path + ": all its slots are taken")};
  }
  FillIn(page.value, slot.fields_);
  return {std::move(slot), {}};
}

ProgressSlot::ProgressSlot(ProgressSlot&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      fields_(std::exchange(other.fields_, nullptr)),
      pid_(other.pid_) {}

ProgressSlot& ProgressSlot::operator=(ProgressSlot&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(fields_, other.fields_);
  std::swap(pid_, other.pid_);
  return *this;
}

ProgressSlot::~ProgressSlot() {
  if (fields_ != nullptr && pid_ == static_cast<std::uint32_t>(getpid())) {
    fields_->owner.store(pid_ | kClosed);
  }
  if (page_ != nullptr) {
    munmap(page_, kProgressPageBytes);
  }
}

void ProgressSlot::Beat() {
  if (fields_ != nullptr) {
    fields_->beats.store(fields_->beats.load(kRelaxed) + 1, kRelaxed);
  }
}

void ProgressSlot::Committed(const CommitReport& commit) {
  if (fields_ == nullptr) {
    return;
  }
  fields_->begun_ms.store(commit.begun_ms);
  fields_->ended_ms.store(commit.ended_ms);
  fields_->cost_us.store(commit.cost_us);
  fields_->stall_us.store(fields_->stall_us.load() + commit.cost_us);
  fields_->bytes.store(commit.bytes);
  fields_->failed.store(0);
  fields_->commits.store(fields_->commits.load() + 1);
  fields_->notice.store(commit.notice);  // last: who reads it finds the commit that answered it
  Beat();
}

void ProgressSlot::Failed() {
  if (fields_ != nullptr) {
    fields_->failed.store(fields_->failed.load(kRelaxed) + 1);
    Beat();
  }
}

void ProgressSlot::Refused(const std::string& why) {
  if (fields_ != nullptr && (!why.empty() || page_->refused.front().load(kRelaxed) != 0)) {
    StoreRefusal(page_, why);
  }
}

void ProgressSlot::Restored(std::uint64_t now_ms) {
  if (fields_ != nullptr) {
    fields_->restored_ms.store(now_ms);
    Beat();
  }
}

}  // namespace muster::checkpoint
