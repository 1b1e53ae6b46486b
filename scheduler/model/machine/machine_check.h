#pragma once

// The invariants of scheduler/model/machine/machine.h as a program. Every reader ends with it, and
// so does what a controller takes from an agent, whose word it does not trust.

#include "absl/status/status.h"
#include "scheduler/model/machine/machine.h"

namespace muster {

// More of them on one machine is a mistake.
inline constexpr std::size_t kMachineDevicesMax = 4096;
inline constexpr std::size_t kMigProfilesMax = 32;
inline constexpr std::uint32_t kMigSlicesMax = 16;
inline constexpr Bytes kMachineMemoryMax = Bytes(std::uint64_t{1} << 50U);

// Whether the profile has a name, and lies and counts within the bounds above.
bool IsMigProfile(const MigProfile& profile);

// OK, or Internal naming the source and the first thing that is wrong: no cores; cores out of
// order, empty or overlapping; a position that points nowhere; a NUMA node's or cache's threads
// that are not those of its cores; two NUMA nodes or GPUs of one name; less memory in all than on
// the nodes; a link between devices that are not there, or a pair with two; a number or an amount
// beyond what a machine can have.
absl::Status CheckMachine(const Machine& machine);

}  // namespace muster
