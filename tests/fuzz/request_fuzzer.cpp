// Requests in whatever pieces they come: what is seen must not depend on where they are cut.
//
// Input: how they are cut (a byte), the seed of the pieces (two), and what the client sends.
#include <algorithm>
#include <random>

#include "conversation.h"
#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

/// Small ones are reached by short inputs.
request_limits small_limits() {
  request_limits small;
  small.line = 40;
  small.head = 120;
  small.fields = 6;
  small.body = 60;
  return small;
}

std::size_t piece_size(unsigned how, std::minstd_rand& random) {
  switch (how) {
    case 0:
      return 1;
    case 1:
      return 1 + random() % 3;
    case 2:
      return 1 + random() % 16;
    default:
      return 1 + random() % 200;
  }
}

}  // namespace

void fuzz_request(std::string_view input) {
  const auto [how, low, high] = take_knobs<3>(input);
  const request_limits limits = (how & 4) != 0 ? small_limits() : request_limits{};
  conversation at_once{limits};
  at_once.receive(input);
  conversation in_pieces{limits};
  std::minstd_rand random{low + 256u * high + 1};
  // Each piece is parsed with a copy of all that has come: bytes one by one only of what is short.
  const unsigned sizes = input.size() > 1000 ? std::max(2u, how & 3u) : how & 3u;
  for (std::string_view rest = input; !rest.empty();) {
    const std::string_view piece = rest.substr(0, piece_size(sizes, random));
    in_pieces.receive(piece);
    rest.remove_prefix(piece.size());
  }
  promise(at_once.seen() == in_pieces.seen(), "what is seen does not depend on the pieces");
}

}  // namespace tartan::http::fuzz
