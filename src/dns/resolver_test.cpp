#include <tartan/dns/resolver.h>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <tartan/core/post.h>
#include <tartan/time/with_timeout.h>
#include <vector>

#include "dns/resolver_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using detail::record_type;
using dns::address_family;
using test::asked;
using test::both_machines;
using test::examples;
using test::ipv4_one;
using test::ipv4_two;
using test::ipv6_one;
using test::name_server;
using test::place_name;
using test::places_on;
using test::reply;
using test::text_of;
using test::wire16;
using test::wire_name;

class name_look_ups : public test::with_name_server {};
INSTANTIATE_TEST_SUITE_P(on, name_look_ups, testing::ValuesIn(both_machines()), place_name);

TEST_P(name_look_ups, give_both_families_with_their_times_to_live) {
  EXPECT_EQ(addresses("example.org", examples), "[2001:db8::1]:0/60 192.0.2.1:0/300");
  EXPECT_EQ(addresses("EXAMPLE.org.", examples), "[2001:db8::1]:0/60 192.0.2.1:0/300");
  EXPECT_EQ(addresses("four.example.org", examples), "192.0.2.1:0/300");
}

TEST_P(name_look_ups, ask_for_one_family_only_if_told) {
  EXPECT_EQ(addresses("example.org", examples, {}, address_family::ipv4), "192.0.2.1:0/300");
  EXPECT_EQ(addresses("four.example.org", examples, {}, address_family::ipv6), "the name has no record of this type");
}

TEST_P(name_look_ups, tell_what_went_wrong_apart) {
  EXPECT_EQ(addresses("missing.example.org", examples), "no such host");
  EXPECT_EQ(addresses("example.org", [](const asked& q) { return reply{q}; }), "the name has no record of this type");
  EXPECT_EQ(addresses("example.org", [](const asked& q) { return reply{q, 5}; }), "the name server refused to answer");
  EXPECT_EQ(addresses("example.org", [](const asked& q) { return reply{q, 2}; }), "the name server failed");
  EXPECT_EQ(addresses("example.org", [](const asked& q) { return reply{q, 1}; }), "the name server failed");
}

