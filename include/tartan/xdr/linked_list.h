#pragma once
/// Lists that XDR describes as a chain of pointers.

#include <utility>
#include <vector>

namespace tartan::xdr {

/// `struct T { ...; T *next; }; T *first;`: a std::vector of T without its last member. On the wire each element has a
/// word 1 in front, and a word 0 ends the list.
///
/// Limits: as many elements as the message holds; decoded in a loop.
template <class T>
struct linked_list : std::vector<T> {
  using std::vector<T>::vector;
  linked_list() = default;
  linked_list(std::vector<T> from) noexcept : std::vector<T>{std::move(from)} {}
};

}  // namespace tartan::xdr
