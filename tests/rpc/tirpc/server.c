/* The program JUDGE, served by libtirpc over TCP, UDP and a Unix socket.
 *
 *     rpc_judge_server <path of the Unix socket>
 *
 * Prints "tcp <port> udp <port>" once it serves, and ends when its input does. It is registered nowhere. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <rpc/rpc.h>
#include <rpc/svc_dg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "judge.h"

void judge_1(struct svc_req* request, SVCXPRT* transport);
void judge_2(struct svc_req* request, SVCXPRT* transport);

void* judge_null_1_svc(void* none, struct svc_req* request) {
  static char nothing;
  (void)none, (void)request;
  return &nothing;
}

content* judge_echo_1_svc(content* given, struct svc_req* request) {
  (void)request;
  return given;
}

everything* judge_count_1_svc(everything* given, struct svc_req* request) {
  (void)request;
  for (everything* each = given; each != NULL; each = each->next) ++each->count;
  return given;
}

int* judge_fail_1_svc(failure* what, struct svc_req* request) {
  static int given;
  SVCXPRT* const to = request->rq_xprt;
  switch (*what) {
    case NO_MEMORY:
      svcerr_systemerr(to);
      return NULL;
    case BAD_ARGUMENTS:
      svcerr_decode(to);
      return NULL;
    case NO_PROCEDURE:
      svcerr_noproc(to);
      return NULL;
    case NO_PROGRAM:
      svcerr_noprog(to);
      return NULL;
    case TOO_WEAK:
      svcerr_weakauth(to);
      return NULL;
    case BAD_CREDENTIALS:
      svcerr_auth(to, AUTH_BADCRED);
      return NULL;
    case OTHER_VERSIONS:
      svcerr_progvers(to, 3, 7);
      return NULL;
  }
  given = *what;
  return &given;
}

caller* judge_who_1_svc(void* none, struct svc_req* request) {
  static caller seen;
  static char nobody[] = "";
  (void)none;
  memset(&seen, 0, sizeof seen);
  seen.flavor = (u_int)request->rq_cred.oa_flavor;
  seen.machine = nobody;
  if (request->rq_cred.oa_flavor == AUTH_SYS) {
    const struct authunix_parms* const user = (const struct authunix_parms*)request->rq_clntcred;
    seen.machine = user->aup_machname;
    seen.user = user->aup_uid;
    seen.group = user->aup_gid;
    seen.groups.groups_len = user->aup_len;
    seen.groups.groups_val = user->aup_gids;
  }
  return &seen;
}

void* judge_null_2_2_svc(void* none, struct svc_req* request) {
  return judge_null_1_svc(none, request);
}

int* judge_add_2_svc(pair* given, struct svc_req* request) {
  static int sum;
  (void)request;
  sum = given->first + given->second;
  return &sum;
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int bound(int type, struct sockaddr* at, socklen_t size) {
  const int made = socket(at->sa_family, type, 0);
  if (made < 0 || bind(made, at, size) != 0) fail("bind");
  if (type == SOCK_STREAM && listen(made, 16) != 0) fail("listen");
  return made;
}

static int bound_to_loopback(int type, unsigned* port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  const int made = bound(type, (struct sockaddr*)&at, size);
  if (getsockname(made, (struct sockaddr*)&at, &size) != 0) fail("getsockname");
  *port = ntohs(at.sin_port);
  return made;
}

static void serve(SVCXPRT* transport) {
  if (transport == NULL || !svc_reg(transport, JUDGE, JUDGE_V1, judge_1, NULL) ||
      !svc_reg(transport, JUDGE, JUDGE_V2, judge_2, NULL)) {
    fprintf(stderr, "libtirpc refuses to serve\n");
    exit(1);
  }
}

/* svc_run() that ends with the input. */
static void run(void) {
  for (;;) {
    struct pollfd all[1024] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    const int count = svc_max_pollfd;
    if (count + 1 > 1024) fail("too many connections");
    memcpy(all + 1, svc_pollfd, sizeof all[0] * (size_t)count);
    const int ready = poll(all, (nfds_t)count + 1, -1);
    if (all[0].revents != 0) return;
    svc_getreq_poll(all + 1, ready);
  }
}

int main(int count, char** arguments) {
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  unsigned tcp = 0, udp = 0;
  if (count != 2 || strlen(arguments[1]) >= sizeof local.sun_path) return 2;
  strcpy(local.sun_path, arguments[1]);
  signal(SIGPIPE, SIG_IGN);
  serve(svc_vc_create(bound_to_loopback(SOCK_STREAM, &tcp), 0, 0));
  serve(svc_dg_create(bound_to_loopback(SOCK_DGRAM, &udp), 0, 0));
  serve(svc_vc_create(bound(SOCK_STREAM, (struct sockaddr*)&local, sizeof local), 0, 0));
  printf("tcp %u udp %u\n", tcp, udp);
  fflush(stdout);
  run();
  return 0;
}
