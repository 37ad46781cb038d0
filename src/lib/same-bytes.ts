import { timingSafeEqual } from 'node:crypto'

/** Whether the bytes are the same. The time depends on the lengths alone. */
export function areSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
