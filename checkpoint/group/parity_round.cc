#include "checkpoint/group/parity_round.h"

#include <algorithm>
#include <string>

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;

void Note(Error* first, const Error& error) {
  if (!first->failed()) {
    *first = error;
  }
}

// Factors by member; 0 of those that are not in the sum.
std::vector<std::uint8_t> FactorsOf(const std::vector<Erasure::Term>& terms, std::size_t members) {
  std::vector<std::uint8_t> factors(members, 0);
  for (const Erasure::Term& term : terms) {
    factors[term.member] = term.factor;
  }
  return factors;
}

// One piece of what `lost` had in `stripe`, summed up on its rank from what the others send.
class Piece {
 public:
  Piece(ParityRound* round, std::uint32_t lost, std::uint64_t at, std::uint64_t size)
      : round_(round), lost_(lost), at_(at), sum_(size, '\0'), part_(size, '\0') {}

  Error Gather(std::uint32_t stripe, const std::vector<Erasure::Term>& terms, const Survivor* own) {
    Error error;
    for (const Erasure::Term& term : terms) {
      if (term.member == round_->place) {
        Note(&error, ReadPart(stripe, *own));
        Exchange({round_->set[lost_], part_.data(), part_.size()}, {});
      } else if (lost_ == round_->place) {
        Exchange({}, {round_->set[term.member], part_.data(), part_.size()});
        AddProduct(term.factor, part_.data(), sum_.data(), sum_.size());
      }
    }
    return error;
  }
  const std::string& sum() const { return sum_; }

 private:
  Error ReadPart(std::uint32_t stripe, const Survivor& own) {
    const Erasure& erasure = round_->erasure;
    if (const auto parity = erasure.ParityIn(stripe, round_->place)) {
      return own.parity->Read(*parity, at_, part_.data(), part_.size());
    }
    const std::uint64_t begin = erasure.SegmentIn(stripe, round_->place) * round_->segment;
    return own.shard->ReadRaw(begin + at_, part_.data(), part_.size());
  }
  void Exchange(const Group::Outgoing& out, const Group::Incoming& in) {
    round_->broken = round_->broken || !round_->group->Exchange(out, in);
  }

  ParityRound* round_;
  std::uint32_t lost_;
  std::uint64_t at_;
  std::string sum_;
  std::string part_;
};

// Stripes in the order in which a member writes what it has there: data first, then parities.
std::vector<std::uint32_t> StripesOf(const Erasure& erasure, std::uint32_t member) {
  std::vector<std::uint32_t> stripes;
  for (std::uint32_t stripe = 0; stripe < erasure.members(); ++stripe) {
    if (!erasure.ParityIn(stripe, member)) {
      stripes.push_back(stripe);
    }
  }
  for (std::uint32_t parity = 0; parity < erasure.parities(); ++parity) {
    stripes.push_back(erasure.StripeOf(member, parity));
  }
  return stripes;
}

Error WritePiece(const Rebuilt& rebuilt, bool parity, const std::string& bytes) {
  if (parity) {
    return rebuilt.parity->Append(bytes.data(), bytes.size());
  }
  // The last segment was filled up with zeros.
  const std::uint64_t left = rebuilt.size - rebuilt.shard->written();
  return rebuilt.shard->Append(bytes.data(), std::min<std::uint64_t>(bytes.size(), left));
}

// A stretch of one of the own parities.
struct Stretch {
  std::uint32_t parity = 0;
  std::uint64_t at = 0;  // in the segment
  std::uint64_t size = 0;
};

// Sums up what the others have of the stretch; each gets what this member has of theirs meanwhile.
Error SumUp(ParityRound* round, const Shard& own, const Stretch& stretch,
            const std::vector<std::uint8_t>& factors, std::string* sum) {
  const Erasure& erasure = round->erasure;
  const std::uint32_t members = erasure.members();
  const std::uint32_t me = round->place;
  const std::uint32_t stripe = erasure.StripeOf(me, stretch.parity);
  std::string mine(stretch.size, '\0');
  std::string theirs(stretch.size, '\0');
  Error first;
  for (std::uint32_t turn = 1; turn < members && !round->broken; ++turn) {
    const std::uint32_t to = (me + turn) % members;
    const std::uint32_t from = (me + members - turn) % members;
    const std::uint32_t wanted = erasure.StripeOf(to, stretch.parity);
    const bool sends = !erasure.ParityIn(wanted, me);
    const bool takes = !erasure.ParityIn(stripe, from);
    if (sends) {
      const std::uint64_t begin = erasure.SegmentIn(wanted, me) * round->segment;
      Note(&first, own.ReadRaw(begin + stretch.at, mine.data(), mine.size()));
    }
    round->broken =
        !round->group->Exchange({round->set[to], mine.data(), sends ? mine.size() : 0},
                                {round->set[from], theirs.data(), takes ? theirs.size() : 0});
    if (takes) {
      AddProduct(factors[from], theirs.data(), sum->data(), sum->size());
    }
  }
  return first;
}

}  // namespace

Result<ParityRound> MakeRound(Group* group, const ProtectionSet& set, std::uint32_t parities,
                              std::uint64_t largest) {
  const Result<Erasure> erasure = Erasure::Make(static_cast<std::uint32_t>(set.size()), parities);
  const auto own = std::find(set.begin(), set.end(), group->rank());
  ParityRound round;
  round.group = group;
  round.set = set;
  round.erasure = erasure.value;
  round.place = static_cast<std::uint32_t>(own - set.begin());
  round.segment = erasure.ok() ? erasure.value.SegmentBytes(largest) : 0;
  return {std::move(round), erasure.error};
}

Error EncodeParity(ParityRound* round, const Shard& own, ParityWriter* parity) {
  const Erasure& erasure = round->erasure;
  const std::uint32_t members = erasure.members();
  const std::uint32_t me = round->place;
  const std::vector<bool> nobody(members, false);
  Error first;
  for (std::uint32_t j = 0; j < erasure.parities(); ++j) {
    const std::uint32_t stripe = erasure.StripeOf(me, j);
    const auto factors = FactorsOf(erasure.TermsOf(stripe, me, nobody).value, members);
    for (std::uint64_t at = 0; at < round->segment && !round->broken; at += kAtOnce) {
      const std::uint64_t size = std::min(kAtOnce, round->segment - at);
      std::string sum(size, '\0');
      Note(&first, SumUp(round, own, {j, at, size}, factors, &sum));
      Note(&first, first.failed() ? first : parity->Append(sum.data(), size));
    }
  }
  return first;
}

Error RebuildLost(ParityRound* round, const std::vector<bool>& lost, const Survivor* own,
                  const Rebuilt* rebuilt) {
  const Erasure& erasure = round->erasure;
  Error first;
  for (std::uint32_t member = 0; member < erasure.members(); ++member) {
    if (!lost[member]) {
      continue;
    }
    for (const std::uint32_t stripe : StripesOf(erasure, member)) {
      const Result<std::vector<Erasure::Term>> terms = erasure.TermsOf(stripe, member, lost);
      if (!terms.ok()) {
        return terms.error;
      }
      for (std::uint64_t at = 0; at < round->segment && !round->broken; at += kAtOnce) {
        Piece piece(round, member, at, std::min(kAtOnce, round->segment - at));
        Note(&first, piece.Gather(stripe, terms.value, own));
        if (member == round->place && !first.failed()) {
          Note(&first,
               WritePiece(*rebuilt, erasure.ParityIn(stripe, member).has_value(), piece.sum()));
        }
      }
    }
  }
  return first;
}

}  // namespace muster::checkpoint
