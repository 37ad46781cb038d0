/**
 * How much is tried of what chance decides: as much as each full run has time for, or more with `SEATGATE_THOROUGH=1`, as in
 * the nightly workflow.
 */

export const THOROUGH = process.env['SEATGATE_THOROUGH'] === '1'

/** One of two amounts of the same. */
export function amount({ usual, thorough }: { readonly usual: number; readonly thorough: number }): number {
  return THOROUGH ? thorough : usual
}
