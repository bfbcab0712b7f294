#pragma once
/// C's view of shared.x: what rpcgen's code, with libtirpc, makes of it. Values are made from a seed, in C and in C++ in the same way
/// (shared_values.h).

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Types of shared.x.
enum shared_type {
  type_scalars,
  type_arrays,
  type_answer,
  type_reply,
  type_number,
  type_maybe,
  type_links,
  type_tree,
  type_all,
  type_label,
  type_grid,
  type_times,
  shared_types
};

/// Encodes the value of a seed; gives its bytes, or -1.
long rpcgen_encode(enum shared_type type, uint64_t seed, unsigned char* into, size_t room);

/// Decodes a value and encodes it anew; gives its bytes, or -1 if it can't be decoded.
long rpcgen_recode(enum shared_type type, const unsigned char* from, size_t bytes, unsigned char* into, size_t room);

#ifdef __cplusplus
}
#endif
