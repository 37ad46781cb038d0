/**
 * Decodes Huffman strings of HPACK (RFC 7541, section 5.2) by a state machine that takes four bits a step.
 * Its states are the inner nodes of the code's tree. No code is shorter than five bits, so a step completes
 * at most one symbol.
 */

import { HpackError } from './http2-errors.ts'

/** The symbol that ends a string: no string may contain it. */
export const EOS = 256

/**
 * The Huffman code of HPACK (RFC 7541, Appendix B): lengths in bits, and their symbols in order. EOS follows
 * as the last one of 30 bits. The code is canonical: codes of a length are consecutive in the order of their
 * symbols, and the first code of a length follows the last one of the length before. So the symbols by length
 * give all of its numbers.
 */
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

interface HuffmanCode {
  /** A byte, or {@link EOS}. */
  readonly symbol: number
  /** The length of the code in bits. */
  readonly length: number
  /** The bits, as a number of `length` bits. */
  readonly bits: number
}

/** The codes in their order. */
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

/** Inner nodes of the tree; 0 is the root. */
const NODES = HUFFMAN_CODES.length - 1
/** The state after EOS. No input leaves it. */
const DEAD = NODES

/** Parts of a step: next state, symbol, and whether the step completes the symbol. */
const STATE_MASK = 0x1ff
const SYMBOL_SHIFT = 9
const COMPLETES_SHIFT = 17

/** The longest padding, in bits. */
const MAX_PADDING = 7

/** The tree: children of node `n` are at `2 n` and `2 n + 1`; an inner node, or `~symbol` of a leaf. */
const TREE = buildTree()
/** The steps by state and nibble. */
const STEPS = Uint32Array.from({ length: (NODES + 1) * 16 }, (_, i) => stepOf(i >> 4, i & 15))
/** Whether a string may end in the state. */
const FINAL = finalStates()

function buildTree(): Int16Array {
  const tree = new Int16Array(2 * NODES)
  let nodes = 1
  for (const { symbol, length, bits } of HUFFMAN_CODES) {
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const child = 2 * node + ((bits >> bit) & 1)
      // The root is the child of no node.
      if (tree[child] === 0) tree[child] = nodes++
      node = tree[child] ?? 0
    }
    tree[2 * node + (bits & 1)] = ~symbol
  }
  return tree
}

function stepOf(state: number, nibble: number): number {
  let node = state
  let completed = 0
  for (let bit = 3; bit >= 0; bit--) {
    if (node === DEAD) return DEAD
    node = TREE[2 * node + ((nibble >> bit) & 1)] ?? 0
    if (node >= 0) continue
    const symbol = ~node
    node = symbol === EOS ? DEAD : 0
    completed = (symbol << SYMBOL_SHIFT) | (1 << COMPLETES_SHIFT)
  }
  return node === DEAD ? DEAD : node | completed
}

/** Padding is the beginning of EOS, which is all ones, and shorter than a byte. */
function finalStates(): Uint8Array {
  const final = new Uint8Array(NODES + 1)
  let node = 0
  for (let bits = 0; bits <= MAX_PADDING; bits++) {
    final[node] = 1
    node = TREE[2 * node + 1] ?? 0
  }
  return final
}

let scratch = Buffer.allocUnsafeSlow(4096)

/**
 * Throws an HpackError if the code is malformed.
 *
 * @param maxBytes of the decoded string
 * @returns latin1; null if the string is longer
 */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number, maxBytes: number): string | null {
  // Five bits a symbol at least.
  let most = Math.floor(((to - from) * 8) / 5)
  if (most > maxBytes) {
    if (decodedLength(bytes, from, to) > maxBytes) return null
    most = maxBytes
  }
  // A step that completes no symbol writes one byte that does not count.
  if (most >= scratch.length) scratch = Buffer.allocUnsafeSlow(most + 1)
  return scratch.toString('latin1', 0, decodeInto(scratch, bytes, from, to))
}

function decodeInto(out: Uint8Array, bytes: Uint8Array, from: number, to: number): number {
  let state = 0
  let count = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    const first = STEPS[(state << 4) | (byte >> 4)] ?? 0
    out[count] = first >> SYMBOL_SHIFT
    count += first >> COMPLETES_SHIFT
    const second = STEPS[((first & STATE_MASK) << 4) | (byte & 15)] ?? 0
    out[count] = second >> SYMBOL_SHIFT
    count += second >> COMPLETES_SHIFT
    state = second & STATE_MASK
  }
  checkEnd(state)
  return count
}

function decodedLength(bytes: Uint8Array, from: number, to: number): number {
  let state = 0
  let count = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    const first = STEPS[(state << 4) | (byte >> 4)] ?? 0
    const second = STEPS[((first & STATE_MASK) << 4) | (byte & 15)] ?? 0
    count += (first >> COMPLETES_SHIFT) + (second >> COMPLETES_SHIFT)
    state = second & STATE_MASK
  }
  checkEnd(state)
  return count
}

function checkEnd(state: number): void {
  if (FINAL[state] === 1) return
  throw new HpackError(state === DEAD ? 'A string contains EOS.' : 'The padding of a string is malformed.')
}
