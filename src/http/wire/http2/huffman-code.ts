/**
 * The Huffman code of HPACK (RFC 7541, Appendix B). The code is canonical: codes of a length are consecutive in the order
 * of their symbols, and the first code of a length follows the last one of the length before. So the symbols by length
 * give all of its numbers.
 */

/** The symbol that ends a string: no string may contain it. */
export const EOS = 256

/** Lengths in bits, and their symbols in order. EOS follows as the last one of 30 bits. */
const SYMBOLS: readonly (readonly [number, string])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\0$@[]~'],
  [14, '^}'],
  [15, '<`{'],
  [19, '\\\xc3\xd0'],
  [20, '\x80\x82\x83\xa2\xb8\xc2\xe0\xe2'],
  [21, '\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6'],
  [
    22,
    '\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9',
  ],
  [
    23,
    '\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef',
  ],
  [24, '\t\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed'],
  [25, '\xc7\xcf\xea\xeb'],
  [26, '\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff'],
  [27, '\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe'],
  [
    28,
    '\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9',
  ],
  [30, '\n\r\x16'],
]

export interface HuffmanCode {
  /** A byte, or {@link EOS}. */
  readonly symbol: number
  /** Of the code, in bits. */
  readonly length: number
  /** The bits, as a number of `length` bits. */
  readonly bits: number
}

/** In the order of the codes. */
export const HUFFMAN_CODES: readonly HuffmanCode[] = canonicalCodes()

function canonicalCodes(): HuffmanCode[] {
  const codes: HuffmanCode[] = []
  let bits = 0
  let before = 0
  for (const [length, symbols] of SYMBOLS) {
    bits <<= length - before
    before = length
    for (const symbol of symbols) codes.push({ symbol: symbol.charCodeAt(0), length, bits: bits++ })
  }
  codes.push({ symbol: EOS, length: before, bits })
  return codes
}
