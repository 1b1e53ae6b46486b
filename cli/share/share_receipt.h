#pragma once

// `muster share --explain USER`: a receipt for a user's usage, run by run, and what it costs.
//
// Each line is what is left of one run by now; lines and the remainder add up to the usage that is
// shown, to the last digit (core/share/decay.h). Pure.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/page/style.h"
#include "scheduler/model/view/shares.h"

namespace muster::cli {

// The receipts of the user, one for each account, for people. NotFound when no user of that name
// has a share or has used anything.
absl::StatusOr<std::string> PrintReceipts(const Shares& shares, const std::string& user,
                                          const Style& style);

// {"user","receipts":[{"account","total","earlier","rank","rank_without","ranks","fairshare",
// "runs":[{"job","rate","from","until","part"}]}]}; amounts in billing-seconds, as decimal text.
absl::StatusOr<std::string> ReceiptsDocument(const Shares& shares, const std::string& user);

}  // namespace muster::cli
