#pragma once

// Where the launchers of an attempt's nodes meet: what `torchrun` calls its rendezvous.
//
// The id is the attempt's and holds part of a code under its secret, so that no other attempt of
// the job and no other user's job, whatever they call themselves, meets here; the port follows from
// the code, so that all nodes know it without asking. The store lives on the attempt's first node
// and no longer than the attempt: a change of membership is another attempt, with another store,
// and so the end of the store's host never leaves workers that wait for it. Invariant: all nodes of
// an attempt get the same.

#include <cstdint>
#include <string>

#include "scheduler/model/job/order.h"

namespace muster::agent {

struct Rendezvous {
  std::string id;  // "JOB.ATTEMPT.CODE"
  std::uint16_t port = 0;
};

Rendezvous RendezvousOf(const LaunchOrder& launch);

}  // namespace muster::agent
