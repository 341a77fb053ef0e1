/* Debug information that refers to itself: an inlined function whose origin is that inlined function, within a tree of
   blocks deeper than any compiler makes. */
        .text
        .globl  main
        .type   main, %function
main:   .zero 64
.Lend:  .size main, .-main

        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x11        /* compile unit */
        .byte   1
        .uleb128 0x11, 0x01     /* low_pc: addr */
        .uleb128 0x12, 0x07     /* high_pc: data8 */
        .byte   0, 0
        .uleb128 2, 0x2e        /* subprogram */
        .byte   1
        .uleb128 0x03, 0x08     /* name: string */
        .uleb128 0x11, 0x01
        .uleb128 0x12, 0x07
        .byte   0, 0
        .uleb128 3, 0x1d        /* inlined subroutine */
        .byte   0
        .uleb128 0x31, 0x13     /* abstract_origin: ref4 */
        .uleb128 0x11, 0x01
        .uleb128 0x12, 0x07
        .byte   0, 0
        .uleb128 4, 0x0b        /* lexical block */
        .byte   1
        .byte   0, 0
        .byte   0

        .section .debug_info,"",%progbits
.Lunit: .4byte  .Lunit_end - .Lversion
.Lversion:
        .2byte  4
        .4byte  0
        .byte   8
        .uleb128 1
        .8byte  main
        .8byte  .Lend - main
        .uleb128 2
        .asciz  "main"
        .8byte  main
        .8byte  .Lend - main
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
