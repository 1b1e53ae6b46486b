#include "daemon/client/events/past_events.h"

#include <memory>
#include <optional>
#include <utility>

#include "daemon/events/event_note.h"

namespace muster::daemon {
namespace {

absl::Status TooManyReaders() {
  return absl::UnavailableError("too many readers; try again");
}

}  // namespace

struct PastEvents::Reading {
  Version from;
  Done done;
  std::vector<EventNote> notes;
  std::map<JobId, JobFacts> jobs;
  Past past;
};

void PastEvents::Read(Version from, Done done) {
  auto reading = std::make_shared<Reading>();
  reading->from = reading->past.next = from;
  reading->done = std::move(done);
  if (!reader_.Run([this, reading] { ReadEntries(reading); })) {
    // Never in the caller's own stack: he may hold what `done` wants.
    controller_.Look([reading](const StateView&) -> Controller::Reply {
      return [reading](const absl::Status&) { reading->done(TooManyReaders()); };
    });
  }
}

// On the reader's thread: the entries, and what submissions say of their own jobs.
void PastEvents::ReadEntries(const Shared& reading) {
  std::size_t entries = 0;
  const absl::Status read =
      store_.ReadJournal(reading->from, [this, &reading, &entries](const JournalEntry& entry) {
        if (!controller_.leads() && entry.version > controller_.followed()) {
          return false;  // the state does not know yet whose jobs these are
        }
        if (std::optional<EventNote> note = NoteOf(entry.event)) {
          note->version = entry.version;
          if (note->job.valid() && note->knows_job()) {
            reading->jobs[note->job] = note->facts;
          }
          reading->notes.push_back(*std::move(note));
        }
        reading->past.next = entry.version.Next();
        return ++entries < kEntriesMax;
      });
  if (!read.ok()) {
    reading->done(read);
    return;
  }
  reading->past.at_end = entries < kEntriesMax;
  if (reading->notes.empty()) {
    reading->done(std::move(reading->past));
    return;
  }
  LookAtState(reading);
}

// On the controller's thread: jobs that live, and the names of nodes.
void PastEvents::LookAtState(const Shared& reading) {
  controller_.Look([this, reading](const StateView& snapshot) -> Controller::Reply {
    for (EventNote& note : reading->notes) {
      if (note.job.valid() && !reading->jobs.contains(note.job)) {
        if (const Job* const job = snapshot.state().FindJob(note.job)) {
          reading->jobs[note.job] = FactsOf(*job);
        }
      }
      if (const Node* const node =
              note.node.valid() ? snapshot.state().FindNode(note.node) : nullptr) {
        note.node_name = node->name;
      }
    }
    return [this, reading](const absl::Status& status) {
      if (!status.ok()) {
        reading->done(status);
      } else if (!reader_.Run([this, reading] { Complete(reading); })) {
        reading->done(TooManyReaders());
      }
    };
  });
}

// On the reader's thread again: jobs that have ended.
void PastEvents::Complete(const Shared& reading) {
  for (EventNote& note : reading->notes) {
    if (!note.job.valid()) {
      continue;
    }
    auto known = reading->jobs.find(note.job);
    if (known == reading->jobs.end()) {
      known = reading->jobs.emplace(note.job, JobFacts()).first;
      if (const auto ended = accounting_.Show(note.job, {}); ended.ok()) {
        for (const JobDetail& detail : *ended) {
          reading->jobs[detail.job.id] = FactsOf(detail.job, detail.recorded);
        }
      }
    }
    note.facts = known->second;
  }
  for (const EventNote& note : reading->notes) {
    reading->past.events.push_back(
        std::make_shared<const CloudEvent>(MakeCloudEvent(note, cluster_)));
  }
  reading->done(std::move(reading->past));
}

}  // namespace muster::daemon
