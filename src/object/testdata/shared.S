/* A function whose name dwz has moved to the file "companions/common". */
        .text
        .globl  main
        .type   main, %function
main:   .zero 16
.Lend:  .size main, .-main

        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x11        /* compile unit */
        .byte   1
        .uleb128 0x11, 0x01     /* low_pc: addr */
        .uleb128 0x12, 0x07     /* high_pc: data8 */
        .byte   0, 0
        .uleb128 2, 0x2e        /* subprogram */
        .byte   0
        .uleb128 0x03, 0x1f21   /* name: GNU_strp_alt */
        .uleb128 0x11, 0x01
        .uleb128 0x12, 0x07
        .byte   0, 0
        .byte   0

        .section .debug_info,"",%progbits
        .4byte  .Lunit_end - .Lversion
.Lversion:
        .2byte  4
        .4byte  0
        .byte   8
        .uleb128 1
        .8byte  main
        .8byte  .Lend - main
        .uleb128 2
        .4byte  0
        .8byte  main
        .8byte  .Lend - main
        .byte   0
.Lunit_end:
        .section .gnu_debugaltlink,"",%progbits
        .asciz  "companions/common"
        .byte   0xab, 0xcd, 0xef, 1, 2, 3, 4, 5
        .section .note.GNU-stack,"",%progbits
