/* Makes values of shared.x in C, and has rpcgen's functions encode and decode them. */
#include "rpcgen_values.h"

#include <stdlib.h>
#include <string.h>

#include "shared_rpc.h"

/* The numbers of a seed: splitmix64, as in shared_values.h. */
typedef struct {
  uint64_t state;
} numbers;

static uint64_t next(numbers* from) {
  uint64_t z = from->state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

static unsigned below(numbers* from, unsigned end) { return (unsigned)(next(from) % end); }

static char* make_text(numbers* from, unsigned most) {
  const unsigned size = below(from, most + 1);
  char* text = malloc(size + 1);
  for (unsigned n = 0; n < size; ++n) text[n] = (char)('a' + below(from, 26));
  text[size] = '\0';
  return text;
}

static void fill(numbers* from, char* bytes, unsigned size) {
  for (unsigned n = 0; n < size; ++n) bytes[n] = (char)below(from, 256);
}

static void make_opaque(numbers* from, unsigned most, u_int* size, char** bytes) {
  *size = below(from, most + 1);
  *bytes = malloc(*size + 1);
  fill(from, *bytes, *size);
}

static shared_mood make_mood(numbers* from) {
  static const shared_mood all[] = {SHARED_CALM, SHARED_BUSY, SHARED_LATE, SHARED_SOUR};
  return all[below(from, 4)];
}

static void make_scalars(numbers* from, shared_scalars* to) {
  to->i = (int)next(from);
  to->u = (u_int)next(from);
  to->h = (quad_t)next(from);
  to->uh = next(from);
  to->f = (float)(int)next(from) / 8;
  to->d = (double)(int64_t)next(from) / 1024;
  to->b = below(from, 2) != 0;
  to->m = make_mood(from);
}

static void make_label(numbers* from, shared_label* to) { *to = make_text(from, SHARED_NAME); }

static void make_grid(numbers* from, shared_grid* to) {
  for (int n = 0; n < SHARED_FEW; ++n) (*to)[n] = (int)next(from);
}

static void make_times(numbers* from, shared_times* to) {
  to->shared_times_len = below(from, 5);
  to->shared_times_val = calloc(to->shared_times_len + 1, sizeof(quad_t));
  for (u_int n = 0; n < to->shared_times_len; ++n) to->shared_times_val[n] = (quad_t)next(from);
}

static void make_arrays(numbers* from, shared_arrays* to) {
  make_label(from, &to->label);
  to->line = make_text(from, 100);
  fill(from, to->tag, 5);
  make_opaque(from, 9, &to->note.note_len, &to->note.note_val);
  make_opaque(from, 5000, &to->blob.blob_len, &to->blob.blob_val);
  fill(from, to->digest, 10);
  make_grid(from, &to->grid);
  make_times(from, &to->times);
  to->names.names_len = below(from, 5);
  to->names.names_val = calloc(to->names.names_len + 1, sizeof(shared_label));
  for (u_int n = 0; n < to->names.names_len; ++n) make_label(from, &to->names.names_val[n]);
  for (int n = 0; n < 2; ++n) to->moods[n] = make_mood(from);
  to->flags.flags_len = below(from, 6);
  to->flags.flags_val = calloc(to->flags.flags_len + 1, sizeof(bool_t));
  for (u_int n = 0; n < to->flags.flags_len; ++n) to->flags.flags_val[n] = below(from, 2) != 0;
  to->shares.shares_len = below(from, 3);
  to->shares.shares_val = calloc(to->shares.shares_len + 1, sizeof(double));
  for (u_int n = 0; n < to->shares.shares_len; ++n) to->shares.shares_val[n] = (double)(int64_t)next(from) / 1024;
  for (int n = 0; n < 2; ++n) to->counts[n] = next(from);
}

static void make_answer(numbers* from, shared_answer* to) {
  to->m = make_mood(from);
  if (to->m == SHARED_CALM) make_scalars(from, &to->shared_answer_u.scalars);
  if (to->m == SHARED_BUSY || to->m == SHARED_LATE) to->shared_answer_u.wait = (u_int)next(from);
}

static void make_reply(numbers* from, shared_reply* to) {
  static const int all[] = {0, -7, 3};
  to->status = all[below(from, 3)];
  if (to->status == -7) make_label(from, &to->shared_reply_u.why);
  if (to->status == 0 && below(from, 2) != 0) {
    to->shared_reply_u.yes = calloc(1, sizeof(shared_answer));
    make_answer(from, to->shared_reply_u.yes);
  }
}

static void make_number(numbers* from, shared_number* to) {
  static const u_int all[] = {4, 4000000000U, 17};
  to->size = all[below(from, 3)];
  if (to->size == 4) to->shared_number_u.word = (int)next(from);
  if (to->size == 4000000000U) to->shared_number_u.wide = (quad_t)next(from);
  if (to->size == 17) make_opaque(from, 40, &to->shared_number_u.raw.raw_len, &to->shared_number_u.raw.raw_val);
}

static void make_maybe(numbers* from, shared_maybe* to) {
  to->is_there = below(from, 2) != 0;
  if (to->is_there) to->shared_maybe_u.text = make_text(from, 50);
}

static void make_list(numbers* from, shared_link** to) {
  for (unsigned left = below(from, 5); left > 0; --left) {
    *to = calloc(1, sizeof(shared_link));
    (*to)->value = (int)next(from);
    make_label(from, &(*to)->name);
    to = &(*to)->next;
  }
}

static void make_links(numbers* from, shared_links* to) {
  make_list(from, &to->first);
  to->between = (u_int)next(from);
  make_list(from, &to->second);
}

static void make_tree_of(numbers* from, shared_tree* to, unsigned depth) {
  to->value = (int)next(from);
  if (depth > 0 && below(from, 3) != 0) make_tree_of(from, to->left = calloc(1, sizeof(shared_tree)), depth - 1);
  if (depth > 0 && below(from, 3) != 0) make_tree_of(from, to->right = calloc(1, sizeof(shared_tree)), depth - 1);
}

static void make_tree(numbers* from, shared_tree* to) { make_tree_of(from, to, 4); }

static void make_all(numbers* from, shared_all* to) {
  to->answers.answers_len = below(from, 4);
  to->answers.answers_val = calloc(to->answers.answers_len + 1, sizeof(shared_answer));
  for (u_int n = 0; n < to->answers.answers_len; ++n) make_answer(from, &to->answers.answers_val[n]);
  make_reply(from, &to->reply);
  for (int n = 0; n < 2; ++n) make_number(from, &to->numbers[n]);
  make_maybe(from, &to->maybe);
  make_links(from, &to->links);
  if (below(from, 2) != 0) make_tree(from, to->tree = calloc(1, sizeof(shared_tree)));
  make_arrays(from, &to->arrays);
}

static long encode(xdrproc_t with, void* value, unsigned char* into, size_t room) {
  XDR to;
  xdrmem_create(&to, (char*)into, (u_int)room, XDR_ENCODE);
  const long bytes = with(&to, value) ? (long)xdr_getpos(&to) : -1;
  xdr_destroy(&to);
  return bytes;
}

/* xdr_free wants all of a value to be there. */
#define FOR_TYPE(type, xdr)                                                       \
  case type_##type: {                                                             \
    shared_##type value;                                                          \
    memset(&value, 0, sizeof value);                                              \
    if (from == NULL) {                                                           \
      make_##type(&seeded, &value);                                               \
    } else if (!((xdrproc_t)xdr)(&reader, &value) || xdr_getpos(&reader) != bytes) { \
      xdr_free((xdrproc_t)xdr, (char*)&value);                                    \
      return -1;                                                                  \
    }                                                                             \
    const long size = encode((xdrproc_t)xdr, &value, into, room);                 \
    xdr_free((xdrproc_t)xdr, (char*)&value);                                      \
    return size;                                                                  \
  }

