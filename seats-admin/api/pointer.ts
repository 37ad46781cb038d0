/** JSON Pointers (RFC 6901), by which faults are placed. */

/** The pointer to a member or an item of what `parent` points to. */
export function pointerTo(parent: string, name: string): string {
  return `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
