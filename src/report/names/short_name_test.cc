#include "report/names/short_name.h"

#include <gtest/gtest.h>

#include <string>

#include "object/elf/demangle.h"

namespace pctally {
namespace {

TEST(ShortName, Cxx) {
  const std::pair<const char*, const char*> kNames[] = {
      {"main", "main"},
      {"deep::outermost(int)", "deep::outermost"},
      {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"},
      {"std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, Stat, "
       "std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > "
       ">::operator[](std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >&&)",
       "std::map::operator[]"},
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_append(char "
       "const*, unsigned long)",
       "std::string::_M_append"},
      {"std::__1::vector<int>::size() const", "std::vector::size"},
      {"std::_V2::error_category::equivalent(int, std::error_condition const&) const",
       "std::error_category::equivalent"},
      {"(anonymous namespace)::put(int)", "(anonymous namespace)::put"},
      {"a::b::name[abi:cxx11](int) const", "a::b::name"},
      {"deep::outermost(int) [clone .isra.0] [clone .cold]", "deep::outermost"},
      {"non-virtual thunk to A::f()", "A::f"},
      {"put(std::vector<int>)@plt", "put@plt"},
  };
  for (const auto& [full, expected] : kNames) EXPECT_EQ(short_name(full), expected);
}

TEST(ShortName, ReturnTypesAreLeftOut) {
  EXPECT_EQ(short_name("void put<int>(int)"), "put");
  EXPECT_EQ(short_name("unsigned long ns::put<int>(int)"), "ns::put");
  EXPECT_EQ(short_name("std::enable_if<(a > b), int>::type f<int>(int)"), "f");
  EXPECT_EQ(short_name("decltype ((fp.f)()) g<int>(int)"), "g");
  EXPECT_EQ(short_name("int (anonymous namespace)::put<int>(int)"), "(anonymous namespace)::put");
  EXPECT_EQ(short_name("char const* std::find<char const*>(char const*)"), "std::find");
}

TEST(ShortName, Operators) {
  EXPECT_EQ(short_name("bool std::operator< <char>(std::pair<int, char> const&)"), "std::operator<");
  EXPECT_EQ(short_name("std::basic_ostream<char>& std::operator<< <std::char_traits<char> >(int)"),
            "std::operator<<");
  EXPECT_EQ(short_name("A<int>::operator()(int) const"), "A::operator()");
  EXPECT_EQ(short_name("A::operator->() const"), "A::operator->");
  EXPECT_EQ(short_name("A<int>::operator std::vector<int>() const"), "A::operator std::vector");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_name("operator delete[](void*)"), "operator delete[]");
  EXPECT_EQ(short_name("A::operators(int)"), "A::operators");
  EXPECT_EQ(short_name("f<&(operator< (int, int))>(int)"), "f");
}

TEST(ShortName, LocalThings) {
  EXPECT_EQ(short_name("main::{lambda(int, char)#1}::operator()(int, char) const"),
            "main::{lambda#1}::operator()");
  EXPECT_EQ(short_name("run(std::vector<int> const&) const::{lambda()#2}::operator()() const"),
            "run::{lambda#2}::operator()");
  EXPECT_EQ(short_name("run(int)::Local::go()"), "run::Local::go");
}

TEST(ShortName, Rust) {
  EXPECT_EQ(short_name("<core::hash::sip::Hasher<S> as core::hash::Hasher>::write"),
            "core::hash::sip::Hasher::write");
  EXPECT_EQ(short_name("hashbrown::rustc_entry::<impl hashbrown::map::HashMap<K,V,S,A>>::rustc_entry"),
            "hashbrown::map::HashMap::rustc_entry");
  EXPECT_EQ(short_name("core::fmt::num::<impl core::fmt::Display for u32>::fmt"), "core::fmt::Display::fmt");
  EXPECT_EQ(short_name("<T as core::convert::Into<U>>::into"), "core::convert::Into::into");
  EXPECT_EQ(short_name("std::mem::align_of::<f64>"), "std::mem::align_of");
  EXPECT_EQ(short_name("<alloc::vec::Vec<u8>>::push"), "alloc::vec::Vec::push");
  EXPECT_EQ(short_name("app::run::{{closure}}"), "app::run::{{closure}}");
  EXPECT_EQ(short_name("<&mut I as core::iter::Iterator>::next"), "core::iter::Iterator::next");
}

TEST(ShortName, DetailTellsLookAlikesApart) {
  const char* name =
      "void ns::put<std::vector<int, std::allocator<int> > >(std::vector<int, std::allocator<int> "
      "> const&, long) [clone .cold]";
  EXPECT_EQ(short_name(name, NameDetail::kBare), "ns::put");
  EXPECT_EQ(short_name(name, NameDetail::kClone), "ns::put.cold");
  EXPECT_EQ(short_name(name, NameDetail::kArguments), "ns::put(std::vector const&, long).cold");
  EXPECT_EQ(short_name(name, NameDetail::kTemplates), "ns::put<std::vector<int>>.cold");
  EXPECT_EQ(short_name(name, NameDetail::kBoth),
            "ns::put<std::vector<int>>(std::vector<int> const&, long).cold");
  EXPECT_EQ(short_name(name, NameDetail::kFull), name);
  EXPECT_EQ(short_name("put(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
                       NameDetail::kArguments),
            "put(std::string)");
}

TEST(ShortName, WhatCannotBeTakenApartStays) {
  for (const char* name : {"[sort+0x1200]", "<lambda(int)>", "void (*f<int>(int))(char)", "f<", "f(",
                           "a<b(c>d)", "", " ", "(", "f]", "f<int", "::", "<>", "operator", "f(int))"}) {
    SCOPED_TRACE(name);
    EXPECT_LE(short_name(name).size(), std::string(name).size());
  }
  EXPECT_EQ(short_name("[sort+0x1200]"), "[sort+0x1200]");
  EXPECT_EQ(short_name("void (*f<int>(int))(char)"), "void (*f<int>(int))(char)");
  EXPECT_EQ(short_name("f<"), "f<");
}

TEST(ShortName, DeepNamesTakeBoundedTime) {
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "a<";
  deep += "int" + std::string(2000, '>');
  for (NameDetail detail : {NameDetail::kBare, NameDetail::kTemplates, NameDetail::kBoth})
    EXPECT_LE(short_name("f<" + deep + ">(" + deep + ")", detail).size(), 20000u);
}

TEST(ShortName, OfRealSymbols) {
  EXPECT_EQ(short_name(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi")), "std::vector::push_back");
  EXPECT_EQ(short_name(demangle("_ZN4deep9outermostEi.cold")), "deep::outermost");
  EXPECT_EQ(short_name(demangle("_ZN2fr3hot17h9569c2f8630b1c53E")), "fr::hot");
  EXPECT_EQ(short_name(demangle("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc")),
            "std::operator<<");
  EXPECT_EQ(short_name(demangle("_RINvNtC3std3mem8align_ofdE")), "std::mem::align_of");
}

TEST(ShortName, OfDebugInformation) {
  EXPECT_EQ(short_function_name("sort<__gnu_cxx::__normal_iterator<long int*, std::vector<long int> > >", ""),
            "sort");
  EXPECT_EQ(short_function_name("operator()<long int, int>", ""), "operator()");
  const char* of_perf =
      "std::__sort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, long>";
  EXPECT_EQ(short_function_name(of_perf, ""), "std::__sort_loop");
  EXPECT_EQ(short_function_name(of_perf, "", NameDetail::kTemplates),
            short_function_name(std::string("void ").append(of_perf).append("(int*, long)"), "_Z1x",
                                NameDetail::kTemplates));
  EXPECT_EQ(short_function_name("ns::C<unsigned int>::run", ""), "ns::C::run");
  EXPECT_EQ(short_function_name("a<b>.c", ""), "a<b>.c");
  EXPECT_EQ(short_function_name("operator>", ""), "operator>");
  EXPECT_EQ(short_function_name("<lambda(int)>", ""), "<lambda(int)>");
  EXPECT_EQ(short_function_name("LazyCompile:~f<x>", ""), "LazyCompile:~f<x>");
  EXPECT_EQ(short_function_name("put(int)", "_Z3puti"), "put");
}

TEST(ShortName, OfAnExportKeepsWhereTheFunctionStarts) {
  EXPECT_EQ(short_function_name("work [0x1170]", "work"), "work [0x1170]");
  EXPECT_EQ(short_function_name("ns::put(int) [0x1170]", "_ZN2ns3putEi"), "ns::put [0x1170]");
  EXPECT_EQ(short_function_name("ns::put(int) [0x1170]", "_ZN2ns3putEi", NameDetail::kArguments),
            "ns::put(int) [0x1170]");
}

TEST(ShortName, OfJavaAsHotSpotHasThemInAPerfMap) {
  const char* full = "java.lang.Object java.util.HashMap.put(java.lang.Object, java.lang.Object)";
  EXPECT_EQ(short_function_name(full, ""), "java.util.HashMap.put");
  EXPECT_EQ(short_function_name(full, "", NameDetail::kArguments),
            "java.util.HashMap.put(java.lang.Object, java.lang.Object)");
  EXPECT_EQ(short_function_name(full, "", NameDetail::kFull), full);
  EXPECT_EQ(short_function_name("void Fib.<init>(int[])", ""), "Fib.<init>");
  EXPECT_EQ(short_function_name("void Fib.lambda$main$0(int[], int)", ""), "Fib.lambda$main$0");
  for (const char* other : {"Interpreter", "flush_icache_stub Runtime Stub", "void put (int)",
                            "JS:*f /a.js:1:2", "LazyCompile:*f(a) /x.js", "int main(int)", "f g.h"})
    EXPECT_EQ(short_function_name(other, ""), other);
}

TEST(ShortName, OfC) {
  EXPECT_EQ(short_c_name("sort_key.constprop.0.isra.3"), "sort_key");
  EXPECT_EQ(short_c_name("sort_key.cold", NameDetail::kClone), "sort_key.cold");
  EXPECT_EQ(short_c_name("[kernel]"), "[kernel]");
  EXPECT_EQ(short_c_name("LazyCompile:*agg /tmp/a b.js:1:2"), "LazyCompile:*agg /tmp/a b.js:1:2");
}

}  // namespace
}  // namespace pctally
