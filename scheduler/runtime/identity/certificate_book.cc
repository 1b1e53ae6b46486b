#include "scheduler/runtime/identity/certificate_book.h"

#include <algorithm>

namespace muster {

bool CertificateBook::Knows(const std::string& serial) const {
  const MutexLock lock(&mutex_);
  return serials_.contains(serial);
}

void CertificateBook::Note(const CertificateFacts& facts) {
  const MutexLock lock(&mutex_);
  if (serials_.size() >= kMost) {
    serials_.clear();
  }
  serials_.insert(facts.serial);
  const std::pair whose(facts.subject.role, facts.subject.name);
  const auto found = newest_.find(whose);
  if (found != newest_.end()) {
    if (facts.begins >= found->second.begins) {
      found->second = facts;
    }
    return;
  }
  if (newest_.size() >= kMost) {
    const auto last = std::max_element(
        newest_.begin(), newest_.end(),
        [](const auto& a, const auto& b) { return a.second.expires < b.second.expires; });
    if (last->second.expires <= facts.expires) {
      return;
    }
    newest_.erase(last);
  }
  newest_.emplace(whose, facts);
}

std::vector<CertificateFacts> CertificateBook::Ending(Time now) {
  std::vector<CertificateFacts> ending;
  const MutexLock lock(&mutex_);
  std::erase_if(newest_,
                [now](const auto& entry) { return now - entry.second.expires > kEndedKept; });
  for (const auto& [whose, facts] : newest_) {
    if (!ExpiryWarning(facts, now).empty()) {
      ending.push_back(facts);
    }
  }
  return ending;
}

}  // namespace muster
