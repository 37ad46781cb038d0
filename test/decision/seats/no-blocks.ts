/** A store in which no user is blocked. */

const asOf = <V>(value: V) => Promise.resolve({ seq: Number.MAX_SAFE_INTEGER, value })

export const NO_BLOCKS = {
  blocks: () => asOf({ now: 0, blocks: [] }),
  userBlock: () => asOf({ now: 0, block: null }),
}
