#pragma once

// A PostgreSQL server of this test program's own: on a unix socket in a temporary directory, as an
// ordinary user, gone with the program.
//
// Thread promise: one test's thread. Invariant: each database is empty when it is given out.

#include <sys/types.h>

#include <string>

namespace muster::daemon {

class PostgresServer {
 public:
  // The one of this program, started at first use.
  static PostgresServer& Shared();
  // Its directory is made and it is started; the program ends where that is impossible.
  PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // The URL of a database that nobody else has. `options` follow "CREATE DATABASE NAME".
  std::string MakeDatabase(const std::string& options = "");
  // The URL of the database of that name, as that user.
  [[nodiscard]] std::string UrlOf(const std::string& database,
                                  const std::string& user = "muster") const;
  // Runs SQL in a database, as its superuser.
  void Run(const std::string& url, const std::string& sql) const;
  void Start();
  void Stop();

 private:
  std::string directory_;
  std::string programs_;
  pid_t pid_ = 0;
  int databases_ = 0;
};

}  // namespace muster::daemon
