#include "scheduler/base/text/digest.h"

namespace muster {

std::string_view DigestDigits(std::string_view text) {
  constexpr std::string_view kScheme = "sha256:";
  constexpr std::size_t kDigits = 64;
  const bool good = text.size() == kScheme.size() + kDigits &&
                    text.substr(0, kScheme.size()) == kScheme &&
                    text.find_first_not_of("0123456789abcdef", kScheme.size()) == text.npos;
  return good ? text.substr(kScheme.size()) : std::string_view();
}

}  // namespace muster
