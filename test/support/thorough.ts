/**
 * The number of random cases: as many as each full run has time for, or more with `SEATGATE_THOROUGH=1`, as
 * in the nightly workflow.
 */

export const THOROUGH = process.env['SEATGATE_THOROUGH'] === '1'

/** Returns one of two amounts. */
export function amount({ usual, thorough }: { readonly usual: number; readonly thorough: number }): number {
  return THOROUGH ? thorough : usual
}
