// Functions inlined into one another, with blocks, deeper than most compilers nest them.
volatile unsigned sink;

template <int kDepth>
[[gnu::always_inline]] inline unsigned deeper(unsigned x) {
  unsigned result;
  {
    unsigned inner = deeper<kDepth - 1>(x + kDepth);
    result = inner ^ kDepth;
  }
  return result;
}

template <>
[[gnu::always_inline]] inline unsigned deeper<0>(unsigned x) {
  sink = x;  // line 16
  return sink;
}

extern "C" [[gnu::noinline]] unsigned surface(unsigned x) { return deeper<100>(x); }
int main(int argc, char**) { return static_cast<int>(surface(static_cast<unsigned>(argc))); }
