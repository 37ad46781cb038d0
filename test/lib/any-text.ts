/** Texts of any characters. The table of fast-check's own unit `binary` takes a second of the processor in each process. */

import fc, { type StringConstraints } from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const LAST = 0x10ffff

/** One code point that is no surrogate. */
export const anyCharacter = fc
  .integer({ min: 0, max: LAST - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count))

export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: anyCharacter })
}
