#include "colorings/serial/server.h"

#include <tartan/core/blocking.h>
#include <tartan/core/post.h>

#include <utility>

namespace colorings {

server::server(tartan::runtime& rt, const settings& with)
    : door_{tartan::tcp::listen(rt, with.listen)},
      root_{open_root(with.root)},
      pages_{{with.cache_bytes, with.cache_bytes / 512}} {}

void server::accept_next() {
  door_.accept(door, [this](tartan::result<tartan::tcp::stream> peer) { accepted(std::move(peer)); });
}

void server::accepted(tartan::result<tartan::tcp::stream> peer) {
  if (!peer) return;
  read_request(std::make_unique<client>(std::move(*peer)));
  accept_next();
}

void server::read_request(owned_client c) {
  client& of = *c;
  of.peer.read_some(of.room(), [this, c = std::move(c)](tartan::result<std::size_t> got) mutable { request_read(std::move(c), got); });
}

void server::request_read(owned_client c, tartan::result<std::size_t> got) {
  if (!got) return;  // it has gone
  c->add(*got);
  parse_request(std::move(c));
}

void server::parse_request(owned_client c) {
  switch (c->parse()) {
    case next_step::read:
      return read_request(std::move(c));
    case next_step::look_up:
      return check_page_cache(std::move(c));
    case next_step::write:
      return write_response(std::move(c));
    case next_step::close:
      return;
  }
}

void server::check_page_cache(owned_client c) {
  const web::page_cache::entry* const known = pages_.find(c->path());
  if (known == nullptr) return hash_prefixes(std::move(c));
  c->answer(tartan::http::status::ok, known->content);
  write_response(std::move(c));
}

void server::hash_prefixes(owned_client c) {
  c->prefixes = path_prefixes{c->path()};
  check_handle_cache(std::move(c));
}

void server::check_handle_cache(owned_client c) {
  c->from = handles_.longest(c->prefixes, root_);
  read_file(std::move(c));
}

void server::read_file(owned_client c) {
  const client& of = *c;
  tartan::blocking(tartan::color{}, [this, &of] { return load_file(of.prefixes, of.from, root_); },
                   [this, c = std::move(c)](tartan::result<loaded_file> file) mutable { file_read(std::move(c), std::move(file)); });
}

void server::file_read(owned_client c, tartan::result<loaded_file> file) {
  c->file = file ? std::move(*file) : loaded_file{tartan::http::status::unavailable, nullptr, {}};
  keep_handles(std::move(c));
}

void server::keep_handles(owned_client c) {
  handles_.put(c->prefixes, c->file.handles);
  keep_page(std::move(c));
}

void server::keep_page(owned_client c) {
  if (c->file.page) pages_.put(c->path(), c->file.page, {});
  c->answer(c->file.code, std::move(c->file.page));
  c->forget_file();
  write_response(std::move(c));
}

void server::write_response(owned_client c) {
  client& of = *c;
  of.peer.write(of.parts(), [this, c = std::move(c)](tartan::result<std::size_t> sent) mutable { response_written(std::move(c), sent); });
}

void server::response_written(owned_client c, tartan::result<std::size_t> sent) {
  if (sent) parse_request(std::move(c));
}

}  // namespace colorings
