#pragma once

// Status macros and checks: the one error vocabulary of this tree.
//
// An operation that can fail returns absl::Status or absl::StatusOr<T>; "this job cannot be placed"
// is a Reason (model/plan/reason.h), not an error; a broken invariant ends the process in every
// build type.

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define MUSTER_CONCAT_INNER(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_INNER(a, b)

// Returns from the calling function when `expr` (an absl::Status) is not OK.
#define RETURN_IF_ERROR(expr)            \
  do {                                   \
    absl::Status muster_status = (expr); \
    if (!muster_status.ok()) {           \
      return muster_status;              \
    }                                    \
  } while (false)

// Declares `lhs` from the value of `expr` (an absl::StatusOr), or returns its status.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(MUSTER_CONCAT(muster_status_or_, __LINE__), lhs, expr)
// `lhs` is a declaration and `holder` a name: neither can stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSIGN_OR_RETURN_INNER(holder, lhs, expr) \
  auto holder = (expr);                           \
  if (!holder.ok()) {                             \
    return holder.status();                       \
  }                                               \
  lhs = std::move(holder).value()
// NOLINTEND(bugprone-macro-parentheses)

namespace muster::internal {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
  std::abort();
}

}  // namespace muster::internal

// Ends the process when `condition` is false, in every build: a broken invariant must never be
// carried on with.
#define MUSTER_CHECK(condition)                                        \
  do {                                                                 \
    if (!(condition)) {                                                \
      ::muster::internal::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                                  \
  } while (false)
