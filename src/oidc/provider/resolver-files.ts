/**
 * Parses `/etc/hosts` and the search list of `/etc/resolv.conf`. The resolver of `name-lookup.ts` (c-ares) itself reads
 * only the name servers of resolv.conf.
 */

import type { LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Read at each look-up, because container runtimes rewrite the files. A missing file counts as empty. */
async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n')
}

/** @param name in lower case, without a trailing dot */
export async function addressesInHosts(file: string, name: string): Promise<LookupAddress[]> {
  const found: LookupAddress[] = []
  for (const line of await linesOf(file)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 0 && names.some((each) => each.toLowerCase() === name)) found.push({ address, family })
  }
  return found
}

/** resolv.conf(5). */
export interface SearchSettings {
  readonly search: readonly string[]
  /** A name with at least this many dots is tried as it is before the search list. */
  readonly ndots: number
}

const MAX_SEARCH = 32
const MAX_NDOTS = 15

export async function searchSettings(file: string): Promise<SearchSettings> {
  let search: string[] = []
  let ndots = 1
  for (const line of await linesOf(file)) {
    const [keyword = '', ...words] = line.trim().split(/\s+/)
    // The last line applies.
    if (keyword === 'search' || keyword === 'domain') search = words.slice(0, MAX_SEARCH)
    if (keyword === 'options')
      for (const word of words) ndots = Number(/^ndots:(\d{1,3})$/.exec(word)?.[1] ?? ndots)
  }
  const domains = search.map((domain) => domain.replace(/^\.+|\.+$/g, '')).filter((domain) => domain !== '')
  return { search: domains, ndots: Math.min(ndots, MAX_NDOTS) }
}

/** The names to query, in order. */
export function candidates(name: string, { search, ndots }: SearchSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const dots = name.split('.').length - 1
  const searched = search.map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...searched] : [...searched, name]
}
