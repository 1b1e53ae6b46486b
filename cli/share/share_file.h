#pragma once

// Account trees in files: what `muster share --from` reads.
//
// {"accounts":[{"name","parent","shares"}],"users":[{"name","account","shares","usage"}]}, read as
// a stream and strictly: no other keys, no key twice, no nested values. "shares" is a whole number
// or "parent"; "parent" may be left out, null or empty for root; "usage" of an account, which may
// be left out, is that of users who are gone. Usage is decimal and kept to 10^-12. Pure. Invariant:
// a tree that comes back has passed CheckAccountTree.

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/policy/account.h"

namespace muster::cli {

// A million users take 80 MB.
inline constexpr std::size_t kShareFileBytesMax = std::size_t{512} << 20;
// The most usage of one user or account, in billing-seconds.
inline constexpr std::uint64_t kShareFileUsageMax = 1'000'000'000'000'000;

// FailedPrecondition is one line: `where`, the place as a JSON pointer (or line and column, where
// it is no JSON), what is wrong and the mend.
absl::StatusOr<AccountTree> ParseShareFile(const std::string& text, const std::string& where);

}  // namespace muster::cli
