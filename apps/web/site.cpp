#include "web/site.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "common/one_line.h"

namespace web {

namespace {

/// Each of so many has as much. What workers keep is the libraries' too, but for what those had to give up meanwhile.
cache_limits share_of(const cache_limits& all, std::size_t among) noexcept { return {all.bytes / among + 1, all.entries}; }

/// With more hosts each has fewer shelves, so that a shelf is as large as before: as many workers may look something up at once. Four are left, of many.
/// A page that no worker can keep would need a visit for each request, and one that it can keep alone would cost it all others.
library_settings share_of(library_settings all, std::size_t hosts, std::size_t workers) noexcept {
  all.most_living = 2 * all.cache.bytes / hosts;
  all.largest_page = std::min(all.largest_page, all.cache.bytes / (4 * hosts * workers));
  all.shelves = std::max<std::size_t>(4, all.shelves / hosts);
  all.cache = {all.cache.bytes / hosts, all.cache.entries / hosts};
  all.open_files /= hosts;
  return all;
}

}  // namespace

site::site(tartan::runtime& rt, const web::settings& with, tartan::apps::line_log* to,
           const std::shared_ptr<tartan::semaphore>& sweeps, const std::shared_ptr<shortage>& told)
    : runtime{rt}, settings{with}, log{to}, stores{rt, share_of(with.pages.cache, rt.workers() * with.hosts.size()), with.hosts.size()} {
  for (const host_settings& each : with.hosts) {
    try {
      const library_settings kept = share_of(with.pages, with.hosts.size(), rt.workers());
      hosts_.push_back(std::make_unique<host>(rt, each, kept, hosts_.size(), sweeps, told));
    } catch (const std::system_error& wrong) {
      throw std::runtime_error{each.root_at.text + wrong.what()};
    }
    for (const std::string& name : each.names) by_name_.emplace(name, hosts_.back().get());
  }
}

void site::check_folders() const {
  for (std::size_t n = 0; n < hosts_.size(); ++n) {
    try {
      hosts_[n]->root.check();
      if (hosts_[n]->root.is_still_there()) continue;
      std::fprintf(stderr, "tartan-web: the user cannot follow the path '%s': another folder there will not be seen, nor can SIGHUP read it\n",
                   tartan::apps::one_line(settings.hosts[n].root).c_str());
    } catch (const std::system_error& wrong) {
      throw std::runtime_error{settings.hosts[n].root_at.text + wrong.what()};
    }
  }
}

bool site::is_as(const web::settings& with) const noexcept {
  return settings == with && std::all_of(hosts_.begin(), hosts_.end(), [](const std::unique_ptr<host>& has) { return has->root.is_still_there(); });
}

host& site::host_of(std::string_view name) noexcept {
  host& first = *hosts_.front();
  if (hosts_.size() == 1) return first;
  const std::size_t end = name.starts_with('[') ? name.find(']') + 1 : std::min(name.find(':'), name.size());
  const auto found = by_name_.find(http::lower_name{name.substr(0, end)}.text());
  return found == by_name_.end() ? first : *found->second;
}

}  // namespace web
