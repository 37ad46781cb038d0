/** What a JSON text may have: it is counted before anything is built. */

export interface JsonLimits {
  /** Of all objects together. */
  readonly members: number
  /** Of all arrays together, and as many more as there are members. */
  readonly elements: number
}
