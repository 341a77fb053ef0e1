// Three goroutines sum: run calls add, which calls sum, which has nothing on the stack.
package main

//go:noinline
func sum(a []int) int {
	s := 0
	for _, v := range a {
		s += v
	}
	return s
}

//go:noinline
func add(a []int, n int) int { return sum(a) + n }

func run(done chan int) {
	a, s := make([]int, 100), 0
	for i := 0; i < 4000000; i++ {
		s += add(a, i)
	}
	done <- s
}

func main() {
	done := make(chan int)
	for i := 0; i < 3; i++ {
		go run(done)
	}
	println(<-done, <-done, <-done)
}
