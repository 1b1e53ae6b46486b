// Stands where the process that serves PMIx stands, and says to its supervisor, on descriptor 3,
// what the file named like the module asks for: fake_pmix --pmix DIRECTORY. A word for each kind.

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_wire.h"

namespace muster {
namespace {

constexpr int kSocket = 3;

void SendBytes(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = send(kSocket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) {
      _exit(1);
    }
    at += static_cast<std::size_t>(sent);
  }
}

template <class Fill>
void Say(std::uint64_t step, const Fill& fill) {
  wire::PmixReply reply;
  reply.set_step(step);
  fill(reply);
  std::string bytes;
  agent::AppendFrame(reply, &bytes);
  SendBytes(bytes);
}

void Start(std::uint64_t step, const std::string& what) {
  if (what == "silent") {
    return;
  }
  if (what == "ends") {
    _exit(5);
  }
  if (what == "huge") {
    SendBytes(std::string("\xff\xff\xff\x7f", 4));
    return;
  }
  if (what == "broken") {
    Say(step, [](wire::PmixReply& reply) { reply.set_broken("libpmix has changed"); });
    return;
  }
  Say(step, [&](wire::PmixReply& reply) {
    reply.mutable_started()->add_ranks()->add_variables(what == "preload" ? "LD_PRELOAD=/evil.so"
                                                                          : "PMIX_RANK=0");
  });
  if (what == "foreign") {
    Say(step, [](wire::PmixReply& reply) { reply.set_connected(7); });
  } else if (what == "leaves") {
    _exit(0);
  } else if (what == "flood") {
    const std::string bytes(std::size_t{40} << 20, 'x');
    for (std::uint64_t id = 1; id < 5; ++id) {
      Say(step, [&](wire::PmixReply& reply) {
        reply.mutable_fence()->set_id(id);
        reply.mutable_fence()->set_data(bytes);
      });
    }
  } else if (what == "good") {
    Say(step, [](wire::PmixReply& reply) { reply.set_connected(0); });
    Say(step, [](wire::PmixReply& reply) {
      reply.mutable_fence()->set_id(9);
      reply.mutable_fence()->set_data("mine");
    });
  }
}

void Take(const wire::PmixRequest& request, const std::string& what) {
  if (request.has_start()) {
    mkdir(request.start().segments().c_str(), 0700);
    Start(request.step(), what);
  } else if (request.has_answer()) {  // tells what it was told
    Say(request.step(), [&](wire::PmixReply& reply) {
      reply.mutable_abort()->set_status(static_cast<int>(request.answer().id()));
      reply.mutable_abort()->set_message(request.answer().data());
    });
  }
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  std::ifstream file(std::string(argv[2]) + "/" + muster::agent::kPmixModuleName);
  std::string what;
  file >> what;
  muster::agent::PmixFrameReader reader;
  std::array<char, 4096> buffer = {};
  while (true) {
    const ssize_t got = recv(muster::kSocket, buffer.data(), buffer.size(), 0);
    std::vector<std::string> frames;
    if (got <= 0 || !reader.Take({buffer.data(), static_cast<std::size_t>(got)}, &frames).ok()) {
      return 0;
    }
    for (const std::string& frame : frames) {
      muster::wire::PmixRequest request;
      if (request.ParseFromString(frame)) {
        muster::Take(request, what);
      }
    }
  }
}
