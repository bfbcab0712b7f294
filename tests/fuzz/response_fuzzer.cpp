// Responses in whatever pieces they come: what is seen must not depend on where they are cut, nor on whether the pieces
// are in one text or in a chain.
//
// Input: how they are cut and what was asked (a byte), the seed of the pieces (two), and what the server sends.
#include <tartan/buf/chain.h>
#include <tartan/http/body_reader.h>
#include <tartan/http/response_parser.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

/// Without views: to be compared.
struct seen_response {
  http::status status{};
  std::string reason;
  std::string fields;
  body_end body{};
  std::uint64_t content_length = 0;
  std::size_t head_size = 0;
  bool keep_alive = false;
  std::string content;
  bool is_complete = false;

  [[nodiscard]] bool operator==(const seen_response&) const = default;
};

/// Reads one response after the other.
class reader {
 public:
  reader(const response_limits& limits, method asked) : parser_{limits}, body_{limits.body}, asked_{asked} {
    parser_.reset(asked);
  }

  void receive_text(std::string_view bytes) {
    text_.append(bytes);
    while (!is_refused_ && (in_body_ ? take_body() : take_head())) {
    }
  }
  void receive_in_chain(std::string_view bytes) {
    chain_.append(buf::slice::copy_of(bytes));
    while (!is_refused_ && (in_body_ ? take_body_of_chain() : take_head_of_chain())) {
    }
  }

  [[nodiscard]] const std::vector<seen_response>& seen() const noexcept { return seen_; }
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }

 private:
  bool note(response_parser::outcome ended, const response& found) {
    is_refused_ = ended == response_parser::outcome::refused;
    promise(is_refused_ == !parser_.error().empty(), "what is refused has a reason");
    if (ended != response_parser::outcome::complete) return false;
    const auto code = static_cast<unsigned>(found.status);
    promise(code >= 100 && code <= 999, "a status has three digits");
    promise(found.body == body_end::length || found.content_length == 0, "no length but that of a body");
    promise(!found.is_interim() || !found.has_body(), "an interim response has no body");
    seen_.push_back({found.status,
                     std::string{found.reason},
                     std::string{found.fields.text()},
                     found.body,
                     found.content_length,
                     found.head_size,
                     found.keep_alive,
                     {},
                     false});
    body_.begin(found);
    in_body_ = true;
    return true;
  }
  bool end_body(body_reader::outcome ended) {
    promise(body_.is_complete() == (ended == body_reader::outcome::complete), "a body says whether it is complete");
    is_refused_ = ended == body_reader::outcome::refused;
    if (ended != body_reader::outcome::complete) return false;
    seen_.back().is_complete = true;
    in_body_ = false;
    parser_.reset(asked_);
    return true;
  }
  bool take_head() {
    const std::string exact = text_;
    response found;
    const response_parser::outcome ended = parser_.parse(exact, found);
    if (!note(ended, found)) return false;
    promise(exact.substr(0, found.head_size).ends_with("\r\n\r\n"), "a head ends with an empty line");
    text_.erase(0, found.head_size);
    return true;
  }
  bool take_head_of_chain() {
    const std::size_t before = chain_.size();
    response found;
    buf::slice head;
    if (!note(parser_.parse(chain_, head, found), found)) return false;
    promise(head.size() == found.head_size && chain_.size() == before - head.size(), "a head leaves the chain");
    return true;
  }
  bool take_body() {
    const body_reader::taken part = body_.take(text_);
    promise(part.used <= text_.size(), "a body takes no more than there is");
    seen_.back().content.append(part.content);
    text_.erase(0, part.used);
    return part.what == body_reader::outcome::content || end_body(part.what);
  }
  bool take_body_of_chain() {
    buf::chain content;
    const body_reader::outcome ended = body_.take(chain_, content);
    seen_.back().content.append(content.to_string());
    return end_body(ended);
  }

  response_parser parser_;
  body_reader body_;
  method asked_;
  std::string text_;
  buf::chain chain_;
  std::vector<seen_response> seen_;
  bool in_body_ = false;
  bool is_refused_ = false;
};

/// Small ones are reached by short inputs.
response_limits small_limits() {
  response_limits small;
  small.line = 40;
  small.head = 120;
  small.fields = 6;
  small.body = 60;
  return small;
}

}  // namespace

void fuzz_response(std::string_view input) {
  const auto [how, low, high] = take_knobs<3>(input);
  const response_limits limits = (how & 1) != 0 ? small_limits() : response_limits{};
  const method asked = (how & 2) != 0 ? method::head : (how & 4) != 0 ? method::connect : method::get;
  reader at_once{limits, asked};
  at_once.receive_text(input);
  reader in_pieces{limits, asked};
  reader in_chain{limits, asked};
  std::minstd_rand random{low + 256u * high + 1};
  const unsigned longest = input.size() > 1000 ? 200u : 1u + (how >> 3);
  for (std::string_view rest = input; !rest.empty();) {
    const std::string_view piece = rest.substr(0, 1 + random() % longest);
    in_pieces.receive_text(piece);
    in_chain.receive_in_chain(piece);
    rest.remove_prefix(piece.size());
  }
  promise(at_once.seen() == in_pieces.seen() && at_once.is_refused() == in_pieces.is_refused(),
          "what is seen does not depend on the pieces");
  // A head in several slices is refused when its end has come.
  promise(at_once.is_refused() || at_once.seen() == in_chain.seen(), "what is seen in a chain is the same");
}

}  // namespace tartan::http::fuzz
