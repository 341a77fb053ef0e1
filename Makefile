# A thin layer over scripts/, for fingers used to make. PREFIX and DESTDIR as everywhere.
PREFIX ?= /usr/local

.PHONY: all demo check bench install clean
all:
	scripts/build release
demo check bench:
	scripts/$@
install:
	PREFIX='$(PREFIX)' scripts/build release
	DESTDIR='$(DESTDIR)' cmake --install build/release
clean:
	rm -rf build
