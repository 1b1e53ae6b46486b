#pragma once

// What the scheduler tells a running program about checkpoints, through a file that both map.
//
// One page: the scheduler's side publishes, the program reads without a system call. A sequence
// number guards it (a seqlock: H.-J. Boehm, Can seqlocks get along with programming language memory
// models?, MSPC 2012): odd while it changes; a reader of an odd or a changed number reads again.
// Thread promise: one publisher, any number of readers, in any processes. Invariants: (1) hints
// that come back are those of one Publish, never of two; (2) a publisher that was killed in the
// middle stops no reader: it goes on with what it knew.

#include <atomic>
#include <cstdint>
#include <string>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

enum class Notice : std::uint32_t { kNone = 0, kPreemption = 1, kDrain = 2, kResize = 3 };

// Few jobs write to a shared file system at once: those that have a slot.
enum class WriteSlot : std::uint32_t { kFree = 0, kYours = 1, kWait = 2 };

struct Hints {
  std::uint64_t interval_ms = 0;    // of work between checkpoints; 0: no advice
  std::uint64_t deadline_ms = 0;    // of the Unix epoch: the job is ended then; 0: never
  Notice notice = Notice::kNone;    // a checkpoint is wanted at once
  std::uint32_t notice_number = 0;  // another one for each notice
  WriteSlot write_slot = WriteSlot::kFree;
  // Of those committed on the node each whose number this divides is copied to the shared
  // directory; 0: each.
  std::uint32_t copy_every = 0;
  friend bool operator==(const Hints&, const Hints&) = default;
};

struct HintPage;

class HintFile {
 public:
  // The scheduler's side: makes the file, private to the user, or takes it over.
  static Result<HintFile> Create(const std::string& path);
  // The program's side. kForeign when it is no hint file.
  static Result<HintFile> Open(const std::string& path);

  HintFile() = default;
  HintFile(HintFile&& other) noexcept;
  HintFile& operator=(HintFile&& other) noexcept;
  HintFile(const HintFile&) = delete;
  HintFile& operator=(const HintFile&) = delete;
  ~HintFile();

  bool mapped() const { return page_ != nullptr; }
  // REQUIRES: Create made it.
  void Publish(const Hints& hints);
  // The hints published last; while they change, those read before.
  const Hints& Read();

 private:
  explicit HintFile(HintPage* page) : page_(page) {}
  static Result<HintFile> Map(const std::string& path, int flags, bool create);

  HintPage* page_ = nullptr;
  Hints known_;
};

}  // namespace muster::checkpoint
