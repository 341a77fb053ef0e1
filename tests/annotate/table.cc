// Work with templates, inlined calls, jumps and calls: what annotate has to show.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

template <class T>
__attribute__((noinline)) long sum(std::vector<T>& values, T step) {
  long total = 0;
  for (T& value : values) {
    value += step;
    total += value % 7;
  }
  return total;
}

__attribute__((noinline)) long count(std::map<std::string, long>& table, int round) {
  for (int i = 0; i < 200; ++i) ++table["/shop/article/" + std::to_string((i * 7919 + round) % 997)];
  return static_cast<long>(table.size());
}

int main(int argc, char** argv) {
  std::vector<int> small(20000, 1);
  std::vector<long> large(20000, 2);
  std::map<std::string, long> table;
  long total = 0;
  for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 6000); ++round)
    total += sum(small, 1) + sum(large, 2L) + count(table, round);
  printf("%ld\n", total);
}
