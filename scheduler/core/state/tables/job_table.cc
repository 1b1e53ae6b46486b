#include "scheduler/core/state/tables/job_table.h"

#include <algorithm>

#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"

namespace muster::core {
namespace {

// `count` jobs of the user of `like` have gone.
void Forget(const Job& like, std::uint64_t count, std::map<std::string, std::uint64_t>& of_users) {
  const auto found = of_users.find(like.spec->user.name);
  MUSTER_CHECK(found != of_users.end() && found->second >= count);
  found->second -= count;
  if (found->second == 0) {
    of_users.erase(found);
  }
}

}  // namespace

void JobTable::Add(Job job) {
  made_.clear();
  const JobId id = job.id;
  const std::size_t before = kept_.size();
  ++of_users_[job.spec->user.name];
  kept_.emplace_hint(kept_.end(), id, std::move(job));
  MUSTER_CHECK(kept_.size() == before + 1);
}

void JobTable::Add(UntouchedElements elements) {
  MUSTER_CHECK(elements.count > 0 && elements.first.spec->array.has_value());
  made_.clear();
  const JobId first = elements.first.id;
  untouched_ += elements.count;
  of_users_[elements.first.spec->user.name] += elements.count;
  runs_.emplace(first, Run{elements.count, std::make_shared<const Job>(std::move(elements.first))});
}

const Job* JobTable::Find(JobId id) const {
  if (const auto kept = kept_.find(id); kept != kept_.end()) {
    return &kept->second;
  }
  const auto run = RunWith(id);
  if (run == runs_.end()) {
    return nullptr;
  }
  auto made = made_.find(id);
  if (made == made_.end()) {
    made = made_.emplace(id, ElementOf(*run->second.like, id)).first;
  }
  return &made->second;
}

bool JobTable::contains(JobId id) const {
  return kept_.contains(id) || RunWith(id) != runs_.end();
}

Job* JobTable::Touch(JobId id) {
  if (const auto kept = kept_.find(id); kept != kept_.end()) {
    return &kept->second;
  }
  const auto run = RunWith(id);
  if (run == runs_.end()) {
    return nullptr;
  }
  Job element = ElementOf(*run->second.like, id);
  TakeOut(run, id, 1);
  return &kept_.emplace(id, std::move(element)).first->second;
}

void JobTable::Erase(JobId id) {
  if (const auto kept = kept_.find(id); kept != kept_.end()) {
    Forget(kept->second, 1, of_users_);
    kept_.erase(kept);
    made_.clear();
    return;
  }
  EraseUntouched(id, 1);
}

void JobTable::EraseUntouched(JobId first, std::uint32_t count) {
  MUSTER_CHECK(count > 0 && UntouchedFrom(first) >= count);
  const auto run = RunWith(first);
  Forget(*run->second.like, count, of_users_);
  TakeOut(run, first, count);
}

std::uint64_t JobTable::OfUser(const std::string& user) const {
  const auto found = of_users_.find(user);
  return found == of_users_.end() ? 0 : found->second;
}

std::uint32_t JobTable::UntouchedFrom(JobId id) const {
  const auto run = RunWith(id);
  return run == runs_.end()
             ? 0
             : static_cast<std::uint32_t>(run->first.value() + run->second.count - id.value());
}

std::optional<JobId> JobTable::NextFrom(JobId id) const {
  if (RunWith(id) != runs_.end()) {
    return id;
  }
  const auto kept = kept_.lower_bound(id);
  const auto run = runs_.lower_bound(id);
  if (kept == kept_.end()) {
    return run == runs_.end() ? std::nullopt : std::optional(run->first);
  }
  return run == runs_.end() ? kept->first : std::min(kept->first, run->first);
}

JobTable::Runs::const_iterator JobTable::RunWith(JobId id) const {
  const auto after = runs_.upper_bound(id);
  if (after == runs_.begin()) {
    return runs_.end();
  }
  const auto run = std::prev(after);
  return id.value() - run->first.value() < run->second.count ? run : runs_.end();
}

void JobTable::TakeOut(Runs::const_iterator run, JobId first, std::uint32_t count) {
  made_.clear();
  untouched_ -= count;
  const auto before = static_cast<std::uint32_t>(first.value() - run->first.value());
  const std::uint32_t behind = run->second.count - before - count;
  const JobId next(first.value() + count);
  auto node = runs_.extract(run);
  const std::shared_ptr<const Job> like = node.mapped().like;
  if (before > 0) {
    node.mapped().count = before;
    runs_.insert(std::move(node));
    if (behind > 0) {
      runs_.emplace(next, Run{behind, like});
    }
  } else if (behind > 0) {
    node.key() = next;
    node.mapped().count = behind;
    runs_.insert(std::move(node));
  }
}

Job JobTable::ElementOf(const Job& like, JobId id) {
  Job job = like;
  job.id = id;
  job.array_index = IndexOfElement(*like.spec->array, like.submission, id);
  return job;
}

JobTable::Iterator::Iterator(const JobTable& table)
    : table_(&table), kept_(table.kept_.begin()), run_(table.runs_.begin()) {
  Make();
}

std::pair<JobId, const Job&> JobTable::Iterator::operator*() const {
  const Job& job = AtKept() ? kept_->second : made_;
  return {job.id, job};
}

JobTable::Iterator& JobTable::Iterator::operator++() {
  if (AtKept()) {
    ++kept_;
    return *this;
  }
  if (++offset_ == run_->second.count) {
    ++run_;
    offset_ = 0;
  }
  Make();
  return *this;
}

bool JobTable::Iterator::AtEnd() const {
  return kept_ == table_->kept_.end() && run_ == table_->runs_.end();
}

bool JobTable::Iterator::AtKept() const {
  if (kept_ == table_->kept_.end()) {
    return false;
  }
  return run_ == table_->runs_.end() || kept_->first.value() < run_->first.value() + offset_;
}

void JobTable::Iterator::Make() {
  if (run_ != table_->runs_.end()) {
    made_ = ElementOf(*run_->second.like, JobId(run_->first.value() + offset_));
  }
}

const Job* JobTable::FindElement(JobId array, std::uint32_t index) const {
  const std::optional<JobId> some = NextFrom(array);
  const Job* first = some.has_value() ? Find(*some) : nullptr;
  if (first == nullptr || first->submission != array || !first->array_index.has_value()) {
    return nullptr;
  }
  const std::optional<std::uint32_t> ordinal = OrdinalOf(*first->spec->array, index);
  return ordinal.has_value() ? Find(JobId(array.value() + *ordinal)) : nullptr;
}

std::vector<const Job*> JobTable::FindAll(JobId job,
                                          std::optional<std::uint32_t> array_index) const {
  if (array_index.has_value()) {
    const Job* element = FindElement(job, *array_index);
    return element == nullptr ? std::vector<const Job*>() : std::vector<const Job*>{element};
  }
  std::vector<const Job*> found;
  ForEachOf(job, [&](const Job& first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      found.push_back(Find(JobId(first.id.value() + i)));
    }
  });
  return found;
}

}  // namespace muster::core