TEST_P(name_look_ups, ask_for_no_name_that_is_none) {
  unsigned questions = 0;
  const auto count = [&](const asked& q) {
    ++questions;
    return reply{q, 3};
  };
  const std::string label(63, 'a');
  for (const std::string& name :
       {std::string{}, std::string{"."}, std::string{"a..b"}, std::string{".a"}, std::string{"a b"},
        std::string{"a\\.b"}, std::string{"caf\xc3\xa9"}, std::string{"*"}, std::string(64, 'a'),
        std::string{"a\0b", 3}, std::string{"1.2.3"}, std::string{"::zz"},
        label + "." + label + "." + label + "." + label, std::string(100'000, '.')}) {
    EXPECT_EQ(addresses(name, count), "not a valid name of a host") << name;
  }
  EXPECT_EQ(questions, 0u);
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_EQ(addresses(longest, count), "no such host");
  EXPECT_EQ(questions, 2u);
}

TEST_P(name_look_ups, know_numbers_and_this_machine_without_asking) {
  unsigned questions = 0;
  const auto count = [&](const asked& q) {
    ++questions;
    return reply{q, 3};
  };
  EXPECT_EQ(addresses("192.0.2.7", count), "192.0.2.7:0/0");
  EXPECT_EQ(addresses("2001:db8::7", count), "[2001:db8::7]:0/0");
  EXPECT_EQ(addresses("192.0.2.7", count, {}, address_family::ipv6), "the name has no record of this type");
  EXPECT_EQ(addresses("localhost", count), "[::1]:0/0 127.0.0.1:0/0");
  EXPECT_EQ(addresses("api.LocalHost.", count, {}, address_family::ipv4), "127.0.0.1:0/0");
  EXPECT_EQ(addresses("secret.onion", count), "no such host");
  EXPECT_EQ(questions, 0u);
}

TEST_P(name_look_ups, follow_aliases_and_keep_the_least_time_to_live) {
  const auto aliases = [](const asked& q) -> name_server::replies {
    if (q.type != record_type::a) return reply{q};
    return reply{q}
        .alias("www.example.org", 100, "Web.example.org")
        .ipv4("stranger.example.org", 5, ipv4_two)
        .alias("web.example.ORG", 30, "host.example.net")
        .ipv4("host.example.net", 200, ipv4_one);
  };
  EXPECT_EQ(addresses("www.example.org", aliases), "192.0.2.1:0/30");
}

TEST_P(name_look_ups, end_when_aliases_do_not) {
  const auto loop = [](const asked& q) -> name_server::replies {
    return reply{q}.alias("a.example.org", 100, "b.example.org").alias("b.example.org", 100, "a.example.org");
  };
  EXPECT_EQ(addresses("a.example.org", loop), "the name server's answer is malformed");
  const auto self = [](const asked& q) -> name_server::replies {
    return reply{q}.alias("a.example.org", 1, "a.example.org");
  };
  EXPECT_EQ(addresses("a.example.org", self), "the name server's answer is malformed");
  const auto nowhere = [](const asked& q) -> name_server::replies {
    return reply{q, 3}.alias("a.example.org", 1, "gone.example.org");
  };
  EXPECT_EQ(addresses("a.example.org", nowhere), "no such host");
}

TEST_P(name_look_ups, go_over_to_tcp_for_a_truncated_answer) {
  unsigned by_tcp = 0;
  const auto large = [&](const asked& q) -> name_server::replies {
    if (q.type != record_type::a) return reply{q};
    if (!q.by_tcp) return reply{q}.truncated();
    ++by_tcp;
    reply all{q};
    for (unsigned n = 0; n < 1000; ++n) all.ipv4("example.org", n, std::string{"\xc0\0", 2} + wire16(n));
    return all;
  };
  std::size_t found = 0;
  ask(large, [&](dns::resolver& names, name_server&) -> task<> {
    const auto got = co_await names.addresses("example.org");
    EXPECT_TRUE(got) << got.error().message();
    if (got) found = got->size();
  });
  EXPECT_EQ(found, 1000u);
  EXPECT_EQ(by_tcp, 1u);
}

TEST_P(name_look_ups, tell_if_the_server_ends_before_it_answers_by_tcp) {
  const auto closing = [](const asked& q) -> name_server::replies {
    if (q.by_tcp) return {""};
    return reply{q}.truncated();
  };
  const std::string got = addresses("example.org", closing);
  EXPECT_TRUE(got == "Connection reset by peer") << got;
}

TEST_P(name_look_ups, have_a_limit_on_records) {
  const auto three = [](const asked& q) -> name_server::replies {
    return reply{q}.ipv4("example.org", 1, ipv4_one).ipv4("example.org", 1, ipv4_one).ipv4("example.org", 1, ipv4_two);
  };
  const auto at_most = [](std::size_t most) {
    return [most](dns::resolver_options& with) { with.most_records = most; };
  };
  EXPECT_EQ(addresses("example.org", three, at_most(3), address_family::ipv4),
            "192.0.2.1:0/1 192.0.2.1:0/1 192.0.2.2:0/1");
  EXPECT_EQ(addresses("example.org", three, at_most(2), address_family::ipv4), "the answer has too many records");
}

TEST_P(name_look_ups, ignore_answers_to_other_questions) {
  const auto forged = [](const asked& q) -> name_server::replies {
    if (q.type != record_type::a) return reply{q};
    asked other = q;
    other.bytes.replace(12, q.bytes.size() - 12, wire_name("attacker.net") + wire16(1) + wire16(1));
    return {reply{q}.ipv4(q.name, 1, ipv4_two).with_id_changed().bytes(),
            reply{other}.ipv4(q.name, 1, ipv4_two).bytes(), "", "?", reply{q}.ipv4(q.name, 9, ipv4_one).bytes()};
  };
  EXPECT_EQ(addresses("example.org", forged), "192.0.2.1:0/9");
}

TEST_P(name_look_ups, find_the_answer_behind_a_flood_of_forged_ones) {
  const auto flood = [](const asked& q) -> name_server::replies {
    name_server::replies all(150, reply{q}.ipv4(q.name, 1, ipv4_two).with_id_changed().bytes());
    all.push_back(reply{q}.ipv4(q.name, 9, ipv4_one).bytes());
    return all;
  };
  EXPECT_EQ(addresses("example.org", flood, {}, address_family::ipv4), "192.0.2.1:0/9");
}

TEST_P(name_look_ups, do_not_ask_again_where_all_servers_have_refused) {
  std::size_t count = 0;
  const auto refusing = [&](const asked& q) {
    ++count;
    return reply{q, 5};
  };
  EXPECT_EQ(addresses(
                "example.org", refusing, [](auto& with) { with.attempts = 8; }, address_family::ipv4),
            "the name server refused to answer");
  EXPECT_EQ(count, 1u);
}

TEST_P(name_look_ups, ask_no_other_server_if_that_would_not_help) {
  unsigned count = 0;
  const auto two = [&](const asked& q) -> name_server::replies {
    ++count;
    return reply{q}.ipv4(q.name, 1, ipv4_one).ipv4(q.name, 1, ipv4_two);
  };
  const auto twice = [&](dns::resolver_options& with) {
    with.servers.push_back(with.servers.front());
    with.most_records = 1;
  };
  EXPECT_EQ(addresses("example.org", two, twice, address_family::ipv4), "the answer has too many records");
  EXPECT_EQ(count, 1u);
}

TEST_P(name_look_ups, ask_the_next_server_if_one_fails) {
  name_server second{rt(), test::here_color, examples};
  const auto failing = [](const asked& q) -> name_server::replies { return reply{q, q.number % 2 == 0 ? 2U : 5U}; };
  std::string got;
  ask(
      failing,
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto found = co_await names.addresses("example.org");
        got = text_of(found);
        second.close();
      },
      [&](dns::resolver_options& with) { with.servers.push_back(second.at()); });
  EXPECT_EQ(got, "[2001:db8::1]:0/60 192.0.2.1:0/300");
}

TEST_P(name_look_ups, ask_the_next_server_if_there_is_none_or_nonsense) {
  name_server second{rt(), test::here_color, examples};
  const auto nonsense = [](const asked& q) -> name_server::replies { return reply{q}.add(q.name, q.type, 1, "xyz"); };
  std::string got;
  ask(
      nonsense,
      [&](dns::resolver& names, name_server& first) -> task<> {
        const auto found = co_await names.addresses("example.org");
        got = text_of(found);
        first.close();  // from now on the port is closed
        const auto again = co_await names.addresses("example.org");
        got += " " + text_of(again);
        second.close();
      },
      [&](dns::resolver_options& with) { with.servers.push_back(second.at()); });
  EXPECT_EQ(got, "[2001:db8::1]:0/60 192.0.2.1:0/300 [2001:db8::1]:0/60 192.0.2.1:0/300");
}

TEST_P(name_look_ups, tell_if_no_server_is_there) {
  std::string got;
  ask(examples, [&](dns::resolver& names, name_server& server) -> task<> {
    server.close();
    const auto found = co_await names.addresses("example.org");
    got = text_of(found);
  });
  EXPECT_EQ(got, "Connection refused");
}

TEST_P(name_look_ups, go_through_the_search_list) {
  const auto lists = [](dns::resolver_options& with) { with.search = {"first.net", "example.org"}; };
  EXPECT_EQ(addresses("four", examples, lists), "192.0.2.1:0/300");
  EXPECT_EQ(addresses("four.", examples, lists), "no such host");
  EXPECT_EQ(addresses("example.org", examples, lists), "[2001:db8::1]:0/60 192.0.2.1:0/300");
  std::vector<std::string> order;
  const auto noting = [&](const asked& q) -> name_server::replies {
    order.push_back(q.name);
    return reply{q, 3};
  };
  addresses("one", noting, lists, address_family::ipv4);
  EXPECT_EQ(order, (std::vector<std::string>{"one.first.net", "one.example.org", "one"}));
  order.clear();
  addresses("one.two", noting, lists, address_family::ipv4);
  EXPECT_EQ(order, (std::vector<std::string>{"one.two", "one.two.first.net", "one.two.example.org"}));
}

TEST_P(name_look_ups, find_mail_servers_services_texts_and_names) {
  const auto serve = [](const asked& q) -> name_server::replies {
    reply all{q};
    switch (q.type) {
      case record_type::mx:
        return all.add(q.name, q.type, 7, wire16(20) + wire_name("b.example.org"))
            .add(q.name, q.type, 8, wire16(10) + wire_name("a.example.org"));
      case record_type::srv:
        return all.add(q.name, q.type, 7, wire16(2) + wire16(3) + wire16(993) + wire_name("b.example.org"))
            .add(q.name, q.type, 8, wire16(1) + wire16(0) + wire16(143) + wire_name(""));
      case record_type::txt:
        return all.add(q.name, q.type, 9, std::string{"\3one\0\3two", 9}).add(q.name, q.type, 9, std::string{"\0", 1});
      case record_type::ptr:
        return q.name == "1.2.0.192.in-addr.arpa" ? all.add(q.name, q.type, 5, wire_name("host.example.org"))
                                                  : reply{q, 3};
      default:
        return reply{q, 3};
    }
  };
  ask(serve, [&](dns::resolver& names, name_server&) -> task<> {
    const auto mail = co_await names.mail_exchangers("example.org");
    EXPECT_TRUE(mail && mail->size() == 2);
    if (mail) {
      EXPECT_EQ(mail->front().host + std::to_string(mail->front().preference), "a.example.org10");
    }
    if (mail) {
      EXPECT_EQ(mail->back().time_to_live, 7s);
    }
    const auto services = co_await names.services("_imap._tcp.example.org");
    EXPECT_TRUE(services && services->size() == 2);
    if (services) {
      EXPECT_EQ(services->front().host, "");
    }
    if (services) {
      EXPECT_EQ(services->back().port + services->back().weight + services->back().priority, 993 + 3 + 2);
    }
    const auto texts = co_await names.texts("example.org");
    EXPECT_TRUE(texts && texts->size() == 2);
    if (texts) {
      EXPECT_EQ(texts->front().bytes + "|" + texts->back().bytes, "onetwo|");
    }
    const auto of = address::parse("192.0.2.1:0").value();
    const auto known = co_await names.names(of);
    EXPECT_TRUE(known && known->size() == 1);
    if (known) {
      EXPECT_EQ(known->front().name, "host.example.org");
    }
    const auto mapped = co_await names.names(address::parse("[::ffff:192.0.2.1]:80").value());
    EXPECT_TRUE(mapped && mapped->size() == 1);
    const auto of_this_machine = co_await names.texts("a.localhost");
    EXPECT_EQ(of_this_machine.error(), dns::errc::no_data);
    const auto hidden = co_await names.mail_exchangers("x.onion.");
    EXPECT_EQ(hidden.error(), dns::errc::no_such_host);
    const auto unknown = co_await names.names(address::parse("[2001:db8::1]:0").value());
    EXPECT_EQ(unknown.error(), dns::errc::no_such_host);
    const auto nowhere = co_await names.names(address{});
    EXPECT_EQ(nowhere.error(), std::errc::address_family_not_supported);
  });
}

// An authority that does not recurse knows only its own zones.
TEST_P(name_look_ups, ask_the_next_server_after_a_referral) {
  const auto refers = [](const asked& q) {
    std::string bytes = reply{q}.bytes();
    bytes[3] = 0;
    return name_server::replies{bytes};
  };
  name_server first{rt(), test::here_color, refers};
  ask(
      examples,
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto found = co_await names.addresses("example.org");
        EXPECT_TRUE(found) << found.error().message();
        EXPECT_GE(first.count(), 1u);
        first.close();
      },
      [&](dns::resolver_options& with) { with.servers.insert(with.servers.begin(), first.at()); });
}

