#pragma once

// The environment of one process while it is made, and what any rank reads there of its part of a
// node.
//
// Thread promise: one owner; the functions are pure. Invariant: a name is in it once.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/order_file.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"

namespace muster::agent {

// The value of the last assignment to `name`; nothing: there is none.
inline std::optional<std::string> ValueIn(const std::vector<std::string>& assignments,
                                          std::string_view name) {
  for (auto each = assignments.rbegin(); each != assignments.rend(); ++each) {
    if (each->size() > name.size() && (*each)[name.size()] == '=' && each->starts_with(name)) {
      return each->substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

class Variables {
 public:
  explicit Variables(const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) {
      const std::size_t equals = assignment.find('=');
      if (equals != std::string::npos && equals > 0) {
        values_[assignment.substr(0, equals)] = assignment.substr(equals + 1);
      }
    }
  }
  void Set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  template <class Number>
  void Set(const std::string& name, Number number) requires std::is_integral_v<Number> {
    values_[name] = absl::StrCat(number);
  }
  // Sets MUSTER_`name` and SLURM_`name`.
  template <class Value>
  void SetTwins(const std::string& name, const Value& value) {
    Set("MUSTER_" + name, value);
    Set("SLURM_" + name, value);
  }
  void Erase(const std::string& name) { values_.erase(name); }
  [[nodiscard]] bool Has(const std::string& name) const { return values_.count(name) != 0; }
  [[nodiscard]] std::string Get(const std::string& name, const std::string& otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() || found->second.empty() ? otherwise : found->second;
  }
  [[nodiscard]] std::vector<std::string> List() const {
    std::vector<std::string> list;
    list.reserve(values_.size());
    for (const auto& [name, value] : values_) {
      list.push_back(absl::StrCat(name, "=", value));
    }
    return list;
  }

 private:
  std::map<std::string, std::string> values_;
};

// GPUs and NICs, but for what the user set himself. `rank`: null for a process that has all of the
// job's on the node.
void SetDevices(const SupervisorOrder& order, const NodeAllocation& node, const RankPlacement* rank,
                Variables* variables);

// Where all ranks of the node run, for each of them.
void SetCpuBindings(const NodeAllocation& node, Variables* variables);
// Where the rank itself does.
void SetPlace(const RankPlacement& rank, Variables* variables);
// Where it is on the grid on which as many ranks as `ranks` are numbered, if there is such a grid.
void SetGridPlace(const std::vector<std::uint32_t>& grid, std::uint32_t rank, std::uint32_t ranks,
                  Variables* variables);

// OMP_PLACES for those threads: one place a core.
std::string PlacesOf(const Machine& machine, const CpuSet& cpus);

// The variables that say how many threads a library of linear algebra starts: OpenBLAS, MKL, BLIS,
// NumExpr. Each follows OMP_NUM_THREADS where it is not set, unless it was built without OpenMP.
inline constexpr std::array<const char*, 4> kBlasThreads = {
    "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"};

// How many threads OpenMP and those libraries start, but for what the user chose: his
// OMP_NUM_THREADS holds for the libraries, too.
void SetThreads(std::size_t threads, Variables* variables);

// OpenMP's and these, unless the user chose his own. The places not where the rank starts workers
// of its own, as frameworks on GPUs and launchers do: once such a program has bound its first
// thread, they would all inherit that one core.
void SetOpenMp(const SupervisorOrder& order, const RankPlacement& rank, Variables* variables);

}  // namespace muster::agent
