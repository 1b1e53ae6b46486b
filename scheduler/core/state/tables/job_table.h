#pragma once

// The live jobs: those that something has happened to, each by itself, and the elements of arrays
// that are still untouched, as runs of ids.
//
// An untouched element differs from its neighbours in its id and index alone, so a run of a million
// costs as much as one job. Thread promise: none, not even of the methods that are const; owned by
// one thread. Invariants: (1) every live id is in exactly one job or run; (2) a run lies within one
// submission and its jobs are pending, as that submission made them.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/change/state_image.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class JobTable {
 public:
  // Adds a job by itself. REQUIRES: its id is not there.
  void Add(Job job);
  // Adds a run. REQUIRES: none of its ids is there; `elements.first` is pending and untouched.
  void Add(UntouchedElements elements);

  // Null when it is not live. An untouched element is made for the asking: the pointer is good
  // until the table changes.
  [[nodiscard]] const Job* Find(JobId id) const;
  // The job, by itself from now on; null when it is not live.
  Job* Touch(JobId id);
  // REQUIRES: the job is live.
  void Erase(JobId id);
  // REQUIRES: all of them are untouched elements of one run.
  void EraseUntouched(JobId first, std::uint32_t count);

  [[nodiscard]] std::size_t size() const { return kept_.size() + untouched_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] bool contains(JobId id) const;
  [[nodiscard]] bool IsUntouched(JobId id) const { return RunWith(id) != runs_.end(); }
  // How many elements are untouched.
  [[nodiscard]] std::size_t untouched() const { return untouched_; }
  // How many jobs the user has.
  [[nodiscard]] std::uint64_t OfUser(const std::string& user) const;

  // How many untouched elements of its run there are from `id` on; 0 when it is not one.
  [[nodiscard]] std::uint32_t UntouchedFrom(JobId id) const;
  // The first live id that is not below `id`, or nothing.
  [[nodiscard]] std::optional<JobId> NextFrom(JobId id) const;

  // The live jobs that `job` names: itself, or the live elements of the array of that id.
  [[nodiscard]] std::vector<const Job*> FindAll(JobId job,
                                                std::optional<std::uint32_t> array_index) const;
  // Calls visit(job, count) for those in the order of ids: count 1, or that of the untouched
  // elements of an array of which the job is the first.
  template <class Visitor>
  void ForEachOf(JobId job, Visitor&& visit) const;

  // Calls visit(job, count) in the order of ids: count 1 for a job by itself, else for the first of
  // `count` untouched elements.
  template <class Visitor>
  void ForEachRun(Visitor&& visit) const;
  // The same, until visit returns false.
  template <class Visitor>
  void ForEachRunWhile(Visitor&& visit) const;
  // The same for untouched elements alone.
  template <class Visitor>
  void ForEachUntouched(Visitor&& visit) const;

  // All jobs one by one in the order of ids, as pairs of id and job. The job is good until the
  // iterator moves.
  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] std::default_sentinel_t end() const { return std::default_sentinel; }

 private:
  struct Run {
    std::uint32_t count = 0;
    std::shared_ptr<const Job> like;  // any of them, or one that was
  };
  using Runs = std::map<JobId, Run>;  // by the first id

  [[nodiscard]] const Job* FindElement(JobId array, std::uint32_t index) const;
  [[nodiscard]] Runs::const_iterator RunWith(JobId id) const;
  // Takes elements out of their run, which may leave one before them and one after.
  void TakeOut(Runs::const_iterator run, JobId first, std::uint32_t count);
  static Job ElementOf(const Job& like, JobId id);

  std::map<JobId, Job> kept_;
  Runs runs_;
  std::size_t untouched_ = 0;
  std::map<std::string, std::uint64_t> of_users_;  // none of them 0
  mutable std::map<JobId, Job> made_;              // elements asked for since the last change
};

class JobTable::Iterator {
 public:
  explicit Iterator(const JobTable& table);
  [[nodiscard]] std::pair<JobId, const Job&> operator*() const;
  Iterator& operator++();
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.AtEnd(); }

 private:
  [[nodiscard]] bool AtEnd() const;
  // True when a job by itself is next, false when an untouched element is.
  [[nodiscard]] bool AtKept() const;
  void Make();

  const JobTable* table_;
  std::map<JobId, Job>::const_iterator kept_;
  Runs::const_iterator run_;
  std::uint32_t offset_ = 0;  // in the run
  Job made_;
};

inline JobTable::Iterator JobTable::begin() const {
  return Iterator(*this);
}

template <class Visitor>
void JobTable::ForEachUntouched(Visitor&& visit) const {
  for (const auto& [first, run] : runs_) {
    visit(ElementOf(*run.like, first), run.count);
  }
}

template <class Visitor>
void JobTable::ForEachRun(Visitor&& visit) const {
  ForEachRunWhile([&visit](const Job& job, std::uint32_t count) {
    visit(job, count);
    return true;
  });
}

template <class Visitor>
void JobTable::ForEachRunWhile(Visitor&& visit) const {
  auto kept = kept_.begin();
  auto run = runs_.begin();
  bool goes_on = true;
  while (goes_on && (kept != kept_.end() || run != runs_.end())) {
    if (run == runs_.end() || (kept != kept_.end() && kept->first < run->first)) {
      goes_on = visit(kept->second, std::uint32_t{1});
      ++kept;
    } else {
      goes_on = visit(ElementOf(*run->second.like, run->first), run->second.count);
      ++run;
    }
  }
}

template <class Visitor>
void JobTable::ForEachOf(JobId job, Visitor&& visit) const {
  for (std::optional<JobId> id = NextFrom(job); id.has_value();) {
    const Job& found = *Find(*id);
    if (found.id != job && found.submission != job) {
      return;
    }
    const std::uint32_t count = found.submission == job ? std::max(1U, UntouchedFrom(*id)) : 1U;
    id = found.submission == job ? NextFrom(JobId(id->value() + count)) : std::nullopt;
    visit(found, count);
  }
}

}  // namespace muster::core
