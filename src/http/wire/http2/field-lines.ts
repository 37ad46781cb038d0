/** Field lines of HTTP/1.1 as fields of HTTP/2. */

/** RFC 9113, section 8.2.2. */
const CONNECTION_SPECIFIC = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/**
 * Adds name, value, … of each line to the list: names in lower case, and no field of a connection (RFC 9113, section 8.2).
 *
 * @param lines writable lines, with one space before the value
 */
export function pushLines(list: string[], lines: string): void {
  for (let at = 0; at < lines.length;) {
    const colon = lines.indexOf(':', at)
    const end = lines.indexOf('\r\n', colon)
    const name = lines.slice(at, colon).toLowerCase()
    if (!CONNECTION_SPECIFIC.has(name)) list.push(name, lines.slice(colon + 2, end))
    at = end + 2
  }
}
