/** Reads the names of hosts that a table serves, or that the built-in endpoints answer on. */

import { domainToASCII } from 'node:url'
import { canonicalHost, isAddress } from '../model/host.ts'
import { InvalidValue, quote, type ValueParser } from './invalid-value.ts'

/** Canonical; `*.` for exactly one label. Refuses a host that was read before. */
export function distinctHost(): ValueParser<string> {
  const seen = new Set<string>()
  return (text) => {
    const host = tableHost(text)
    if (host instanceof InvalidValue) return host
    if (seen.has(host)) return new InvalidValue('is listed twice')
    seen.add(host)
    return host
  }
}

export function tableHost(text: string): string | InvalidValue {
  const wildcard = text.startsWith('*.')
  const name = wildcard ? text.slice(2) : text
  if (/^[^[]*:|\]:/.test(name)) return new InvalidValue('has a port: hosts are compared without it')
  if (name.includes('*')) return new InvalidValue('has a * that is not its whole first label')
  const host = canonicalHost(name)
  if (host === null) return new InvalidValue(`is not the name of a host, or an address${asciiHint(name)}`)
  if (!wildcard) return host
  if (isAddress(host)) return new InvalidValue('matches no host: an address has no labels')
  return `*.${host}`
}

/** Requests have names of other scripts in ASCII. */
function asciiHint(name: string): string {
  if (!/[^\0-\x7f]/.test(name)) return ''
  const ascii = domainToASCII(name)
  return ascii === '' ? '' : `: write it as ${quote(ascii)}`
}
