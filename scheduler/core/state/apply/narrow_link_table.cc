#include "scheduler/core/state/apply/narrow_link_table.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace muster::core {
namespace {

bool IsBefore(const NarrowLink& a, const NarrowLink& b) {
  return std::tie(a.first, a.second) < std::tie(b.first, b.second);
}

bool IsSame(const NarrowLink& a, const NarrowLink& b) {
  return a.first == b.first && a.second == b.second;
}

}  // namespace

void NarrowLinkTable::Load(const std::vector<NarrowLink>& links) {
  for (const NarrowLink& link : links) {
    Put(link);
  }
}

void NarrowLinkTable::Put(const NarrowLink& link) {
  const auto at = std::lower_bound(all_.begin(), all_.end(), link, IsBefore);
  if (at != all_.end() && IsSame(*at, link)) {
    *at = link;
  } else {
    all_.insert(at, link);
  }
}

void NarrowLinkTable::Erase(const NarrowLink& link) {
  std::erase_if(all_, [&link](const NarrowLink& other) { return IsSame(other, link); });
}

const NarrowLink* NarrowLinkTable::Find(const std::string& a, const std::string& b) const {
  const std::string& first = std::min(a, b);
  const std::string& second = std::max(a, b);
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const NarrowLink& link) {
    return link.first == first && link.second == second;
  });
  return at == all_.end() ? nullptr : &*at;
}

}  // namespace muster::core
