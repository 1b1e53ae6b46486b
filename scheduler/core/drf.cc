#include "scheduler/core/drf.h"

#include <algorithm>
#include <limits>
#include <set>

#include "scheduler/base/status.h"
#include "scheduler/core/wide_number.h"

namespace muster {
namespace {

using Amounts = std::vector<std::uint64_t>;

// The resource of which a task of `demand` takes the largest part. The first of equals.
std::size_t DominantResource(const Amounts& capacity, const DrfDemand& demand) {
  MUSTER_CHECK(demand.task.size() == capacity.size() && demand.weight != 0);
  std::size_t dominant = capacity.size();
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    // a/b > c/d as a*d > c*b: so nothing of a resource counts for more than any part of another.
    if (demand.task[r] != 0 &&
        (dominant == capacity.size() || absl::uint128(demand.task[r]) * capacity[dominant] >
                                            absl::uint128(demand.task[dominant]) * capacity[r])) {
      dominant = r;
    }
  }
  MUSTER_CHECK(dominant < capacity.size());
  return dominant;
}

class Filling {
 public:
  Filling(const Amounts& capacity, const std::vector<DrfDemand>& demands)
      : capacity_(capacity), demands_(demands), waiting_(Less{this}) {
    filling_.tasks.resize(demands.size(), 0);
    filling_.used.resize(capacity.size(), 0);
    for (const DrfDemand& demand : demands) {
      dominant_.push_back(DominantResource(capacity, demand));
    }
    for (std::size_t user = 0; user < demands.size(); ++user) {
      waiting_.insert(user);
    }
  }

  DrfFilling Run(std::size_t tasks_max) && {
    bool dropped = false;
    while (!waiting_.empty() && filling_.order.size() < tasks_max) {
      const std::size_t user = waiting_.extract(waiting_.begin()).value();
      if (filling_.tasks[user] == demands_[user].tasks_max) {
        continue;
      }
      if (Fits(demands_[user].task)) {
        Give(user);
        waiting_.insert(user);
      } else if (!dropped) {
        dropped = true;
        filling_.before_first_drop = filling_.order.size();
      }
    }
    if (!dropped) {
      filling_.before_first_drop = filling_.order.size();
    }
    return std::move(filling_);
  }

 private:
  struct Less {
    const Filling* filling;
    bool operator()(std::size_t a, std::size_t b) const {
      const int order = filling->CompareShares(a, b);
      return order != 0 ? order < 0 : a < b;
    }
  };

  // tasks * need / (capacity * weight) of two users; the share of a user without tasks is 0.
  int CompareShares(std::size_t a, std::size_t b) const {
    const std::uint64_t tasks_a = filling_.tasks[a];
    const std::uint64_t tasks_b = filling_.tasks[b];
    if (tasks_a == 0 || tasks_b == 0) {
      return static_cast<int>(tasks_a != 0) - static_cast<int>(tasks_b != 0);
    }
    return CompareFractions(
        {tasks_a, demands_[a].task[dominant_[a]]}, {capacity_[dominant_[a]], demands_[a].weight},
        {tasks_b, demands_[b].task[dominant_[b]]}, {capacity_[dominant_[b]], demands_[b].weight});
  }

  bool Fits(const Amounts& task) const {
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      if (task[r] > capacity_[r] - filling_.used[r]) {
        return false;
      }
    }
    return true;
  }

  void Give(std::size_t user) {
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      filling_.used[r] += demands_[user].task[r];
    }
    ++filling_.tasks[user];
    filling_.order.push_back(user);
  }

  const Amounts& capacity_;
  const std::vector<DrfDemand>& demands_;
  std::vector<std::size_t> dominant_;
  DrfFilling filling_;
  std::set<std::size_t, Less> waiting_;  // a user is taken out before its share changes
};

// Divisible tasks: dominant shares grow alike until a resource is used up, and so on.
class Flow {
 public:
  Flow(const Amounts& capacity, const std::vector<DrfDemand>& demands)
      : demands_(demands), left_(capacity.begin(), capacity.end()), tasks_(demands.size(), 0.0) {
    for (const DrfDemand& demand : demands) {
      const std::size_t r = DominantResource(capacity, demand);
      rate_.push_back(static_cast<double>(demand.weight) * static_cast<double>(capacity[r]) /
                      static_cast<double>(demand.task[r]));
    }
  }

  std::vector<double> Run() && {
    for (std::size_t full = NextFull(); full != left_.size(); full = NextFull()) {
      for (std::size_t user = 0; user < demands_.size(); ++user) {
        rate_[user] = demands_[user].task[full] == 0 ? rate_[user] : 0.0;
      }
    }
    return std::move(tasks_);
  }

 private:
  // How much of `resource` goes for each unit of weighted dominant share.
  double Drain(std::size_t resource) const {
    double drain = 0;
    for (std::size_t user = 0; user < demands_.size(); ++user) {
      drain += rate_[user] * static_cast<double>(demands_[user].task[resource]);
    }
    return drain;
  }

  // Goes on until a resource is used up, and names it; the number of resources when nobody goes on.
  std::size_t NextFull() {
    std::size_t full = left_.size();
    double step = std::numeric_limits<double>::infinity();
    std::vector<double> drains;
    for (std::size_t r = 0; r < left_.size(); ++r) {
      drains.push_back(Drain(r));
      if (drains[r] > 0 && left_[r] / drains[r] < step) {
        step = left_[r] / drains[r];
        full = r;
      }
    }
    for (std::size_t r = 0; full != left_.size() && r < left_.size(); ++r) {
      left_[r] = r == full ? 0.0 : std::max(0.0, left_[r] - step * drains[r]);
    }
    for (std::size_t user = 0; full != left_.size() && user < demands_.size(); ++user) {
      tasks_[user] += step * rate_[user];
    }
    return full;
  }

  const std::vector<DrfDemand>& demands_;
  std::vector<double> left_;   // of each resource
  std::vector<double> tasks_;  // of each user
  std::vector<double> rate_;   // tasks for each unit of share; 0 for who has stopped
};

}  // namespace

DrfFilling FillByDominantShare(const std::vector<std::uint64_t>& capacity,
                               const std::vector<DrfDemand>& demands, std::size_t tasks_max) {
  return Filling(capacity, demands).Run(tasks_max);
}

std::vector<double> DivisibleDrf(const std::vector<std::uint64_t>& capacity,
                                 const std::vector<DrfDemand>& demands) {
  return Flow(capacity, demands).Run();
}

}  // namespace muster
