/** JSON Pointers (RFC 6901), which locate faults. */

/** The pointer to a member or item of `parent`. */
export function pointerTo(parent: string, name: string): string {
  return `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
