/** The upstream's responses, for each program that serves them. */

export const SMALL = JSON.stringify({ id: 7, title: 'Forklift', text: 'Up and down, never under the load.' })

/** Paths below `/v1/sizes/`, and bytes. */
export const SIZES = { '1k': 1024, '64k': 65_536 } as const

/** JSON of this number of bytes. */
export function filler(size: number): string {
  return JSON.stringify({ text: 'x'.repeat(size - 11) })
}
