#include "cli/slurm/queue/job_order.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <utility>

#include "cli/sheet/job_table.h"
#include "cli/slurm/queue/job_fields.h"

namespace muster::cli::slurm {
namespace {

std::int64_t Count(Time time) {
  return time.time_since_epoch().count();
}

// What the letter sorts by where it is a number; false where it is a text.
bool NumberOf(char letter, const JobRow& row, const JobScene& scene, std::int64_t* number) {
  const JobView& job = *row.job;
  switch (letter) {
    case 'i':
    case 'A':
      *number = static_cast<std::int64_t>(job.id.value());
      return true;
    case 'F':
      *number = static_cast<std::int64_t>(job.array_job_id.value());
      return true;
    case 'C':
      *number = job.cpus;
      return true;
    case 'D':
      *number = job.node_count;
      return true;
    case 'p':
    case 'Q':
      *number = job.priority;
      return true;
    case 'l':
      *number = job.time_limit.count();
      return true;
    case 'M':
      *number = Elapsed(job, scene.now).count();
      return true;
    case 'L':
      *number = job.time_limit.count() - Elapsed(job, scene.now).count();
      return true;
    case 'S':
      *number = Count(std::max({job.start_time, job.expected_start, job.begin_time}));
      *number = *number == 0 ? std::numeric_limits<std::int64_t>::max() : *number;
      return true;
    case 'V':
      *number = Count(job.submit_time);
      return true;
    case 'e':
      *number = Count(job.end_time);
      return true;
    case 'U':
      *number = job.uid;
      return true;
    default:
      return false;
  }
}

// What a row is sorted by under one letter: reckoned once, not at each comparison.
struct Key {
  std::int64_t number = 0;
  std::string text;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct SortedRow {
  std::vector<Key> keys;
  JobRow row;
};

// A letter and whether it is backwards.
using Letters = std::vector<std::pair<const JobField*, bool>>;

Letters ReadKeys(const std::vector<std::string>& keys) {
  Letters letters;
  for (const std::string& key : keys) {
    const std::size_t at = key.find_first_not_of("+-");
    const JobField* field = at == std::string::npos ? nullptr : FindJobField(key[at]);
    if (field != nullptr) {
      letters.emplace_back(field, key[0] == '-');
    }
  }
  return letters;
}

std::vector<Key> KeysOf(const Letters& letters, const JobRow& row, const JobScene& scene) {
  std::vector<Key> keys(letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (!NumberOf(letters[i].first->letter, row, scene, &keys[i].number)) {
      keys[i].text = letters[i].first->value(row, scene);
    }
  }
  return keys;
}

}  // namespace

void Sort(const std::vector<std::string>& keys, const JobScene& scene, std::vector<JobRow>& rows) {
  const Letters letters = ReadKeys(keys.empty() ? std::vector<std::string>{"P", "t", "-p"} : keys);
  std::vector<SortedRow> sorted;
  sorted.reserve(rows.size());
  for (JobRow& row : rows) {
    std::vector<Key> own = KeysOf(letters, row, scene);
    sorted.push_back({std::move(own), std::move(row)});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&letters](const SortedRow& a, const SortedRow& b) {
                     for (std::size_t i = 0; i < letters.size(); ++i) {
                       if (a.keys[i] != b.keys[i]) {
                         return (a.keys[i] < b.keys[i]) != letters[i].second;
                       }
                     }
                     return false;
                   });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = std::move(sorted[i].row);
  }
}

}  // namespace muster::cli::slurm
