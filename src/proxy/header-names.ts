/**
 * What happens to a header, by its name. The table is read once for each spelling of a name that ever comes, then
 * remembered: most requests repeat the same few names.
 */

/** Spellings remembered; beyond that a new one is worked out each time, so that no client can make it grow. */
const MAX_CACHED = 1024
/** Characters of a name by which it is told from others: no name that matters has as many. */
const MAX_SIGNIFICANT = 64

/**
 * A name as the laxest reader sees it. CGI and its kin fold letters to one case and everything but letters and digits
 * to one character, so `X_Seatgate.User` would reach an application as `x-seatgate-user`.
 */
export function foldName(name: string): string {
  if (name.length > MAX_SIGNIFICANT) return foldLong(name)
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}

/** The same, where replacing character by character would take ten times as long. */
function foldLong(name: string): string {
  const bytes = Buffer.from(name.toLowerCase(), 'latin1')
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (!(byte >= 0x61 && byte <= 0x7a) && !(byte >= 0x30 && byte <= 0x39)) bytes[i] = 0x2d
  }
  return bytes.toString('latin1')
}

export class HeaderNames<Treatment> {
  readonly #cache = new Map<string, Treatment>()
  readonly #classify: (folded: string, exact: boolean) => Treatment
  readonly #maxSize: number

  /**
   * @param names the usual ones: they are remembered whatever clients send
   * @param judge gets the folded name, and whether it is spelled so but for case
   */
  constructor(names: Iterable<string>, classify: (folded: string, exact: boolean) => Treatment) {
    this.#classify = classify
    for (const name of names) {
      this.#cache.set(name, this.#classifyName(name))
      this.#cache.set(titleCase(name), this.#classifyName(name))
    }
    this.#maxSize = this.#cache.size + MAX_CACHED
  }

  treatment(name: string): Treatment {
    const cache = this.#cache.get(name)
    if (cache !== undefined) return cache
    if (name.length > MAX_SIGNIFICANT) return this.#classifyName(name.slice(0, MAX_SIGNIFICANT))
    const found = this.#classifyName(name)
    if (this.#cache.size < this.#maxSize) this.#cache.set(name, found)
    return found
  }

  #classifyName(name: string): Treatment {
    const folded = foldName(name)
    return this.#classify(folded, folded === name.toLowerCase())
  }
}

/** `x-request-id` → `X-Request-Id`. */
function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
}

/**
 * Adds the names that a line of Connection lists (RFC 9110, section 7.6.1), folded, to those of the lines before; null
 * while there is nothing but `close` and `keep-alive`, as nearly always. Whoever reads a message bounds the list.
 */
export function connectionNames(value: string, before: Set<string> | null): Set<string> | null {
  if (value === 'keep-alive' || value === 'close') return before
  let names = before
  for (const option of value.split(',')) {
    const name = foldName(option.trim())
    if (name === '' || name === 'close' || name === 'keep-alive') continue
    names ??= new Set()
    names.add(name)
  }
  return names
}

/** Takes out of a flat header list what `named` lists, in place. */
export function removeNamed(headers: string[], named: ReadonlySet<string>): void {
  let end = 0
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (named.has(foldName(name))) continue
    headers[end++] = name
    headers[end++] = headers[i + 1] ?? ''
  }
  headers.length = end
}
