#pragma once

// Asks, where the site limits what a user's checkpoints take, whether a generation may become
// complete on the shared level.
//
// The answer is that of a program of the site, which may make room first by removing older
// checkpoints of the same user: `PROGRAM checkpoint admit DIR --bytes=N --kept=BYTES,COUNT`. Its
// line is "yes", "alone" (then the older ones of this directory go once the new one was read back)
// or "no WHY". Thread promise: one thread at a time; it waits for the program. Invariant: where
// there is no program, or it gives no such line, the generation may: a checkpoint is worth more
// than the account of it.

#include <cstdint>
#include <string>

#include "checkpoint/advice/retention.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/store/manifest.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

// $MUSTER_CHECKPOINT_ADMIT: the program; "" where nothing is limited.
std::string AdmissionProgram();

// What is kept in a directory beside a new checkpoint.
struct KeptBeside {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

// The line of the program; "": it gave none. For checkpoints that no Store keeps.
std::string AskAdmission(const std::string& program, std::uint64_t bytes, const KeptBeside& kept,
                         const std::string& directory);
inline constexpr const char* kRefusal = "no ";  // with which a line begins that refuses
inline constexpr const char* kAlone = "alone";  // the older ones of the directory go

// What stays in the directory when `manifest`'s generation is complete there: as `retention` has
// it, or less. kOverQuota: it may not, and why.
Result<Retention> Admit(const Store& store, const Manifest& manifest, const Retention& retention,
                        const std::string& program);

}  // namespace muster::checkpoint
