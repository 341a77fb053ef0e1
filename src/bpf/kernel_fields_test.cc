#include "bpf/kernel_fields.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/btf.h>
#include <string.h>

#include <string>
#include <vector>

namespace pctally {
namespace {

/// struct pair { int first; int second:3; int third; }, an enum before it, a struct of another name after it.
std::vector<unsigned char> small_types() {
  btf* types = btf__new_empty();
  int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
  btf__add_enum(types, "colour", 4);
  btf__add_enum_value(types, "red", 1);
  btf__add_array(types, number, number, 7);
  btf__add_struct(types, "pair", 12);
  btf__add_field(types, "first", number, 0, 0);
  btf__add_field(types, "second", number, 32, 3);
  btf__add_field(types, "third", number, 64, 0);
  btf__add_struct(types, "other", 4);
  btf__add_field(types, "alone", number, 0, 0);
  uint32_t bytes = 0;
  auto* data = static_cast<const unsigned char*>(btf__raw_data(types, &bytes));
  std::vector<unsigned char> copy(data, data + bytes);
  btf__free(types);
  return copy;
}

int64_t offset(const std::vector<unsigned char>& bytes, const char* structure, const char* member) {
  return btf_member_offset(bytes.data(), bytes.size(), structure, member);
}

TEST(KernelFields, FindsMembersByName) {
  auto types = small_types();
  EXPECT_EQ(offset(types, "pair", "first"), 0);
  EXPECT_EQ(offset(types, "pair", "third"), 8);
  EXPECT_EQ(offset(types, "other", "alone"), 0);
}

TEST(KernelFields, RefusesWhatIsNotThere) {
  auto types = small_types();
  EXPECT_EQ(offset(types, "pair", "alone"), -1);
  EXPECT_EQ(offset(types, "pair", "second"), -1);  // a bit-field
  EXPECT_EQ(offset(types, "colour", "red"), -1);   // no struct
  EXPECT_EQ(offset(types, "pai", "first"), -1);
  EXPECT_EQ(offset(types, "pair", "ird"), -1);
  EXPECT_EQ(offset({}, "pair", "first"), -1);
}

TEST(KernelFields, CutAnywhereItReadsNothingBehindTheEnd) {
  auto types = small_types();
  for (size_t bytes = 0; bytes < types.size(); ++bytes) {
    std::vector<unsigned char> cut(types.begin(), types.begin() + static_cast<ptrdiff_t>(bytes));
    EXPECT_EQ(offset(cut, "pair", "third"), -1);
  }
}

TEST(KernelFields, SurvivesAnyByteDamaged) {
  for (size_t at = 0; at < small_types().size(); ++at)
    for (unsigned char value : {0x00, 0x01, 0x7f, 0xff}) {
      auto types = small_types();
      types[at] = value;
      int64_t found = offset(types, "pair", "third");
      EXPECT_GE(found, -1);
    }
}

// The same answer as libbpf's, which reads all of it.
TEST(KernelFields, AgreesWithLibbpfAboutTheRunningKernel) {
  auto fields = write_kernel_fields();
  if (!fields) GTEST_SKIP() << fields.error().text;
  btf* kernel = btf__load_vmlinux_btf();
  ASSERT_NE(kernel, nullptr);
  btf* ours = btf__parse(("/proc/self/fd/" + std::to_string(fields->get())).c_str(), nullptr);
  ASSERT_NE(ours, nullptr);
  auto member_of = [](const btf* types, const char* name) -> int64_t {
    const btf_type* type =
        btf__type_by_id(types, btf__find_by_name_kind(types, "task_struct", BTF_KIND_STRUCT));
    for (uint32_t i = 0; i < btf_vlen(type); ++i)
      if (!strcmp(btf__name_by_offset(types, btf_members(type)[i].name_off), name))
        return btf_member_bit_offset(type, i);
    return -1;
  };
  for (const char* name : {"pid", "tgid", "self_exec_id", "flags"}) {
    EXPECT_GE(member_of(ours, name), 0);
    EXPECT_EQ(member_of(ours, name), member_of(kernel, name));
  }
  btf__free(ours);
  btf__free(kernel);
}

}  // namespace
}  // namespace pctally
