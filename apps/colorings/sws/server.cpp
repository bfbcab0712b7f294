#include "colorings/sws/server.h"

#include <tartan/core/post.h>
#include <unistd.h>

#include <utility>

#include "colorings/common/continue_in.h"

namespace colorings {

server::server(tartan::runtime& rt, const settings& with)
    : door_{tartan::tcp::listen(rt, with.listen, {.color = door})}, pages_{with.root, with.cache_bytes}, most_clients_{with.max_clients} {}

void server::accept_next() {
  accepts_ = true;
  door_.accept(door, [this](tartan::result<tartan::tcp::stream> peer) { accepted(std::move(peer)); });
}

void server::accepted(tartan::result<tartan::tcp::stream> peer) {
  if (!peer) return;
  accepts_ = false;
  ++clients_;
  tartan::post(epoll, [this, descriptor = peer->release()] { register_descriptor(descriptor); });
  if (clients_ < most_clients_) accept_next();
}

void server::register_descriptor(int descriptor) {
  tartan::result<tartan::tcp::stream> peer = tartan::tcp::stream::from_fd(descriptor, tartan::color{descriptor});
  if (!peer) {
    ::close(descriptor);
    tartan::post(door, [this] { client_has_gone(); });
    return;
  }
  owned_client c = std::make_unique<client>(std::move(*peer));
  continue_in(c->color(), *this, &server::read_request, std::move(c));
}

void server::read_request(owned_client c) {
  client& of = *c;
  of.peer.read_some(of.room(), [this, c = std::move(c)](tartan::result<std::size_t> got) mutable { request_read(std::move(c), got); });
}

void server::request_read(owned_client c, tartan::result<std::size_t> got) {
  if (!got) return close(std::move(c));
  c->add(*got);
  parse_request(std::move(c));
}

void server::parse_request(owned_client c) {
  switch (c->parse()) {
    case next_step::read:
      return read_request(std::move(c));
    case next_step::look_up:
      return check_in_cache(std::move(c));
    case next_step::write:
      return write_response(std::move(c));
    case next_step::close:
      return close(std::move(c));
  }
}

void server::check_in_cache(owned_client c) {
  web::shared_page page = pages_.find(c->path());
  const tartan::http::status code = page != nullptr ? tartan::http::status::ok : tartan::http::status::not_found;
  c->answer(code, std::move(page));
  write_response(std::move(c));
}

void server::write_response(owned_client c) {
  client& of = *c;
  of.peer.write(of.parts(), [this, c = std::move(c)](tartan::result<std::size_t> sent) mutable { response_written(std::move(c), sent); });
}

void server::response_written(owned_client c, tartan::result<std::size_t> sent) {
  if (!sent) return close(std::move(c));
  parse_request(std::move(c));
}

void server::close(owned_client c) {
  c.reset();
  tartan::post(door, [this] { client_has_gone(); });
}

void server::client_has_gone() {
  --clients_;
  if (!accepts_) accept_next();
}

}  // namespace colorings
