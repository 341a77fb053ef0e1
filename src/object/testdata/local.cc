// Functions that no other unit can see. GCC gives them no linkage name.
volatile int sink;

namespace {

struct First {
  [[gnu::always_inline]] void run(int x) const { sink = x; }
};

struct Second {
  [[gnu::always_inline]] void run(int x) const { sink = x + 1; }
};

// Inlined, and with code of its own.
[[gnu::always_inline]] inline void both(int x) { sink = x + 6; }

}  // namespace

void (*volatile pointer)(int) = both;

namespace deep {

extern "C" [[gnu::always_inline]] inline void plain(int x) { sink = x + 2; }

[[gnu::noinline]] void visit(int x) {
  struct Local {
    [[gnu::always_inline]] void run(int y) const { sink = y + 3; }
  };
  const auto one = [](int y) __attribute__((always_inline)) { sink = y + 4; };  // one lambda
  const auto two = [](int y) __attribute__((always_inline)) { sink = y + 5; };  // two lambda
  First().run(x);
  Second().run(x);
  plain(x);
  both(x);
  Local().run(x);
  one(x);
  two(x);
}

}  // namespace deep

int main(int argc, char**) {
  deep::visit(argc);
  return 0;
}
