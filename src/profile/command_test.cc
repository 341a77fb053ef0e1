#include "profile/command.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

TEST(Command, WordsThatAShellReadsOtherwiseAreQuoted) {
  for (const char* plain : {"a", "a.pct", "/tmp/é_1-2+3,4:5%6@7", "-e", "a=b"})
    EXPECT_EQ(shell_word(plain), plain);
  for (const char* read_otherwise : {"", "a b", "a{1,2}", "a!b", "a^b", "=ls", "a\rb", "$x", "~", "#", "*"})
    EXPECT_EQ(shell_word(read_otherwise), "'" + std::string(read_otherwise) + "'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace pctally
