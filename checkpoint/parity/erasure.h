#pragma once

// The parity of a set: what N members store beside their own data, so that any k of them may be
// lost.
//
// Each member's data is cut into N - k segments of one size (the last ones padded with zeros).
// There are N stripes. In stripe s the members s, s+1, …, s+k-1 (modulo N) hold parities 0 … k-1,
// the others one data segment each; so every member holds k parity segments, and what it stores
// beside its data is k/(N-k) of it (redundancy.h). Parity j of a stripe is the sum over its data
// segments, in the order of their members, of c(j,p) times the p-th: in GF(2^8) modulo
// x^8+x^4+x^3+x^2+1 (I. S. Reed and G. Solomon, J. SIAM 8, 1960), with a Cauchy matrix whose
// columns are scaled so that parity 0 is the plain XOR (J. Blömer et al., ICSI TR-95-048, 1995;
// every square submatrix of a Cauchy matrix is regular). k = 1 is XOR alone. Thread promise: const
// after Make. Invariants: any losses up to k are rebuilt to the byte; more are refused, never
// guessed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

class Erasure {
 public:
  // kUsage unless 1 <= parities < members <= 256 - parities.
  static Result<Erasure> Make(std::uint32_t members, std::uint32_t parities);
  Erasure() = default;

  std::uint32_t members() const { return members_; }
  std::uint32_t parities() const { return parities_; }

  // Bytes of a segment when the largest member's data has `largest` bytes.
  std::uint64_t SegmentBytes(std::uint64_t largest) const;

  // Which parity `member` holds in `stripe`; nothing when it holds data there.
  std::optional<std::uint32_t> ParityIn(std::uint32_t stripe, std::uint32_t member) const;
  // Which of its segments a member has in `stripe`. REQUIRES: it holds data there.
  std::uint32_t SegmentIn(std::uint32_t stripe, std::uint32_t member) const;
  // The stripe in which a member holds parity `parity`. REQUIRES: there are both.
  std::uint32_t StripeOf(std::uint32_t member, std::uint32_t parity) const {
    return member < parity ? member + members_ - parity : member - parity;
  }

  // What one member's part of a stripe is worth in a sum.
  struct Term {
    std::uint32_t member = 0;
    std::uint8_t factor = 0;
  };
  // The terms whose sum is what `member` holds in `stripe`, of members that are not in `lost`.
  // REQUIRES: `member` is in `lost`, or holds parity there. kCorrupt: too many are lost.
  Result<std::vector<Term>> TermsOf(std::uint32_t stripe, std::uint32_t member,
                                    const std::vector<bool>& lost) const;

 private:
  Erasure(std::uint32_t members, std::uint32_t parities) : members_(members), parities_(parities) {}
  std::vector<std::uint32_t> DataMembers(std::uint32_t stripe) const;
  std::uint8_t Factor(std::uint32_t parity, std::size_t place) const;
  Result<std::vector<Term>> TermsOfData(std::uint32_t stripe, std::uint32_t member,
                                        const std::vector<bool>& lost) const;

  std::uint32_t members_ = 0;
  std::uint32_t parities_ = 0;
};

// to[i] += factor * from[i] in GF(2^8).
void AddProduct(std::uint8_t factor, const void* from, void* to, std::size_t size);

// A member's data and the parity it stores: parities() segments, parity 0 first.
struct Member {
  std::string data;
  std::string parity;
};

// Fills in every member's parity. REQUIRES: set.size() is members().
void Encode(const Erasure& erasure, std::vector<Member>* set);

// Rebuilds data and parity of the members that are lost, from the others' alone. `sizes`: of every
// member's data. kCorrupt, and nothing changed, when more are lost than there are parities, or a
// member that is not lost has other sizes than it says.
Error Rebuild(const Erasure& erasure, const std::vector<std::uint64_t>& sizes,
              const std::vector<bool>& lost, std::vector<Member>* set);

}  // namespace muster::checkpoint
