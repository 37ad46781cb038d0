/** What a JSON text may have: it is counted before anything is built. */

export interface JsonLimits {
  /** The number of members in all objects together. */
  readonly members: number
  /** The number of elements in all arrays together, and as many more as there are members. */
  readonly elements: number
}
