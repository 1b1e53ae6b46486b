#pragma once

// A mail as text, and the machine's sendmail.
//
// Invariants: no text of a user's becomes a header of its own; what is not ASCII travels encoded;
// sendmail gets the address as an argument after "--". The process ignores SIGPIPE
// (IgnoreBrokenPipes): sendmail may end without reading.

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct Mail {
  std::string from;
  std::string to;
  std::string subject;
  std::string text;
  std::string id;  // the left part of its Message-ID: "here.41.END"
};

// RFC 5322, with LF at the ends of lines as sendmail takes them.
std::string MailText(const Mail& mail, Time now);

// Hands it to `program`, which is killed after `patience`. InvalidArgument (EX_USAGE, EX_NOUSER,
// EX_DATAERR): it will never take it.
absl::Status SendMail(const std::string& program, const Mail& mail, Time now,
                      std::chrono::seconds patience);

}  // namespace muster::cli