TEST_P(name_look_ups, believe_no_name_with_bytes_that_no_name_has) {
  const auto evil = [](const asked& q) -> name_server::replies {
    return reply{q}.add(q.name, q.type, 5,
                        (q.type == record_type::mx ? wire16(1) : std::string{}) + wire_name("<script>"));
  };
  ask(evil, [&](dns::resolver& names, name_server&) -> task<> {
    const auto known = co_await names.names(address::loopback(0));
    EXPECT_EQ(known.error(), dns::errc::malformed);
    const auto mail = co_await names.mail_exchangers("example.org");
    EXPECT_EQ(mail.error(), dns::errc::malformed);
  });
}

TEST_P(name_look_ups, come_back_to_the_color_that_awaits_them) {
  ask(examples, [&](dns::resolver& names, name_server&) -> task<> {
    const auto found = co_await names.addresses("example.org");
    EXPECT_TRUE(found);
    EXPECT_EQ(current_color(), test::here_color);
  });
}

/// Where time passes: in a simulation.
class slow_name_servers : public test::with_name_server {};
INSTANTIATE_TEST_SUITE_P(on, slow_name_servers, testing::ValuesIn(places_on(test::machine::simulated)), place_name);

TEST_P(slow_name_servers, are_asked_again_if_an_answer_is_lost) {
  const auto lossy = [](const asked& q) { return q.number < 2 ? name_server::replies{} : examples(q); };
  ask(lossy, [&](dns::resolver& names, name_server& server) -> task<> {
    const auto begun = rt().now();
    const auto found = co_await names.addresses("example.org");
    EXPECT_EQ(text_of(found), "[2001:db8::1]:0/60 192.0.2.1:0/300");
    EXPECT_EQ(server.count(), 4u);
    EXPECT_GE(rt().now() - begun, 5s);
    EXPECT_LT(rt().now() - begun, 6s);
  });
}

