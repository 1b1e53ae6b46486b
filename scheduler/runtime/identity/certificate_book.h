#pragma once

// The certificates that callers have shown, and which of them end soon.
//
// Thread promise: any thread may call any of it at any time. Invariants: (1) of each subject there
// is the certificate that was issued last, so that its successor ends what is said of one; (2)
// there are at most kMost, those that end first; (3) one that ended more than kEndedKept ago is
// forgotten: nobody uses it.

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

class CertificateBook {
 public:
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::chrono::hours kEndedKept{24 * 7};

  // Whether that one was noted; to be asked before a certificate is read for Note.
  [[nodiscard]] bool Knows(const std::string& serial) const;
  void Note(const CertificateFacts& facts);
  // Those of which ExpiryWarning says something.
  [[nodiscard]] std::vector<CertificateFacts> Ending(Time now);

 private:
  mutable Mutex mutex_;
  std::map<std::pair<CertificateRole, std::string>, CertificateFacts> newest_
      ABSL_GUARDED_BY(mutex_);
  std::set<std::string> serials_
      ABSL_GUARDED_BY(mutex_);  // that were noted; now and then forgotten
};

}  // namespace muster
