#pragma once

// How the variables that libpmix gives to ranks can be told without it, as an earlier start has
// shown.
//
// They differ between ranks, steps and attempts only in the rank's number, the namespace, a
// directory and the server's address. A pattern has a word in place of each, and begins with the
// library that it was learned from: another file is another library. Invariant: a pattern gives
// back each variable that it was learned from.

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// What a rank's variables are made of.
struct PmixRankFacts {
  std::string nspace;
  std::string directory;  // PmixServerConfig's
  std::string server;     // "NAMESPACE.RANK;tcp4://ADDRESS:PORT"
  std::uint32_t rank = 0;
};

// A server of that namespace at that port of the loopback, as variables of a rank name it.
std::string PmixServerAt(const std::string& nspace, int port);
// The server as variables of a rank name it; "" when they name none, or several.
std::string ServerIn(const std::vector<std::string>& variables);

// The pattern of what `library` gave as `variables`; nothing when they cannot be told like that.
std::vector<std::string> LearnPmixPattern(const std::string& library,
                                          const std::vector<std::string>& variables,
                                          const PmixRankFacts& facts);

// The variables of a rank.
std::vector<std::string> FillPmixPattern(const std::vector<std::string>& pattern,
                                         const PmixRankFacts& facts);

// Names the file `path` as it is now; "" when it is not there.
std::string PmixLibraryAt(const std::string& path);
// What names the files that say which libpmix the module of that path loads: when none has changed,
// a pattern that was learned before holds. Looks at files of the system alone.
std::string PmixInstallation(const std::string& module);
// The library is still the one that the pattern was learned from.
bool IsCurrentPmixPattern(const std::vector<std::string>& pattern);

}  // namespace muster::agent
