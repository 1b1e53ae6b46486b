#pragma once

// One component of a node as the health program tells it, and the document that it prints.
//
// Invariant: values are finite and not negative.

#include <string>
#include <vector>

namespace muster::kernels {

// Which way a figure is better.
enum class Better {
  kHigher,
  kLower,
  kNever,  // anything but 0 is a defect
  kShown,  // shown, not judged
};

struct Figure {
  std::string component;
  std::string unit;
  Better better = Better::kHigher;
  double value = 0;
  double roof = 0;  // the most that this node was seen to do; 0: not known
};

inline const char* ToText(Better better) {
  switch (better) {
    case Better::kHigher:
      return "higher";
    case Better::kLower:
      return "lower";
    case Better::kNever:
      return "never";
    case Better::kShown:
      return "shown";
  }
  return "";
}

}  // namespace muster::kernels
