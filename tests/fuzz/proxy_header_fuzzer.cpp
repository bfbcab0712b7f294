// Headers of the PROXY protocol: one that was understood is understood the same with bytes behind it, and in pieces of what is missing.
//
// Input: the beginning of a connection.

#include <tartan/http/proxy_header.h>

#include <string>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

bool is_same(const proxy_header& a, const proxy_header& b) { return a.what == b.what && a.source == b.source && a.port == b.port && a.size == b.size; }

}  // namespace

void fuzz_proxy_header(std::string_view input) {
  using outcome = proxy_header::outcome;
  const proxy_header whole = parse_proxy_header(input);
  promise(whole.what != outcome::complete || whole.size <= input.size(), "a header ends within what there is");
  promise(whole.what != outcome::incomplete || whole.missing != 0, "of what is incomplete something is missing");
  std::size_t got = 0;
  proxy_header piecewise = parse_proxy_header({});
  while (piecewise.what == outcome::incomplete && got + piecewise.missing <= input.size()) {
    got += piecewise.missing;
    piecewise = parse_proxy_header(input.substr(0, got));
  }
  if (whole.what == outcome::complete) {
    promise(is_same(piecewise, whole), "in pieces it is the same");
    promise(got == whole.size, "who reads what is missing takes nothing behind the header");
    promise(is_same(parse_proxy_header(input.substr(0, whole.size)), whole), "what stands behind it does not count");
  } else {
    promise(piecewise.what != outcome::complete, "in pieces it is no header either");
  }
}

}  // namespace tartan::http::fuzz
