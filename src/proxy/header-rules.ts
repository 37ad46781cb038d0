/**
 * The treatment of a header field by its name. Each spelling of a name is classified once and then cached, as most
 * requests repeat the same names.
 */

/**
 * The limit of cached spellings. Beyond it, new spellings are classified each time, so that clients cannot grow the
 * cache.
 */
const MAX_CACHED = 1024
/** Characters of a name that count: no name with a treatment of its own is as long. */
const MAX_SIGNIFICANT = 64

/**
 * The name as the most lenient reader sees it. CGI folds case, and maps all but letters and digits to one character:
 * `X_Seatgate.User` would reach an application as `x-seatgate-user`.
 */
export function foldName(name: string): string {
  if (name.length > MAX_SIGNIFICANT) return foldLong(name)
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}

/** As `foldName`: for long names the regular expression takes ten times as long. */
function foldLong(name: string): string {
  const bytes = Buffer.from(name.toLowerCase(), 'latin1')
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (!(byte >= 0x61 && byte <= 0x7a) && !(byte >= 0x30 && byte <= 0x39)) bytes[i] = 0x2d
  }
  return bytes.toString('latin1')
}

export class HeaderRules<Treatment> {
  readonly #cache = new Map<string, Treatment>()
  readonly #classify: (folded: string, exact: boolean) => Treatment
  readonly #maxSize: number

  /**
   * @param names frequent names, cached in advance
   * @param classify gets the folded name, and whether the name equals it but for case
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
 * Adds the names in a Connection line (RFC 9110, section 7.6.1), folded, to those of earlier lines. Null while there
 * are only `close` and `keep-alive`, as nearly always. The parser bounds the list.
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

/** Removes the named fields from a flat header list, in place. */
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
