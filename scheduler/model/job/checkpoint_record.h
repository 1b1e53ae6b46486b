#pragma once

// What is known of an attempt's checkpoints, and the advice to its programs.
//
// A supervisor learns from the page that libmuster-checkpoint writes what was committed and what it
// cost; the scheduler advises how often, and gives notice.

#include <cstdint>
#include <string>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// Why a checkpoint is wanted at once.
enum class CheckpointNotice : std::uint8_t {
  kNone = 0,
  kPreemption = 1,  // the attempt is about to be ended
  kDrain = 2,       // a node of it is to leave
  kResize = 3,      // it is to go on with another number of nodes
};

// Whether an attempt may write to the file system that jobs share: it has one of few slots.
enum class WriteSlot : std::uint8_t {
  kFree = 0,   // there are no slots
  kYours = 1,  // it has a slot
  kWait = 2,   // others have them all
};

// The most that a user's complete checkpoints may take where jobs share them.
struct CheckpointQuota {
  Bytes bytes;              // zero: any
  std::uint32_t count = 0;  // zero: any
  [[nodiscard]] bool given() const { return !bytes.zero() || count > 0; }
  static constexpr auto Fields(auto list) {
    return list(Field{"bytes", &CheckpointQuota::bytes}, Field{"count", &CheckpointQuota::count});
  }
  friend bool operator==(const CheckpointQuota&, const CheckpointQuota&) = default;
};

// The advice to the programs of an attempt. Of two the one with the higher number holds.
struct CheckpointAdvice {
  std::uint32_t number = 0;
  Duration mtbf{0};       // between failures of any of its nodes; 0: not known
  Duration loss_mtbf{0};  // between those that leave nothing on the node; 0: not known
  CheckpointNotice notice = CheckpointNotice::kNone;
  WriteSlot slot = WriteSlot::kFree;
  Time slot_since = kNoTime;  // since when it is so
  Duration time_limit{0};     // of the attempt from now on; 0: as it was launched
  // As earlier attempts measured them (CheckpointTotals).
  Duration cost{0};
  Duration flush{0};
  Duration slow{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"number", &CheckpointAdvice::number}, Field{"mtbf", &CheckpointAdvice::mtbf},
                Field{"loss_mtbf", &CheckpointAdvice::loss_mtbf},
                Field{"notice", &CheckpointAdvice::notice}, Field{"turn", &CheckpointAdvice::slot},
                Field{"turn_since", &CheckpointAdvice::slot_since},
                Field{"time_limit", &CheckpointAdvice::time_limit},
                Field{"cost", &CheckpointAdvice::cost}, Field{"flush", &CheckpointAdvice::flush},
                Field{"slow", &CheckpointAdvice::slow});
  }
  friend bool operator==(const CheckpointAdvice&, const CheckpointAdvice&) = default;
};

// An attempt's checkpoints on one node. All zero: its programs have reported nothing.
struct CheckpointRecord {
  std::uint64_t count = 0;   // committed in this attempt
  Time begun = kNoTime;      // of the newest: the work before it is safe
  Time committed = kNoTime;  // of the newest
  Duration cost{0};          // of one, as measured: the mean, newer ones count more
  Duration stall{0};         // in which the programs stood still for them, in all
  Duration restart{0};       // from the attempt's start to work again; 0: it restarted from none
  Duration interval{0};      // of work between them, as advised; 0: no advice
  Bytes bytes;               // of the newest, on this node
  std::uint32_t notice = 0;  // the number of the last notice that was answered by one
  Duration flush{0};         // from its commit on the node to its copy elsewhere; 0: no measure
  Duration slow{0};          // 99 of 100 are safe within this time from their begin; 0: no measure
  std::uint32_t copy_every = 0;  // each whose number this divides is copied elsewhere; 0: no advice
  std::uint32_t failed = 0;      // in a row, the newest among them
  std::string refused = {};      // why the newest may not be where jobs share them; "": it may
  static constexpr auto Fields(auto list) {
    return list(
        Field{"count", &CheckpointRecord::count}, Field{"begun", &CheckpointRecord::begun},
        Field{"committed", &CheckpointRecord::committed}, Field{"cost", &CheckpointRecord::cost},
        Field{"stall", &CheckpointRecord::stall}, Field{"restart", &CheckpointRecord::restart},
        Field{"interval", &CheckpointRecord::interval}, Field{"bytes", &CheckpointRecord::bytes},
        Field{"notice", &CheckpointRecord::notice}, Field{"flush", &CheckpointRecord::flush},
        Field{"slow", &CheckpointRecord::slow}, Field{"copy_every", &CheckpointRecord::copy_every},
        Field{"failed", &CheckpointRecord::failed}, Field{"refused", &CheckpointRecord::refused});
  }
  friend bool operator==(const CheckpointRecord&, const CheckpointRecord&) = default;
};

// What checkpoints and failures cost a job, over attempts. The time that was of use is `held` less
// the other three.
struct CheckpointTotals {
  std::uint64_t count = 0;
  Duration held{0};     // in which attempts had their resources
  Duration stall{0};    // writing checkpoints
  Duration restart{0};  // coming back from them
  Duration lost{0};     // work that had to be done again
  // Of the newest attempt that measured them.
  Duration cost{0};
  Duration flush{0};
  Duration slow{0};
  static constexpr auto Fields(auto list) {
    return list(Field{"count", &CheckpointTotals::count}, Field{"held", &CheckpointTotals::held},
                Field{"stall", &CheckpointTotals::stall},
                Field{"restart", &CheckpointTotals::restart},
                Field{"lost", &CheckpointTotals::lost}, Field{"cost", &CheckpointTotals::cost},
                Field{"flush", &CheckpointTotals::flush}, Field{"slow", &CheckpointTotals::slow});
  }
  friend bool operator==(const CheckpointTotals&, const CheckpointTotals&) = default;
};

}  // namespace muster
