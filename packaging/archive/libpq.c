/* What stores on PostgreSQL call of libpq, in programs that need nothing of the machine but glibc: the library is loaded
   when the first of these is called. Debian's archive of it lacks what it is made of. */
#include <dlfcn.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

static void* find(const char* name) {
  static void* library;
  if (library == NULL) {
    library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  }
  void* const function = library == NULL ? NULL : dlsym(library, name);
  if (function == NULL) {
    fprintf(stderr,
            "a store on PostgreSQL needs libpq.so.5 of version 14 or later: install it (libpq5 or libpq), or use the "
            "store in the state directory\n");
    _exit(EX_UNAVAILABLE);
  }
  return function;
}

#define FOUND(name)                                    \
  static __typeof__(&name) function;                   \
  if (function == NULL) {                              \
    function = (__typeof__(&name))(size_t)find(#name); \
  }
#define GIVES(type, name, parameters, arguments) \
  type name parameters {                         \
    FOUND(name)                                  \
    return function arguments;                   \
  }
#define DOES(name, parameters, arguments) \
  void name parameters {                  \
    FOUND(name)                           \
    function arguments;                   \
  }

DOES(PQclear, (PGresult* result), (result))
DOES(PQconninfoFree, (PQconninfoOption* options), (options))
DOES(PQfinish, (PGconn* connection), (connection))
DOES(PQfreemem, (void* memory), (memory))
GIVES(PostgresPollingStatusType, PQconnectPoll, (PGconn* connection), (connection))
GIVES(PGconn*, PQconnectStartParams, (const char* const* keywords, const char* const* values, int expand),
      (keywords, values, expand))
GIVES(PQconninfoOption*, PQconninfoParse, (const char* text, char** error), (text, error))
GIVES(int, PQconsumeInput, (PGconn* connection), (connection))
GIVES(int, PQenterPipelineMode, (PGconn* connection), (connection))
GIVES(char*, PQerrorMessage, (const PGconn* connection), (connection))
GIVES(int, PQexitPipelineMode, (PGconn* connection), (connection))
GIVES(int, PQflush, (PGconn* connection), (connection))
GIVES(PGresult*, PQgetResult, (PGconn* connection), (connection))
GIVES(int, PQgetisnull, (const PGresult* result, int row, int column), (result, row, column))
GIVES(int, PQgetlength, (const PGresult* result, int row, int column), (result, row, column))
GIVES(char*, PQgetvalue, (const PGresult* result, int row, int column), (result, row, column))
GIVES(int, PQisBusy, (PGconn* connection), (connection))
GIVES(PGnotify*, PQnotifies, (PGconn* connection), (connection))
GIVES(int, PQntuples, (const PGresult* result), (result))
GIVES(const char*, PQparameterStatus, (const PGconn* connection, const char* name), (connection, name))
GIVES(int, PQpipelineSync, (PGconn* connection), (connection))
GIVES(char*, PQresultErrorField, (const PGresult* result, int field), (result, field))
GIVES(char*, PQresultErrorMessage, (const PGresult* result), (result))
GIVES(ExecStatusType, PQresultStatus, (const PGresult* result), (result))
GIVES(int, PQsendFlushRequest, (PGconn* connection), (connection))
GIVES(int, PQsendPrepare, (PGconn* connection, const char* name, const char* query, int count, const Oid* types),
      (connection, name, query, count, types))
GIVES(int, PQsendQuery, (PGconn* connection, const char* query), (connection, query))
GIVES(int, PQsendQueryParams,
      (PGconn* connection, const char* query, int count, const Oid* types, const char* const* values,
       const int* lengths, const int* formats, int format),
      (connection, query, count, types, values, lengths, formats, format))
GIVES(int, PQsendQueryPrepared,
      (PGconn* connection, const char* name, int count, const char* const* values, const int* lengths,
       const int* formats, int format),
      (connection, name, count, values, lengths, formats, format))
GIVES(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn* connection, PQnoticeProcessor processor, void* argument),
      (connection, processor, argument))
GIVES(int, PQsetnonblocking, (PGconn* connection, int nonblocking), (connection, nonblocking))
GIVES(int, PQsocket, (const PGconn* connection), (connection))
GIVES(ConnStatusType, PQstatus, (const PGconn* connection), (connection))
GIVES(PGTransactionStatusType, PQtransactionStatus, (const PGconn* connection), (connection))
