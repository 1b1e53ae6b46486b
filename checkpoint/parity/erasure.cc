#include "checkpoint/parity/erasure.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::checkpoint {
namespace {

constexpr std::uint32_t kFieldSize = 256;
constexpr unsigned kPolynomial = 0x11d;

// Powers of the generator 2 and their logarithms.
struct Tables {
  std::array<std::uint8_t, std::size_t{2} * kFieldSize> power{};
  std::array<std::uint8_t, kFieldSize> log{};
};

constexpr Tables MakeTables() {
  Tables tables;
  unsigned value = 1;
  for (unsigned i = 0; i < kFieldSize - 1; ++i) {
    tables.power[i] = static_cast<std::uint8_t>(value);
    tables.power[i + kFieldSize - 1] = static_cast<std::uint8_t>(value);
    tables.log[value] = static_cast<std::uint8_t>(i);
    value <<= 1;
    value ^= (value & kFieldSize) != 0 ? kPolynomial : 0;
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

std::uint8_t Multiply(std::uint8_t a, std::uint8_t b) {
  return a == 0 || b == 0 ? 0
                          : kTables.power.at(std::size_t{kTables.log.at(a)} + kTables.log.at(b));
}

// REQUIRES: a is not 0.
std::uint8_t Inverse(std::uint8_t a) {
  return kTables.power.at(kFieldSize - 1 - kTables.log.at(a));
}

using Row = std::vector<std::uint8_t>;

void Scale(std::uint8_t factor, Row* row) {
  for (std::uint8_t& each : *row) {
    each = Multiply(factor, each);
  }
}

// Turns the left square of `rows` into the unit matrix. REQUIRES: it is regular.
void Eliminate(std::vector<Row>* rows) {
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto pivot = std::find_if(rows->begin() + static_cast<std::ptrdiff_t>(i), rows->end(),
                                    [i](const Row& row) { return row[i] != 0; });
    std::iter_swap(rows->begin() + static_cast<std::ptrdiff_t>(i), pivot);
    Scale(Inverse((*rows)[i][i]), &(*rows)[i]);
    for (std::size_t other = 0; other < rows->size(); ++other) {
      const std::uint8_t factor = (*rows)[other][i];
      for (std::size_t k = 0; other != i && k < (*rows)[other].size(); ++k) {
        (*rows)[other][k] ^= Multiply(factor, (*rows)[i][k]);
      }
    }
  }
}

// The bytes of what `member` has in `stripe`, and how many of them are there: the rest is zeros.
std::pair<char*, std::uint64_t> PartOf(const Erasure& erasure, std::uint32_t stripe,
                                       std::uint32_t member, std::uint64_t segment,
                                       std::vector<Member>* set) {
  Member& own = (*set)[member];
  if (const auto parity = erasure.ParityIn(stripe, member)) {
    return {own.parity.data() + *parity * segment, segment};
  }
  const std::uint64_t begin = erasure.SegmentIn(stripe, member) * segment;
  const std::uint64_t size = own.data.size();
  return {own.data.data() + std::min(begin, size),
          begin < size ? std::min(segment, size - begin) : 0};
}

// Sums the terms into what `member` has in `stripe`.
void Sum(const Erasure& erasure, std::uint32_t stripe, std::uint32_t member, std::uint64_t segment,
         const std::vector<Erasure::Term>& terms, std::vector<Member>* set) {
  const auto [to, room] = PartOf(erasure, stripe, member, segment, set);
  std::fill_n(to, room, '\0');
  for (const Erasure::Term& term : terms) {
    const auto [from, size] = PartOf(erasure, stripe, term.member, segment, set);
    AddProduct(term.factor, from, to, std::min(size, room));
  }
}

}  // namespace

void AddProduct(std::uint8_t factor, const void* from, void* to, std::size_t size) {
  const auto* in = static_cast<const std::uint8_t*>(from);
  auto* out = static_cast<std::uint8_t*>(to);
  if (factor == 1) {
    for (std::size_t i = 0; i < size; ++i) {
      out[i] ^= in[i];
    }
    return;
  }
  std::array<std::uint8_t, kFieldSize> product{};
  for (unsigned value = 0; value < kFieldSize; ++value) {
    product.at(value) = Multiply(factor, static_cast<std::uint8_t>(value));
  }
  for (std::size_t i = 0; i < size; ++i) {
    out[i] ^= product[in[i]];  // NOLINT(cppcoreguidelines-pro-bounds-constant-array-index)
  }
}

Result<Erasure> Erasure::Make(std::uint32_t members, std::uint32_t parities) {
  if (parities < 1 || parities >= members || members > kFieldSize - parities) {
    return {{},
            MakeError(Fault::kUsage,
                      "set: use 1 or more parities, fewer than members, and at "
                      "most 256 of both together")};
  }
  return {Erasure(members, parities), {}};
}

std::uint64_t Erasure::SegmentBytes(std::uint64_t largest) const {
  const std::uint64_t segments = members_ - parities_;
  return largest / segments + (largest % segments != 0 ? 1 : 0);
}

std::optional<std::uint32_t> Erasure::ParityIn(std::uint32_t stripe, std::uint32_t member) const {
  const std::uint32_t parity = (member + members_ - stripe) % members_;
  return parity < parities_ ? std::optional(parity) : std::nullopt;
}

std::uint32_t Erasure::SegmentIn(std::uint32_t stripe, std::uint32_t member) const {
  std::uint32_t segment = 0;
  for (std::uint32_t before = 0; before < stripe; ++before) {
    segment += ParityIn(before, member) ? 0 : 1;
  }
  return segment;
}

std::vector<std::uint32_t> Erasure::DataMembers(std::uint32_t stripe) const {
  std::vector<std::uint32_t> data;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (!ParityIn(stripe, member)) {
      data.push_back(member);
    }
  }
  return data;
}

