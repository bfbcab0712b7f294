#include "load/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace load {
namespace {

command_line parse(std::vector<const char*> words) {
  words.insert(words.begin(), "tartan-load");
  return read_command_line(static_cast<int>(words.size()), words.data());
}

/// What is said of it on standard error.
std::string refusal(const std::vector<const char*>& words) {
  testing::internal::CaptureStderr();
  const command_line got = parse(words);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(got.exit_status, 2);
  EXPECT_FALSE(got.http || got.make_set);
  return said;
}

TEST(the_command_line, needs_no_more_than_a_url) {
  const command_line got = parse({"http", "--url", "http://127.0.0.1/"});
  ASSERT_TRUE(got.http);
  EXPECT_EQ(got.http->load.clients, 200u);
  EXPECT_EQ(got.http->load.requests_per_connection, 0u);
  EXPECT_EQ(got.http->load.seconds, 2);
  EXPECT_EQ(got.http->load.warm_up, 0.5);
  EXPECT_EQ(got.http->workers, 1u);
  EXPECT_EQ(got.http->command, (std::vector<std::string>{"tartan-load", "http", "--url", "http://127.0.0.1/"}));
}

TEST(the_command_line, takes_every_option) {
  const command_line got = parse({"http", "--url", "http://a/", "--url", "http://b/", "--clients", "5", "--requests-per-connection", "6", "--requests",
                                  "7", "--warm-up", "0.25", "--rate", "8.5", "--timeout", "9", "--pause-read", "10", "--workers", "2", "--server", "11",
                                  "--server", "12", "--json", "-", "--progress", "--seed", "13", "--header", "Host: a", "--header", "X:"});
  ASSERT_TRUE(got.http);
  const load_settings& load = got.http->load;
  EXPECT_EQ(load.urls, (std::vector<std::string>{"http://a/", "http://b/"}));
  EXPECT_EQ(load.headers, (std::vector<std::string>{"Host: a", "X:"}));
  EXPECT_EQ(load.clients, 5u);
  EXPECT_EQ(load.requests_per_connection, 6u);
  EXPECT_EQ(load.requests, 7u);
  EXPECT_EQ(load.warm_up, 0.25);
  EXPECT_EQ(load.rate, 8.5);
  EXPECT_EQ(load.timeout, 9);
  EXPECT_EQ(parse({"http", "--url", "http://a/", "--rate", "0"}).http->load.rate, 0);
  EXPECT_EQ(parse({"http", "--url", "http://a/", "--rate", "0.001"}).http->load.rate, 0.001);
  EXPECT_EQ(load.pause_read, 10u);
  EXPECT_EQ(load.seed, 13u);
  EXPECT_EQ(got.http->workers, 2u);
  EXPECT_EQ(got.http->servers, (std::vector<pid_t>{11, 12}));
  EXPECT_EQ(got.http->json, "-");
  EXPECT_TRUE(got.http->progress);
}

TEST(the_command_line, makes_a_seed_up_that_is_another_each_time) {
  const auto seed = [] { return parse({"http", "--url", "http://a/"}).http->load.seed; };
  EXPECT_FALSE(seed() == seed() && seed() == seed());
}

TEST(the_command_line, reads_the_body_and_the_set) {
  const tartan::test::temporary_folder folder;
  const std::string body = (folder / "body").string();
  std::ofstream{body} << "text";
  EXPECT_EQ(parse({"http", "--url", "http://a/", "--body", body.c_str()}).http->load.body, "text");
  make_set(folder.path().string(), specweb99_set(36, 0, 4));
  EXPECT_EQ(parse({"http", "--url", "http://a/", "--set", folder.path().c_str()}).http->load.set, specweb99_set(36, 0, 4));
  EXPECT_THROW(static_cast<void>(parse({"http", "--url", "http://a/", "--body", "/nowhere/at/all"})), std::runtime_error);
  EXPECT_THROW(static_cast<void>(parse({"http", "--url", "http://a/", "--set", "/nowhere/at/all"})), std::runtime_error);
}

TEST(the_command_line, has_a_master_and_those_who_join_him) {
  const command_line master = parse({"http", "--url", "http://a/", "--master", "127.0.0.1:1", "--injectors", "3"});
  ASSERT_TRUE(master.http);
  EXPECT_EQ(master.http->master, "127.0.0.1:1");
  EXPECT_EQ(master.http->injectors, 3u);
  const command_line other = parse({"http", "--join", "127.0.0.1:1"});
  ASSERT_TRUE(other.http);
  EXPECT_EQ(other.http->join, "127.0.0.1:1");
}

TEST(the_command_line, describes_the_set_to_make) {
  const command_line plain = parse({"make-set", "/x"});
  ASSERT_TRUE(plain.make_set);
  EXPECT_EQ(plain.make_set->folder, "/x");
  EXPECT_EQ(plain.make_set->what, specweb99_set(720, 0, 1));
  const command_line flat = parse({"make-set", "/x", "--shape", "flat", "--files", "700", "--file-bytes", "123", "--seed", "2"});
  ASSERT_TRUE(flat.make_set);
  EXPECT_EQ(flat.make_set->what.shape, set_shape::flat);
  EXPECT_EQ(flat.make_set->what.files, 700u);
  EXPECT_EQ(flat.make_set->what.file_bytes, 123u);
  EXPECT_EQ(flat.make_set->what.seed, 2u);
  EXPECT_EQ(parse({"make-set", "/x", "--files", "720", "--bytes", "10000000"}).make_set->what.files, 72u);
}

TEST(the_command_line, that_is_wrong_is_refused_with_one_line) {
  const std::vector<const char*> url{"http", "--url", "http://a/"};
  const auto with = [&url](std::vector<const char*> more) {
    std::vector<const char*> all = url;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const std::vector<const char*>& words : {std::vector<const char*>{}, {"ftp"}, {"http"}, {"make-set"}, with({"--clients", "0"}),
                                                with({"--clients", "-1"}),
                                                with({"--clients", "x"}), with({"--seconds", "nan"}), with({"--seconds", "1", "--requests", "1"}),
                                                with({"--rate", "-1"}), with({"--rate", "1e-300"}), with({"--rate", "0.0009"}), with({"--rate", "1e8"}),
                                                with({"--server", "0"}), with({"--timeout", "0"}), with({"--nonsense"}),
                                                with({"--header", "X"}), with({"--header", "X\nY: z"}), with({"--header", "Upgrade: h2c"}),
                                                with({"--header", "Host: a", "--header", "hosT: b"}),
                                                with({"--master", "a:1"}), with({"--injectors", "2"}), with({"--set", "a", "--body", "b"}),
                                                with({"--join", "a:1", "--master", "a:1", "--injectors", "1"}),
                                                {"make-set", "/x", "--shape", "round"}, {"make-set", "/x", "--files", "0"}}) {
    const std::string said = refusal(words);
    EXPECT_TRUE(said.starts_with("tartan-load: ") && said.find('\n') == said.size() - 1) << said;
  }
}

TEST(the_command_line, with_a_wrong_url_or_place_is_refused_with_its_reason) {
  EXPECT_EQ(
      refusal({"http", "--url", "http://a/", "--url", "http://b:65616/"}),
      "tartan-load: --url: 'http://b:65616/': port 65616 is above 65535, the highest port (see tartan-load --help)\n");
  EXPECT_EQ(refusal({"http", "--url", "http://a/", "--master", "127.0.0.1:65536", "--injectors", "1"}),
            "tartan-load: --master: '127.0.0.1:65536': port 65536 is above 65535, the highest port (see tartan-load "
            "--help)\n");
  EXPECT_EQ(
      refusal({"http", "--join", "[::1]:74536"}),
      "tartan-load: --join: '[::1]:74536': port 74536 is above 65535, the highest port (see tartan-load --help)\n");
  EXPECT_EQ(refusal({"http", "--join", "127.0.0.1:0"}),
            "tartan-load: --join: '127.0.0.1:0': port 0 cannot be connected to: ports are 1 to 65535 (see tartan-load "
            "--help)\n");
  EXPECT_TRUE(parse({"http", "--url", "http://a/", "--master", "127.0.0.1:0", "--injectors", "1"}).http)
      << "port 0: any free one";
}

TEST(the_command_line, prints_the_help_that_is_asked_for) {
  testing::internal::CaptureStdout();
  const command_line got = parse({"http", "--help"});
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(got.exit_status, 0);
  EXPECT_FALSE(got.http || got.make_set);
  EXPECT_NE(said.find("tartan-load http"), std::string::npos);
  EXPECT_NE(said.find("--requests-per-connection"), std::string::npos);
  EXPECT_NE(said.find("Exit status: 0 if"), std::string::npos);
}

}  // namespace
}  // namespace load
