/** The bounds of a JSON text. `src/lib/json.ts` counts its parts before it builds a value. */

export interface JsonLimits {
  /** The number of members in all objects together. */
  readonly members: number
  /** The number of elements in all arrays together. An empty object or array counts as one. */
  readonly elements: number
  /** The number of members of one object of more than 16 KiB; without it, {@link members} is the limit. */
  readonly inObject?: number
}
