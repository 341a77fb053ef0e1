/* A function within an enumeration, as rustc writes the methods of an enum. */
#include "unit.inc"
        main_of 16

        abbreviations
        .uleb128 2, 0x04        /* enumeration type */
        .byte   1
        .byte   0, 0
        .uleb128 3, 0x2e        /* subprogram */
        .byte   0
        .uleb128 0x03, 0x08     /* name: string */
        addresses
        .byte   0

        unit
        main_addresses
        .uleb128 2
        .uleb128 3
        .asciz  "method"
        main_addresses
        .byte   0, 0
.Lunit_end:
        .section .note.GNU-stack,"",%progbits
