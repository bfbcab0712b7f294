#include "common/privileges.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace tartan::apps {
namespace {

TEST(privileges, are_of_a_user_that_there_is) {
  const passwd* const own = ::getpwuid(::geteuid());
  ASSERT_NE(own, nullptr);
  EXPECT_NO_THROW(check_user(own->pw_name));
  EXPECT_THROW(check_user("no such user"), std::invalid_argument);
  try {
    become("no such user");
    FAIL();
  } catch (const std::invalid_argument& wrong) {
    EXPECT_EQ(std::string{wrong.what()}, "there is no user 'no such user'");
  }
}

}  // namespace
}  // namespace tartan::apps