// 1 / (x + y) with x = parity and y = parities + place, over that of parity 0.
std::uint8_t Erasure::Factor(std::uint32_t parity, std::size_t place) const {
  const auto y = static_cast<std::uint8_t>(parities_ + place);
  return Multiply(Inverse(static_cast<std::uint8_t>(parity ^ y)), y);
}

Result<std::vector<Erasure::Term>> Erasure::TermsOfData(std::uint32_t stripe, std::uint32_t member,
                                                        const std::vector<bool>& lost) const {
  const std::vector<std::uint32_t> data = DataMembers(stripe);
  std::vector<std::size_t> unknown;  // places of lost segments
  for (std::size_t place = 0; place < data.size(); ++place) {
    if (lost[data[place]]) {
      unknown.push_back(place);
    }
  }
  std::vector<std::uint32_t> whole;  // parities that are there, as many as are needed
  for (std::uint32_t parity = 0; parity < parities_ && whole.size() < unknown.size(); ++parity) {
    if (!lost[(stripe + parity) % members_]) {
      whole.push_back(parity);
    }
  }
  if (whole.size() < unknown.size()) {
    return {{}, MakeError(Fault::kCorrupt, "more members are lost than there are parities")};
  }
  // [factors of the unknown | which parity], solved: what each unknown is in parities.
  std::vector<Row> rows;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Row row;
    for (const std::size_t place : unknown) {
      row.push_back(Factor(whole[i], place));
    }
    row.resize(2 * whole.size(), 0);
    row[whole.size() + i] = 1;
    rows.push_back(std::move(row));
  }
  Eliminate(&rows);
  const auto own = std::find_if(unknown.begin(), unknown.end(),
                                [&](std::size_t place) { return data[place] == member; });
  const Row& solution = rows[static_cast<std::size_t>(own - unknown.begin())];
  std::vector<Term> terms;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    terms.push_back({(stripe + whole[i]) % members_, solution[whole.size() + i]});
  }
  for (std::size_t place = 0; place < data.size(); ++place) {
    std::uint8_t factor = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      factor ^= Multiply(solution[whole.size() + i], Factor(whole[i], place));
    }
    if (!lost[data[place]]) {
      terms.push_back({data[place], factor});
    }
  }
  return {std::move(terms), {}};
}

