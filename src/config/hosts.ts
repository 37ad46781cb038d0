/** Reads the names of hosts that a table serves, or that the built-in endpoints answer on. */

import { canonicalHost, isAddress } from '../model/host.ts'
import { asciiForm } from './addresses.ts'
import { InvalidValue } from './invalid-value.ts'

/** Canonical; `*.` for exactly one label. */
export function tableHost(text: string): string | InvalidValue {
  const wildcard = text.startsWith('*.')
  const name = wildcard ? text.slice(2) : text
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name))
    return new InvalidValue('has a scheme: write the host alone, such as a.example')
  if (/^[^[]*:|\]:/.test(name)) return new InvalidValue('has a port, which is not compared: remove it')
  if (name.includes('*'))
    return new InvalidValue('has a * that is not its whole first label: write *.a.example for one label')
  const host = canonicalHost(name)
  if (host === null)
    return new InvalidValue('is not the name of a host, or an address', false, asciiForm(name))
  if (!wildcard) return host
  if (isAddress(host)) return new InvalidValue('matches no host: an address has no labels')
  return `*.${host}`
}
