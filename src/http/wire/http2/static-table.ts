/** The static table of HPACK (RFC 7541, Appendix A). Its indices begin at 1. */

/** Names with the values of their entries, in order. A name without values has an entry with an empty one. */
const ENTRIES: readonly (readonly [string, ...string[]])[] = [
  [':authority'],
  [':method', 'GET', 'POST'],
  [':path', '/', '/index.html'],
  [':scheme', 'http', 'https'],
  [':status', '200', '204', '206', '304', '400', '404', '500'],
  ['accept-charset'],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language'],
  ['accept-ranges'],
  ['accept'],
  ['access-control-allow-origin'],
  ['age'],
  ['allow'],
  ['authorization'],
  ['cache-control'],
  ['content-disposition'],
  ['content-encoding'],
  ['content-language'],
  ['content-length'],
  ['content-location'],
  ['content-range'],
  ['content-type'],
  ['cookie'],
  ['date'],
  ['etag'],
  ['expect'],
  ['expires'],
  ['from'],
  ['host'],
  ['if-match'],
  ['if-modified-since'],
  ['if-none-match'],
  ['if-range'],
  ['if-unmodified-since'],
  ['last-modified'],
  ['link'],
  ['location'],
  ['max-forwards'],
  ['proxy-authenticate'],
  ['proxy-authorization'],
  ['range'],
  ['referer'],
  ['refresh'],
  ['retry-after'],
  ['server'],
  ['set-cookie'],
  ['strict-transport-security'],
  ['transfer-encoding'],
  ['user-agent'],
  ['vary'],
  ['via'],
  ['www-authenticate'],
]

const PAIRS = ENTRIES.flatMap(([name, ...values]) =>
  values.length === 0 ? [[name, ''] as const] : values.map((value) => [name, value] as const),
)

/** The highest index. */
export const STATIC_ENTRIES: number = PAIRS.length

/** The names by index. The entry at 0 is not part of the table. */
export const STATIC_NAMES: readonly string[] = ['', ...PAIRS.map(([name]) => name)]
export const STATIC_VALUES: readonly string[] = ['', ...PAIRS.map(([, value]) => value)]

/** The first index of a name. */
const INDICES: ReadonlyMap<string, number> = new Map(
  PAIRS.map(([name], i): [string, number] => [name, i + 1]).toReversed(),
)

/** @returns the first index of the name; 0 without one */
export function staticIndex(name: string): number {
  return INDICES.get(name) ?? 0
}

/**
 * @param first the first index of a name
 * @returns its index with the value; 0 without one
 */
export function exactStaticIndex(first: number, value: string): number {
  const name = STATIC_NAMES[first]
  for (let at = first; STATIC_NAMES[at] === name; at++) if (STATIC_VALUES[at] === value) return at
  return 0
}
