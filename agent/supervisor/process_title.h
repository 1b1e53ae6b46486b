#pragma once

// The words that ps and /proc show of this process: a copy of a prepared supervisor shows what it
// is for, as one that was executed does.
//
// Thread promise: main's, before threads. Invariant: nothing is written outside the memory that the
// process's arguments had at its start; what does not fit is cut off.

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace muster::agent {

class ProcessTitle {
 public:
  // REQUIRES: `argv` is main's, and nobody reads its words after Show().
  ProcessTitle(int argc, char** argv);
  void Show(std::initializer_list<std::string_view> words) const;

 private:
  char* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace muster::agent
