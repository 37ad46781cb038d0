/**
 * Host names in one canonical form: lower case, without port and final dot, IPv6 addresses as RFC 5952 writes
 * them, in brackets. Route tables, `Host`, `:authority` and absolute-form targets are compared in this form
 * alone.
 */

import { isIPv4, isIPv6 } from 'node:net'

/** The most characters of a name without its final dot (RFC 1035, section 2.3.4). */
const MAX_NAME = 253
/** Labels as host names have them, and `_`, which names of containers have. */
const NAME = /^([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)\.?(?::[0-9]{1,5})?$/
const IPV6 = /^\[([0-9a-f:.]+)\](?::[0-9]{1,5})?$/
/** A last label that URL parsers take for the end of an IPv4 address, in whatever notation. */
const NUMERIC_END = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/

/**
 * @param authority a host with an optional port
 * @returns null: two readers could see different hosts: percent-escapes, sub-delimiters, empty labels,
 *   unusual notations of IPv4 addresses
 */
export function canonicalHost(authority: string): string | null {
  const text = authority.toLowerCase()
  if (text.charCodeAt(0) === BRACKET) return canonicalIPv6(text)
  const name = NAME.exec(text)?.[1]
  if (name === undefined || name.length > MAX_NAME) return null
  return NUMERIC_END.test(name) && !isIPv4(name) ? null : name
}

const BRACKET = 0x5b

function canonicalIPv6(text: string): string | null {
  const address = IPV6.exec(text)?.[1]
  return address !== undefined && isIPv6(address) ? new URL(`http://[${address}]`).hostname : null
}

/** @param host canonical */
export function isAddress(host: string): boolean {
  return host.charCodeAt(0) === BRACKET || NUMERIC_END.test(host)
}

/**
 * The wildcard that matches the host: `*.` for its first label. Null: none does, as for addresses.
 *
 * @param host canonical
 */
export function wildcardOf(host: string): string | null {
  const dot = host.indexOf('.')
  return dot < 0 || isAddress(host) ? null : `*${host.slice(dot)}`
}

/** Whether the name, perhaps with `*.` for one label, matches the host. Both are canonical. */
export function hostMatches(name: string, host: string): boolean {
  return name === host || (name.startsWith('*.') && name === wildcardOf(host))
}

/** The name of several hosts in ids: the first, and how many more there are. */
export function hostsLabel([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first}+${more.length}`
}

/**
 * Whether two authorities are the same host, in whatever case and with a final dot or not, and the same port
 * as written.
 */
export function isSameAuthority(one: string, other: string): boolean {
  if (one === other) return true
  return portOf(one) === portOf(other) && comparable(one) === comparable(other)
}

function comparable(authority: string): string {
  return canonicalHost(authority) ?? authority.toLowerCase()
}

/** The port with its colon; '': there is none. Colons of an IPv6 address come before a bracket. */
function portOf(authority: string): string {
  return /:[0-9]*$/.exec(authority)?.[0] ?? ''
}