TEST_P(slow_name_servers, are_given_twice_the_time_each_round_and_then_up) {
  const auto silent = [](const asked&) { return name_server::replies{}; };
  ask(
      silent,
      [&](dns::resolver& names, name_server& server) -> task<> {
        const auto begun = rt().now();
        const auto found = co_await names.addresses("example.org", address_family::ipv4);
        EXPECT_EQ(found.error(), dns::errc::timed_out);
        EXPECT_EQ(server.count(), 3u);
        EXPECT_GE(rt().now() - begun, 700ms);
        EXPECT_LT(rt().now() - begun, 710ms);
      },
      [](dns::resolver_options& with) {
        with.timeout = 100ms;
        with.attempts = 3;
      });
}

TEST_P(slow_name_servers, do_not_hide_what_one_family_has) {
  const auto half = [](const asked& q) { return q.type == record_type::aaaa ? name_server::replies{} : examples(q); };
  EXPECT_EQ(addresses("example.org", half), "192.0.2.1:0/300");
}

TEST_P(slow_name_servers, are_found_through_a_network_that_loses_datagrams) {
  world_with.loss_percent = 5;
  const auto eight = [](dns::resolver_options& with) { with.attempts = 8; };
  for (int n = 0; n < 20; ++n)
    EXPECT_EQ(addresses("four.example.org", examples, eight, address_family::ipv4), "192.0.2.1:0/300");
}

