#pragma once

// What went wrong with a checkpoint, as a value: a kind for programs, a line for people.
//
// Invariant: text is empty exactly when fault is kNone.

#include <string>
#include <utility>

namespace muster::checkpoint {

// The numbers are those of the C interface: none is ever given another meaning.
enum class Fault {
  kNone = 0,
  kUsage = 1,     // a call out of order, a name that is none, an argument that makes no sense
  kSystem = 2,    // the operating system refused; the text holds its word
  kNotFound = 3,  // nothing to restart from
  kCorrupt = 4,   // a generation is incomplete or does not match its checksums
  kForeign = 5,   // it is another job's, another user's, or no plain file of ours
  kRanks = 6,     // it was written by another number of ranks, and is not repartitionable
  kRegions = 7,   // it holds other regions than those that are protected
  kBusy = 8,      // another living program writes there
  // It is committed on the local level; copying it, or one before it, to the shared one failed.
  kNotShared = 9,
  kOverQuota = 10,  // the site's quota leaves no room for it; what was there stands
};

struct Error {
  Fault fault = Fault::kNone;
  std::string text;
  bool failed() const { return fault != Fault::kNone; }
};

// A value, or why there is none.
template <class T>
struct Result {
  T value{};
  Error error;
  bool ok() const { return !error.failed(); }
};

inline Error MakeError(Fault fault, std::string text) {
  return {fault, std::move(text)};
}

// "WHAT: No space left on device", of errno.
Error SystemError(const std::string& what, int error_number);

}  // namespace muster::checkpoint
