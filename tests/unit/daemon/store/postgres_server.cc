#include "tests/unit/daemon/store/postgres_server.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// Where the distribution keeps the newest server's programs.
std::string FindPrograms() {
  std::string found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string programs = entry.path().string() + "/bin";
    if (std::filesystem::exists(programs + "/initdb") && programs > found) {
      found = programs;
    }
  }
  MUSTER_CHECK(!found.empty());
  return found;
}

// The server refuses to run as root.
void BecomeOrdinary() {
  const passwd* const user = geteuid() == 0 ? getpwnam("postgres") : nullptr;
  if (user != nullptr && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) {
    _exit(127);
  }
}

pid_t Spawn(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    BecomeOrdinary();
    prctl(PR_SET_PDEATHSIG, SIGQUIT);  // also with a test that aborts
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    setsid();
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  return child;
}

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

std::unique_ptr<PGconn, Finish> Connect(const std::string& url) {
  return std::unique_ptr<PGconn, Finish>(PQconnectdb(url.c_str()));
}

}  // namespace

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() : programs_(FindPrograms()) {
  std::string directory = "/tmp/mpg-XXXXXX";
  MUSTER_CHECK(mkdtemp(directory.data()) != nullptr);
  directory_ = directory;
  if (const passwd* const user = geteuid() == 0 ? getpwnam("postgres") : nullptr) {
    MUSTER_CHECK(chown(directory.c_str(), user->pw_uid, user->pw_gid) == 0);
  }
  const pid_t made = Spawn({programs_ + "/initdb", "-D", directory_ + "/data", "-U", "muster", "-A",
                            "trust", "-E", "UTF8", "--locale=C", "--no-sync"},
                           directory_ + "/log");
  int status = 0;
  MUSTER_CHECK(waitpid(made, &status, 0) == made && status == 0);
  Start();
}

PostgresServer::~PostgresServer() {
  Stop();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void PostgresServer::Start() {
  pid_ = Spawn({programs_ + "/postgres", "-D", directory_ + "/data", "-k", directory_, "-F", "-c",
                "listen_addresses="},
               directory_ + "/log");
  for (int tries = 0; PQstatus(Connect(UrlOf("postgres")).get()) != CONNECTION_OK; ++tries) {
    MUSTER_CHECK(tries < 600);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void PostgresServer::Stop() {
  kill(pid_, SIGQUIT);  // at once
  int status = 0;
  waitpid(pid_, &status, 0);
}

std::string PostgresServer::UrlOf(const std::string& database, const std::string& user) const {
  std::string host;
  for (const char c : directory_) {
    absl::StrAppend(&host, c == '/' ? "%2F" : std::string(1, c));
  }
  return absl::StrCat("postgresql://", user, "@", host, "/", database);
}

std::string PostgresServer::MakeDatabase(const std::string& options) {
  const std::string name = absl::StrCat("d", ++databases_);
  Run(UrlOf("postgres"), absl::StrCat("CREATE DATABASE ", name, " ", options));
  return UrlOf(name);
}

void PostgresServer::Run(const std::string& url, const std::string& sql) const {
  const auto connection = Connect(url);
  PGresult* const result = PQexec(connection.get(), sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    std::fprintf(stderr, "%s: %s", sql.c_str(), PQerrorMessage(connection.get()));
    abort();
  }
  PQclear(result);
}

}  // namespace muster::daemon
