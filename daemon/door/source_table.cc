#include "daemon/door/source_table.h"

#include <iterator>

namespace muster::daemon {

bool SourceTable::MayFail(const std::string& source, SteadyTime now) {
  TokenBucket& failures = sources_[source].failures;
  failures.Refill(limits_.failures_per_second, now);
  return failures.spent() + 1 <= limits_.failures_at_once;
}

void SourceTable::Greet(const std::string& source, std::uint64_t id) {
  Source& entry = sources_[source];
  entry.waiting.erase(id);
  entry.greeted.insert(id);
  entry.failures.Spend(1);
}

void SourceTable::Know(const std::string& source, std::uint64_t id) {
  Source& entry = sources_[source];
  if (entry.greeted.erase(id) != 0) {
    entry.failures.GiveBack(1);
  }
}

void SourceTable::Forget(const std::string& source, std::uint64_t id) {
  const auto found = sources_.find(source);
  if (found != sources_.end()) {
    found->second.waiting.erase(id);
    found->second.greeted.erase(id);
  }
}

bool SourceTable::Full(const std::string& source) const {
  const auto found = sources_.find(source);
  return found != sources_.end() &&
         found->second.waiting.size() + found->second.greeted.size() >= limits_.strangers_of_source;
}

std::uint64_t SourceTable::OldestWaiting(const std::string& source) const {
  const auto found = sources_.find(source);
  return found == sources_.end() || found->second.waiting.empty() ? 0
                                                                  : *found->second.waiting.begin();
}

std::uint64_t SourceTable::OldestGreeted(const std::string& source) const {
  const auto found = sources_.find(source);
  return found == sources_.end() || found->second.greeted.empty() ? 0
                                                                  : *found->second.greeted.begin();
}

bool SourceTable::GreetedFull(const std::string& source) const {
  const auto found = sources_.find(source);
  return found != sources_.end() && found->second.greeted.size() >= limits_.greeted_of_source;
}

void SourceTable::Prune(SteadyTime now) {
  for (auto it = sources_.begin(); it != sources_.end();) {
    Source& source = it->second;
    source.failures.Refill(limits_.failures_per_second, now);
    const bool nothing =
        source.waiting.empty() && source.greeted.empty() && source.failures.spent() == 0;
    it = nothing ? sources_.erase(it) : std::next(it);
  }
}

}  // namespace muster::daemon