static long write_value(enum shared_type type, uint64_t seed, const unsigned char* from, size_t bytes, unsigned char* into,
                        size_t room) {
  numbers seeded = {seed};
  XDR reader;
  xdrmem_create(&reader, (char*)from, (u_int)bytes, XDR_DECODE);
  switch (type) {
    FOR_TYPE(scalars, xdr_shared_scalars)
    FOR_TYPE(arrays, xdr_shared_arrays)
    FOR_TYPE(answer, xdr_shared_answer)
    FOR_TYPE(reply, xdr_shared_reply)
    FOR_TYPE(number, xdr_shared_number)
    FOR_TYPE(maybe, xdr_shared_maybe)
    FOR_TYPE(links, xdr_shared_links)
    FOR_TYPE(tree, xdr_shared_tree)
    FOR_TYPE(all, xdr_shared_all)
    FOR_TYPE(label, xdr_shared_label)
    FOR_TYPE(grid, xdr_shared_grid)
    FOR_TYPE(times, xdr_shared_times)
    default:
      return -1;
  }
}

long rpcgen_encode(enum shared_type type, uint64_t seed, unsigned char* into, size_t room) {
  return write_value(type, seed, NULL, 0, into, room);
}

long rpcgen_recode(enum shared_type type, const unsigned char* from, size_t bytes, unsigned char* into, size_t room) {
  return write_value(type, 0, from, bytes, into, room);
}
