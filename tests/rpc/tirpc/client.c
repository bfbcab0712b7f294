/* Calls the program JUDGE with libtirpc, and checks the answers.
 *
 *     rpc_judge_client tcp|udp <port on 127.0.0.1>
 *     rpc_judge_client unix <path>
 *
 * Prints what is wrong, and ends with the line "<n> passed, <n> failed". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rpc/rpc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "judge.h"

static const struct timeval patience = {20, 0};
static int passed, failed;

static void check(int good, const char* what) {
  if (good) {
    ++passed;
  } else {
    ++failed;
    printf("wrong: %s\n", what);
  }
}

static CLIENT* connected(const char* kind, const char* where, unsigned program, unsigned version) {
  struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  struct netbuf to = {.maxlen = sizeof inet, .len = sizeof inet, .buf = &inet};
  const int is_local = strcmp(kind, "unix") == 0;
  const int is_datagram = strcmp(kind, "udp") == 0;
  if (is_local) {
    strncpy(local.sun_path, where, sizeof local.sun_path - 1);
    to = (struct netbuf){.maxlen = sizeof local, .len = sizeof local, .buf = &local};
  } else {
    inet.sin_port = htons((unsigned short)atoi(where));
  }
  const int made = socket(is_local ? AF_UNIX : AF_INET, is_datagram ? SOCK_DGRAM : SOCK_STREAM, 0);
  if (connect(made, (struct sockaddr*)to.buf, to.len) != 0) {
    perror("connect");
    exit(1);
  }
  CLIENT* const client = is_datagram ? clnt_dg_create(made, &to, program, version, 0, 0)
                                     : clnt_vc_create(made, &to, program, version, 0, 0);
  if (client == NULL) {
    clnt_pcreateerror("libtirpc");
    exit(1);
  }
  clnt_control(client, CLSET_TIMEOUT, (char*)&patience);
  clnt_control(client, CLSET_FD_CLOSE, NULL);
  return client;
}

static void check_echo(CLIENT* over, u_int most) {
  static char bytes[300001];
  for (u_int n = 0; n < most; ++n) bytes[n] = (char)(n * 7 + n / 256);
  const u_int sizes[] = {0, 1, 2, 3, 4, 5, 400, 1023, 4096, 8000, 65536, 300001};
  for (size_t n = 0; n < sizeof sizes / sizeof sizes[0] && sizes[n] <= most; ++n) {
    content given = {sizes[n], bytes};
    content got = {0, NULL};
    const enum clnt_stat status = clnt_call(over, JUDGE_ECHO, (xdrproc_t)xdr_content, (char*)&given,
                                            (xdrproc_t)xdr_content, (char*)&got, patience);
    check(status == RPC_SUCCESS && got.content_len == given.content_len &&
              (given.content_len == 0 || memcmp(got.content_val, bytes, given.content_len) == 0),
          "echo");
    xdr_free((xdrproc_t)xdr_content, (char*)&got);
  }
}

static int same_everything(const everything* a, const everything* b, u_int more) {
  if (a == NULL || b == NULL) return a == b;
  return a->number == b->number && a->count + more == b->count && a->place == b->place && a->total == b->total &&
         a->ratio == b->ratio && a->weight == b->weight && a->is_there == b->is_there && a->how == b->how &&
         a->form.how == b->form.how && (a->form.how != BUSY || a->form.shape_u.until == b->form.shape_u.until) &&
         (a->form.how != SOUR || strcmp(a->form.shape_u.why, b->form.shape_u.why) == 0) &&
         strcmp(a->name, b->name) == 0 && memcmp(a->tag, b->tag, sizeof a->tag) == 0 &&
         a->blob.content_len == b->blob.content_len &&
         (a->blob.content_len == 0 || memcmp(a->blob.content_val, b->blob.content_val, a->blob.content_len) == 0) &&
         a->marks.marks_len == b->marks.marks_len &&
         (a->marks.marks_len == 0 ||
          memcmp(a->marks.marks_val, b->marks.marks_val, a->marks.marks_len * sizeof(int)) == 0) &&
         memcmp(a->grid, b->grid, sizeof a->grid) == 0 && same_everything(a->next, b->next, more);
}

static void check_structs(CLIENT* over) {
  char name[NAME_MAX_BYTES + 1] = {0};
  memset(name, 'n', NAME_MAX_BYTES);
  int marks[8] = {1, -1, 2147483647, -2147483647 - 1, 0, 7, 8, 9};
  everything third = {.name = "", .how = CALM};
  everything second = {
      .number = -5, .count = 1, .name = "second", .how = BUSY, .form = {BUSY, {.until = ~0ULL}}, .next = &third};
  everything first = {.number = -2147483647 - 1,
                      .count = 4000000000U,
                      .place = -1,
                      .total = 0x0102030405060708ULL,
                      .ratio = 0.1F,
                      .weight = -1e300,
                      .is_there = TRUE,
                      .how = SOUR,
                      .form = {SOUR, {.why = "lemons"}},
                      .name = name,
                      .tag = {0, -1, 2, 3, 4},
                      .blob = {7, "\0\1\2\3\4\5\6"},
                      .marks = {8, marks},
                      .grid = {0, 1, 0xffffffff},
                      .next = &second};
  everything got;
  memset(&got, 0, sizeof got);
  const enum clnt_stat status = clnt_call(over, JUDGE_COUNT, (xdrproc_t)xdr_everything, (char*)&first,
                                          (xdrproc_t)xdr_everything, (char*)&got, patience);
  check(status == RPC_SUCCESS, "count");
  check(status == RPC_SUCCESS && same_everything(&first, &got, 1), "the struct with everything");
  xdr_free((xdrproc_t)xdr_everything, (char*)&got);
}

/* Calls a procedure that fails, and gives how. */
static struct rpc_err failure_of(CLIENT* over, rpcproc_t procedure, int argument) {
  struct rpc_err error;
  int got = 0;
  memset(&error, 0, sizeof error);
  error.re_status =
      clnt_call(over, procedure, (xdrproc_t)xdr_int, (char*)&argument, (xdrproc_t)xdr_int, (char*)&got, patience);
  if (error.re_status != RPC_SUCCESS) clnt_geterr(over, &error);
  return error;
}

