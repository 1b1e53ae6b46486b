/* What the notifier calls of libcurl, in programs that need nothing of the machine but glibc: the machine's own is loaded
   when the first of these is called, with the certificates that it trusts. Where there is none, no handle is made. An
   option's value is a long, a curl_off_t or a pointer, which are passed alike on 64-bit Linux. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

static void* find(const char* name) {
  static void* library;
  if (library == NULL) {
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  }
  return library == NULL ? NULL : dlsym(library, name);
}

#define FOUND(name) __typeof__(&name) const function = (__typeof__(&name))(size_t)find(#name)

CURLcode curl_global_init(long flags) {
  FOUND(curl_global_init);
  return function == NULL ? CURLE_FAILED_INIT : function(flags);
}

CURL* curl_easy_init(void) {
  FOUND(curl_easy_init);
  return function == NULL ? NULL : function();
}

CURLcode curl_easy_setopt(CURL* curl, CURLoption option, ...) {
  FOUND(curl_easy_setopt);
  va_list values;
  va_start(values, option);
  void* const value = va_arg(values, void*);
  va_end(values);
  return function == NULL ? CURLE_FAILED_INIT : function(curl, option, value);
}

CURLcode curl_easy_getinfo(CURL* curl, CURLINFO info, ...) {
  FOUND(curl_easy_getinfo);
  va_list values;
  va_start(values, info);
  void* const place = va_arg(values, void*);
  va_end(values);
  return function == NULL ? CURLE_FAILED_INIT : function(curl, info, place);
}

CURLcode curl_easy_perform(CURL* curl) {
  FOUND(curl_easy_perform);
  return function == NULL ? CURLE_FAILED_INIT : function(curl);
}

void curl_easy_cleanup(CURL* curl) {
  FOUND(curl_easy_cleanup);
  if (function != NULL) {
    function(curl);
  }
}

const char* curl_easy_strerror(CURLcode code) {
  FOUND(curl_easy_strerror);
  return function == NULL ? "this machine has no libcurl.so.4" : function(code);
}

struct curl_slist* curl_slist_append(struct curl_slist* list, const char* text) {
  FOUND(curl_slist_append);
  return function == NULL ? NULL : function(list, text);
}

void curl_slist_free_all(struct curl_slist* list) {
  FOUND(curl_slist_free_all);
  if (function != NULL) {
    function(list);
  }
}
