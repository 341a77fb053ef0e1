/* Debug information that refers to itself: an inlined function whose origin is that inlined function, within a tree of
   blocks deeper than any compiler makes. */
#include "unit.inc"
        main_of 64

        abbreviations
        .uleb128 2, 0x2e        /* subprogram */
        .byte   1
        .uleb128 0x03, 0x08     /* name: string */
        addresses
        .uleb128 3, 0x1d        /* inlined subroutine */
        .byte   0
        .uleb128 0x31, 0x13     /* abstract_origin: ref4 */
        addresses
        .uleb128 4, 0x0b        /* lexical block */
        .byte   1
        .byte   0, 0
        .byte   0

        unit
        main_addresses
        .uleb128 2
        .asciz  "main"
        main_addresses
.Lself: .uleb128 3
        .4byte  .Lself - .Lunit
        .8byte  main + 8
        .8byte  8
        .rept   5000
        .uleb128 4
        .endr
        .rept   5000
        .byte   0
        .endr
        .byte   0, 0
.Lunit_end:
        .section .note.GNU-stack,"",%progbits
