/**
 * Decodes Huffman strings of HPACK (RFC 7541, section 5.2) by a state machine that takes four bits a step. Its states are
 * the inner nodes of the code's tree. No code is shorter than five bits, so a step completes at most one symbol.
 */

import { HpackError } from './hpack-error.ts'
import { EOS, HUFFMAN_CODES } from './huffman-code.ts'

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
/** By state and nibble. */
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
