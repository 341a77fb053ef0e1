#include "path/scopes.h"

#include <gtest/gtest.h>

#include <map>

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

class ScopesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(add_call_paths(&fresh_.file(), {.plane_bytes = 0})); }
  static ObjectIdentity program(const char* path) {
    ObjectIdentity identity;
    identity.path = path;
    return identity;
  }
  [[nodiscard]] std::string name_of(uint32_t unit) {
    const Pool pool = fresh_.file().pool();
    const auto* text = pool_at<StringRecord>(pool, pool_at<ScopeRecord>(pool, unit)->name);
    return {reinterpret_cast<const char*>(text + 1), text->bytes};
  }
  [[nodiscard]] std::string thread_of(uint32_t unit) {
    const auto* scope = pool_at<ScopeRecord>(fresh_.file().pool(), unit);
    EXPECT_EQ(scope->kind, ScopeKind::kThread);
    const char* name = reinterpret_cast<const char*>(scope) + offsetof(ScopeRecord, device);
    return {name, strnlen(name, kThreadNameBytes)};
  }
  [[nodiscard]] unsigned count() {
    unsigned scopes = 0;
    const Pool pool = fresh_.file().pool();
    for (uint32_t unit = fresh_.file().header().scopes; unit != 0;
         unit = pool_at<ScopeRecord>(pool, unit)->next)
      ++scopes;
    return scopes;
  }

  FreshFile fresh_;
};

TEST_F(ScopesTest, AProgramIsOneScopeHoweverOftenItIsAskedFor) {
  Scopes scopes(&fresh_.file());
  const uint32_t a = scopes.scope_of(program("/bin/a")), b = scopes.scope_of(program("/bin/b"));
  EXPECT_NE(a, b);
  EXPECT_EQ(scopes.scope_of(program("/bin/a")), a);
  EXPECT_EQ(name_of(a), "/bin/a");
  EXPECT_EQ(count(), 2u);
}

TEST_F(ScopesTest, ThreadsOfOneNameInOneProgramAreOneScope) {
  Scopes scopes(&fresh_.file());
  const uint32_t a = scopes.program_of(program("/bin/a")), b = scopes.program_of(program("/bin/b"));
  const uint32_t worker = scopes.scope_of_thread(a, "worker");
  EXPECT_EQ(scopes.scope_of_thread(a, "worker"), worker);
  EXPECT_NE(scopes.scope_of_thread(b, "worker"), worker);
  EXPECT_NE(scopes.scope_of_thread(a, "sixteen bytes!!!"), worker);
  EXPECT_EQ(name_of(worker), "/bin/a");
  EXPECT_EQ(thread_of(worker), "worker");
  EXPECT_EQ(thread_of(scopes.scope_of_thread(a, "sixteen bytes!!!")), "sixteen bytes!!!");
  EXPECT_EQ(name_of(scopes.scope_of_thread(0, "worker")), "");
  EXPECT_EQ(count(), 4u);
}

TEST_F(ScopesTest, WhatComesBehindTheBoundIsOneScope) {
  Scopes programs(&fresh_.file(), 3);
  std::map<uint32_t, int> units;
  for (const char* path : {"/1", "/2", "/3", "/4", "/5", "/1", "/5"})
    ++units[programs.scope_of(program(path))];
  ASSERT_EQ(units.size(), 4u);
  EXPECT_EQ(units[programs.scope_of(program("/1"))], 2);
  EXPECT_EQ(units[programs.scope_of(program("/6"))], 3);
  EXPECT_EQ(name_of(programs.scope_of(program("/6"))), "(others)");

  Scopes threads(&fresh_.file(), 2);
  const uint32_t a = threads.program_of(program("/a"));
  for (const char* name : {"one", "two", "three", "four"}) threads.scope_of_thread(a, name);
  EXPECT_EQ(threads.scope_of_thread(a, "three"), threads.scope_of_thread(a, "four"));
  EXPECT_EQ(thread_of(threads.scope_of_thread(a, "five")), "(others)");
  EXPECT_EQ(thread_of(threads.scope_of_thread(a, "two")), "two");

  Scopes groups(&fresh_.file(), 1);
  groups.scope_of_group("/a");
  EXPECT_EQ(name_of(groups.scope_of_group("/b")), "(others)");
  EXPECT_EQ(name_of(groups.scope_of_group("/a")), "/a");
}

TEST_F(ScopesTest, FourThousandAndNinetySixAreTheBound) {
  Scopes scopes(&fresh_.file());
  const uint32_t a = scopes.program_of(program("/bin/a"));
  std::map<uint32_t, int> units;
  for (int i = 0; i < 5000; ++i) ++units[scopes.scope_of_thread(a, "t" + std::to_string(i))];
  EXPECT_FALSE(units.contains(0)) << "there is room for all";
  EXPECT_EQ(units.size(), 4097u);
  EXPECT_EQ(count(), 4097u);
  EXPECT_EQ(units[scopes.scope_of_thread(a, "t4095")], 1);
  EXPECT_EQ(units[scopes.scope_of_thread(a, "t4096")], 5000 - 4096);
  EXPECT_EQ(thread_of(scopes.scope_of_thread(a, "t4999")), "(others)");
}

TEST_F(ScopesTest, FiveHundredThreadNamesAreFiveHundredScopes) {
  Scopes scopes(&fresh_.file());
  const uint32_t a = scopes.program_of(program("/bin/a"));
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 0; i < 500; ++i) EXPECT_NE(scopes.scope_of_thread(a, "thread-" + std::to_string(i)), 0u);
  EXPECT_EQ(count(), 500u);
}

}  // namespace
}  // namespace pctally