Result<std::vector<Erasure::Term>> Erasure::TermsOf(std::uint32_t stripe, std::uint32_t member,
                                                    const std::vector<bool>& lost) const {
  const auto parity = ParityIn(stripe, member);
  if (!parity) {
    return TermsOfData(stripe, member, lost);
  }
  const std::vector<std::uint32_t> data = DataMembers(stripe);
  std::vector<std::uint8_t> factors(members_, 0);
  for (std::size_t place = 0; place < data.size(); ++place) {
    const std::uint8_t factor = Factor(*parity, place);
    if (!lost[data[place]]) {
      factors[data[place]] ^= factor;
      continue;
    }
    Result<std::vector<Term>> others = TermsOfData(stripe, data[place], lost);
    if (!others.ok()) {
      return others;
    }
    for (const Term& term : others.value) {
      factors[term.member] ^= Multiply(factor, term.factor);
    }
  }
  std::vector<Term> terms;
  for (std::uint32_t other = 0; other < members_; ++other) {
    if (factors[other] != 0) {
      terms.push_back({other, factors[other]});
    }
  }
  return {std::move(terms), {}};
}

void Encode(const Erasure& erasure, std::vector<Member>* set) {
  std::uint64_t largest = 0;
  for (const Member& member : *set) {
    largest = std::max<std::uint64_t>(largest, member.data.size());
  }
  const std::uint64_t segment = erasure.SegmentBytes(largest);
  const std::vector<bool> nobody(set->size(), false);
  for (std::uint32_t member = 0; member < erasure.members(); ++member) {
    (*set)[member].parity.assign(segment * erasure.parities(), '\0');
    for (std::uint32_t parity = 0; parity < erasure.parities(); ++parity) {
      const std::uint32_t stripe = erasure.StripeOf(member, parity);
      Sum(erasure, stripe, member, segment, erasure.TermsOf(stripe, member, nobody).value, set);
    }
  }
}

Error Rebuild(const Erasure& erasure, const std::vector<std::uint64_t>& sizes,
              const std::vector<bool>& lost, std::vector<Member>* set) {
  if (std::count(lost.begin(), lost.end(), true) >
      static_cast<std::ptrdiff_t>(erasure.parities())) {
    return MakeError(Fault::kCorrupt, "more members are lost than there are parities");
  }
  const std::uint64_t segment = erasure.SegmentBytes(*std::max_element(sizes.begin(), sizes.end()));
  for (std::uint32_t member = 0; member < erasure.members(); ++member) {
    const Member& own = (*set)[member];
    if (!lost[member] &&
        (own.data.size() != sizes[member] || own.parity.size() != segment * erasure.parities())) {
      return MakeError(Fault::kCorrupt, "member " + std::to_string(member) +
                                            ": has not the size that it should have");
    }
  }
  for (std::uint32_t member = 0; member < erasure.members(); ++member) {
    if (lost[member]) {
      (*set)[member].data.assign(sizes[member], '\0');
      (*set)[member].parity.assign(segment * erasure.parities(), '\0');
    }
  }
  for (std::uint32_t member = 0; member < erasure.members(); ++member) {
    for (std::uint32_t stripe = 0; lost[member] && stripe < erasure.members(); ++stripe) {
      const Result<std::vector<Erasure::Term>> terms = erasure.TermsOf(stripe, member, lost);
      if (!terms.ok()) {
        return terms.error;
      }
      Sum(erasure, stripe, member, segment, terms.value, set);
    }
  }
  return {};
}

}  // namespace muster::checkpoint
