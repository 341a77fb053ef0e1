// Three functions inlined into one that stays, in a namespace and a template.
volatile int sink;

namespace deep {

struct Leaf {
  [[gnu::always_inline]] static inline int run(int x);
};

int Leaf::run(int x) {  // start of leaf
  sink = x;             // in leaf
  return sink + 1;
}

template <class T>
[[gnu::always_inline]] inline T middle(T x) {  // start of middle
  T first = Leaf::run(x);  // in middle
  sink = first;
  return first;
}

[[gnu::noinline]] int outermost(int x) {  // start of outermost
  int sum = x;
  for (int i = 0; i < x; i++) {
    sum += middle<int>(i);  // in outermost
  }
  return sum;
}

}  // namespace deep

int main(int argc, char**) { return deep::outermost(argc); }