TEST_P(slow_name_servers, may_have_ipv6_addresses) {
  server_at = address::parse("[::1]:0").value();
  const auto by_tcp = [](const asked& q) { return q.by_tcp ? examples(q) : reply{q}.truncated(); };
  EXPECT_EQ(addresses("example.org", by_tcp), "[2001:db8::1]:0/60 192.0.2.1:0/300");
}

TEST_P(slow_name_servers, are_those_of_the_configuration_file) {
  const test::temporary_folder folder;
  std::ofstream{folder / "resolv.conf"} << "nameserver 127.0.0.9\nnameserver 127.0.0.1\nsearch example.org\n"
                                           "options timeout:1\n";
  server_at = address::loopback(53);
  const auto begun = rt().now();
  const auto by_file = [&](dns::resolver_options& with) {
    with.servers.clear();
    with.search.reset();
    with.configuration_file = folder / "resolv.conf";
  };
  name_server silent{rt(), test::here_color, [](const asked&) { return name_server::replies{}; },
                     address::parse("127.0.0.9:53").value()};
  std::string got;
  ask(
      examples,
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto found = co_await names.addresses("four", address_family::ipv4);
        got = text_of(found);
        silent.close();
      },
      by_file);
  EXPECT_EQ(got, "192.0.2.1:0/300");
  EXPECT_GE(rt().now() - begun, 1s);
  EXPECT_LT(rt().now() - begun, 2s);
}

class name_files : public test::with_name_server {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream{folder_ / name, std::ios::trunc} << text;
  }

  test::temporary_folder folder_;
};
INSTANTIATE_TEST_SUITE_P(on, name_files, testing::ValuesIn(both_machines()), place_name);

TEST_P(name_files, give_hosts_and_their_names) {
  write("hosts",
        "# text\n127.0.0.1 localhost\n192.0.2.9\tBox.example.org box # trailing\n2001:db8::9 box\nnonsense "
        "box\n192.0.2.9 box\n");
  ask(
      examples,
      [&](dns::resolver& names, name_server& server) -> task<> {
        const auto found = co_await names.addresses("box");
        EXPECT_EQ(text_of(found), "[2001:db8::9]:0/0 192.0.2.9:0/0");
        const auto other = co_await names.addresses("BOX.example.org.", address_family::ipv4);
        EXPECT_EQ(text_of(other), "192.0.2.9:0/0");
        const auto known = co_await names.names(address::parse("192.0.2.9:80").value());
        EXPECT_TRUE(known && known->size() == 3 && known->front().name == "Box.example.org");
        EXPECT_EQ(server.count(), 0u);
        const auto missing = co_await names.addresses("box.example.org", address_family::ipv6);
        EXPECT_EQ(missing.error(), dns::errc::no_such_host) << "a family that the file lacks is asked for";
        EXPECT_EQ(server.count(), 1u);
      },
      [&](dns::resolver_options& with) { with.hosts_file = folder_ / "hosts"; });
}

TEST_P(name_files, are_read_anew_when_they_have_changed) {
  write("hosts", "192.0.2.9 box\n");
  ask(
      examples,
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto found = co_await names.addresses("box");
        EXPECT_EQ(text_of(found), "192.0.2.9:0/0");
        write("hosts", "192.0.2.10 box\n");
        const auto changed = co_await names.addresses("box");
        EXPECT_EQ(text_of(changed), "192.0.2.10:0/0");
      },
      [&](dns::resolver_options& with) {
        with.hosts_file = folder_ / "hosts";
        with.look_at_files_every = 0ms;
      });
}

}  // namespace
}  // namespace tartan
