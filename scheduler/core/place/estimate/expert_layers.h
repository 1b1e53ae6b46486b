#pragma once

// Parameters of mixtures of experts.
//
// A layer has E experts, each a gated MLP of three matrices between the hidden size h and the
// expert's own size f (N. Shazeer, GLU variants improve transformer, arXiv 2002.05202); a router
// sends each token to k of them (A. Jiang et al., Mixtral of experts, arXiv 2401.04088, section
// 2.1). So the experts of L layers hold 3 h f E L parameters, of which a token uses k/E. Pure.
// Invariant: what does not fit 64 bits is refused.

#include <cstdint>
#include <optional>
#include <tuple>

#include "scheduler/model/value/fields.h"

namespace muster::core {

struct ExpertShape {
  std::uint64_t layers = 0;   // that have experts
  std::uint64_t experts = 0;  // E: of a layer
  std::uint64_t active = 0;   // k: of a token
  std::uint64_t hidden = 0;   // h
  std::uint64_t inner = 0;    // f
  static constexpr auto Fields(auto list) {
    return list(Field{"layers", &ExpertShape::layers}, Field{"experts", &ExpertShape::experts},
                Field{"active", &ExpertShape::active}, Field{"hidden", &ExpertShape::hidden},
                Field{"inner", &ExpertShape::inner});
  }
  friend bool operator==(const ExpertShape&, const ExpertShape&) = default;
};

// Of all experts.
std::optional<std::uint64_t> ExpertParameters(const ExpertShape& shape);

// Of a model with `parameters` in all, what one token uses, rounded up. REQUIRES: the experts'
// parameters are at most `parameters`, and shape.active <= shape.experts.
std::uint64_t ActiveParameters(std::uint64_t parameters, const ExpertShape& shape);

// The part of a layer's experts that a batch of tokens uses, if the router spreads them evenly and
// each token alone: 1 - (1 - k/E)^tokens. An estimate: routers are trained to be even, and are so
// within limits.
double UsedExperts(const ExpertShape& shape, double tokens);

}  // namespace muster::core
