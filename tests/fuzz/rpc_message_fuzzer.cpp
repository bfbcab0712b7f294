// Heads of RPC messages: what is read has one form only, and does not depend on where the message is cut into slices.
//
// Input: the seed of the slices (a byte), and a message.
#include <tartan/buf/chain.h>
#include <tartan/rpc/auth.h>

#include <random>
#include <string>

#include "fuzz_target.h"
#include "rpc/message.h"

namespace tartan::http::fuzz {

namespace {

template <class Header>
void check_form(const Header& head, const rpc::message_head& read, std::string_view message) {
  buf::chain written;
  rpc::write(written, head);
  promise(written.size() == rpc::size_of(head), "a head's size is known before it is written");
  promise(written.to_string() == message.substr(0, read.bytes), "a head has one form");
}

void check_user(const rpc::opaque_auth& auth) {
  promise(auth.body.size() <= auth.body.max, "a body has 400 bytes at most");
  const auto user = rpc::sys_credentials_of(auth);
  promise(!user || rpc::to_auth(*user) == auth, "a user has one form");
}

}  // namespace

void fuzz_rpc_message(std::string_view input) {
  const auto [seed] = take_knobs<1>(input);
  buf::chain whole;
  whole.append(input);
  const rpc::message_head read = rpc::read_head(whole.slices());
  promise(read.bytes <= input.size(), "a head takes no more than there is");
  if (const auto* const call = std::get_if<rpc::call_header>(&read.what)) {
    check_form(*call, read, input);
    check_user(call->credentials);
  } else if (const auto* const reply = std::get_if<rpc::reply_header>(&read.what)) {
    check_form(*reply, read, input);
  }
  std::minstd_rand random{seed + 1u};
  buf::chain cut;
  for (std::string_view rest = input; !rest.empty();) {
    const std::string_view piece = rest.substr(0, 1 + random() % 9);
    cut.append(buf::slice::copy_of(piece));
    rest.remove_prefix(piece.size());
  }
  const rpc::message_head again = rpc::read_head(cut.slices());
  promise(again.what == read.what && again.bytes == read.bytes, "what is read does not depend on the slices");
}

}  // namespace tartan::http::fuzz