static void check_failures(CLIENT* over) {
  check(failure_of(over, JUDGE_FAIL, NO_MEMORY).re_status == RPC_SYSTEMERROR, "SYSTEM_ERR");
  check(failure_of(over, JUDGE_FAIL, BAD_ARGUMENTS).re_status == RPC_CANTDECODEARGS, "GARBAGE_ARGS");
  check(failure_of(over, JUDGE_FAIL, NO_PROCEDURE).re_status == RPC_PROCUNAVAIL, "PROC_UNAVAIL by a procedure");
  check(failure_of(over, JUDGE_FAIL, NO_PROGRAM).re_status == RPC_PROGUNAVAIL, "PROG_UNAVAIL by a procedure");
  struct rpc_err error = failure_of(over, JUDGE_FAIL, TOO_WEAK);
  check(error.re_status == RPC_AUTHERROR && error.re_why == AUTH_TOOWEAK, "AUTH_TOOWEAK");
  error = failure_of(over, JUDGE_FAIL, BAD_CREDENTIALS);
  check(error.re_status == RPC_AUTHERROR && error.re_why == AUTH_BADCRED, "AUTH_BADCRED");
  check(failure_of(over, 77, 0).re_status == RPC_PROCUNAVAIL, "PROC_UNAVAIL");
  check(failure_of(over, JUDGE_COUNT, 1).re_status == RPC_CANTDECODEARGS, "GARBAGE_ARGS of arguments that are cut");
}

static void check_missing(const char* kind, const char* where) {
  CLIENT* client = connected(kind, where, JUDGE, 9);
  struct rpc_err error = failure_of(client, 0, 0);
  check(error.re_status == RPC_PROGVERSMISMATCH && error.re_vers.low == 1 && error.re_vers.high == 2, "PROG_MISMATCH");
  clnt_destroy(client);
  client = connected(kind, where, JUDGE + 1, 1);
  check(failure_of(client, 0, 0).re_status == RPC_PROGUNAVAIL, "PROG_UNAVAIL");
  clnt_destroy(client);
}

static int who(CLIENT* over, caller* got) {
  memset(got, 0, sizeof *got);
  return clnt_call(over, JUDGE_WHO, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_caller, (char*)got, patience) ==
         RPC_SUCCESS;
}

static void check_users(CLIENT* over) {
  caller got;
  check(who(over, &got) && got.flavor == AUTH_NONE && got.groups.groups_len == 0, "a caller without credentials");
  xdr_free((xdrproc_t)xdr_caller, (char*)&got);
  gid_t groups[16] = {4, 24, 27, 30, 46, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 4000000000U};
  AUTH* const before = over->cl_auth;
  over->cl_auth = authunix_create("host.example", 1000, 100, 16, groups);
  check(who(over, &got) && got.flavor == AUTH_SYS && strcmp(got.machine, "host.example") == 0 && got.user == 1000 &&
            got.group == 100 && got.groups.groups_len == 16 &&
            memcmp(got.groups.groups_val, groups, sizeof groups) == 0,
        "a caller with AUTH_SYS");
  xdr_free((xdrproc_t)xdr_caller, (char*)&got);
  auth_destroy(over->cl_auth);
  over->cl_auth = before;
}

/* libtirpc's batching: calls whose replies nobody waits for. It skips them when it waits for a later one. */
static void check_batch(CLIENT* over) {
  const struct timeval none = {0, 0};
  for (int n = 0; n < 100; ++n) {
    content given = {4, "1234"};
    clnt_call(over, JUDGE_ECHO, (xdrproc_t)xdr_content, (char*)&given, (xdrproc_t)NULL, NULL, none);
  }
  check(clnt_call(over, JUDGE_NULL, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, patience) == RPC_SUCCESS,
        "a call behind a batch");
}

static void check_version_2(const char* kind, const char* where) {
  CLIENT* const client = connected(kind, where, JUDGE, JUDGE_V2);
  pair given = {40, 2};
  int sum = 0;
  check(clnt_call(client, JUDGE_NULL_2, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, patience) == RPC_SUCCESS,
        "null of version 2");
  check(clnt_call(client, JUDGE_ADD, (xdrproc_t)xdr_pair, (char*)&given, (xdrproc_t)xdr_int, (char*)&sum, patience) ==
                RPC_SUCCESS &&
            sum == 42,
        "add of version 2");
  clnt_destroy(client);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  signal(SIGPIPE, SIG_IGN);
  alarm(100);
  const char* const kind = arguments[1];
  const char* const where = arguments[2];
  const int is_datagram = strcmp(kind, "udp") == 0;
  CLIENT* const client = connected(kind, where, JUDGE, JUDGE_V1);
  check(clnt_call(client, JUDGE_NULL, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, patience) == RPC_SUCCESS,
        "null");
  check_echo(client, is_datagram ? 8000 : 300001);
  check_structs(client);
  check_failures(client);
  check_users(client);
  if (!is_datagram) check_batch(client);
  clnt_destroy(client);
  check_version_2(kind, where);
  check_missing(kind, where);
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
