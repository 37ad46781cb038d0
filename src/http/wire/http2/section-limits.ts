/** The largest field section sent on a connection of many clients, which some peers end beyond it. */

export interface SectionLimits {
  /** Bytes of a name or of a value. */
  readonly string: number
  /** Bytes of all names and values, and 32 for each field (RFC 9113, section 6.5.2). */
  readonly bytes: number
  /** Pseudo-header fields included. */
  readonly fields: number
}

/**
 * For a proxy that announces no SETTINGS_MAX_HEADER_LIST_SIZE: HAProxy ends a connection for a section of 16
 * KiB, and for more than 201 fields.
 */
export const UNANNOUNCED_BY_PROXY: SectionLimits = { string: Infinity, bytes: 15 * 1024, fields: 200 }
/** The limits of a server that announces none: nginx ends a connection for a string above 8 KiB. */
export const UNANNOUNCED_BY_SERVER: SectionLimits = { ...UNANNOUNCED_BY_PROXY, string: 8192 }

/** @param bytes the peer's SETTINGS_MAX_HEADER_LIST_SIZE */
export function announced(bytes: number): SectionLimits {
  return { string: Infinity, bytes, fields: Infinity }
}

/** Bytes that RFC 9113, section 6.5.2, counts for each field beside its name and value. */
export const FIELD_OVERHEAD = 32
/** The colon, the space and the end of a line. */
const LINE_OVERHEAD = 4

/**
 * @param pseudo name, value, …
 * @param lines `count` further fields, as lines of HTTP/1.1
 */
export function exceeds(
  { string, bytes, fields }: SectionLimits,
  pseudo: readonly string[],
  lines: string,
  count: number,
): boolean {
  let size = lines.length + count * (FIELD_OVERHEAD - LINE_OVERHEAD)
  let longest = lines.length > string ? longestOf(lines) : 0
  for (const each of pseudo) {
    size += each.length + FIELD_OVERHEAD / 2
    if (each.length > longest) longest = each.length
  }
  return size > bytes || longest > string || count + pseudo.length / 2 > fields
}

function longestOf(lines: string): number {
  let longest = 0
  for (const line of lines.split('\r\n')) {
    const name = line.indexOf(':')
    longest = Math.max(longest, name, line.length - name - 2)
  }
  return longest
}
