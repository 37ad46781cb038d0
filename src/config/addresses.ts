/** Parsers of listen addresses, host names, hosts of tables, origins and CIDR blocks. */

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { canonicalHost, isAddress } from '../model/host.ts'
import { InvalidValue, quote } from './invalid-value.ts'

/** Labels of letters, digits and `-`, and `_`, which container names contain. */
const HOST_NAME = /^(?=.{1,253}$)(?:(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\.)*(?!-)[A-Za-z0-9_-]{1,63}(?<!-)\.?$/
const PORT = /^(?:0|[1-9][0-9]{0,4})$/

export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port` or `[::1]:8080`. Port 0 selects a free port. */
export function address(text: string): Address | InvalidValue {
  const parts = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(text)
  if (parts === null) {
    return isIPv6(text.replace(/:[0-9]+$/, ''))
      ? new InvalidValue('must have its IPv6 address in brackets, such as [::1]:8080')
      : new InvalidValue('is not host:port, such as 0.0.0.0:8080 or [::1]:8080')
  }
  const [, bracketed, plain = '', port = ''] = parts
  if (!PORT.test(port) || Number(port) > 65535)
    return new InvalidValue('does not end with a port from 0 to 65535')
  if (bracketed !== undefined) {
    return isIPv6(bracketed)
      ? Object.freeze({ host: bracketed, port: Number(port) })
      : new InvalidValue('must have an IPv6 address between the brackets')
  }
  if (plain === '' || plain === '*')
    return new InvalidValue('has no host: use 0.0.0.0 for all IPv4 addresses of this machine')
  if (!isHost(plain)) return new InvalidValue(NO_HOST, false, asciiForm(plain))
  return Object.freeze({ host: plain, port: Number(port) })
}

const NO_HOST = 'has a host that is not a host name or an IP address'

/**
 * The ASCII form of a name in another script, as the correction of an invalid value; '' for a name in ASCII.
 */
function asciiForm(name: string): string {
  const ascii = /[^\0-\x7f]/.test(name) ? domainToASCII(name) : ''
  return ascii === '' ? '' : `: write it as ${quote(ascii)}`
}

/**
 * Refuses numeric names that are not dotted-quad IPv4 addresses. Resolvers interpret `127.1` and `0x7f`
 * differently, so one name would lead to different machines.
 */
function isHost(text: string): boolean {
  if (isIPv4(text)) return true
  return HOST_NAME.test(text) && !/(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/i.test(text)
}

/** A host name without a port; returned in lower case and without a trailing dot. */
export function hostName(text: string): string | InvalidValue {
  if (isIP(text) !== 0)
    return new InvalidValue('is an IP address: remove it, as the listener always accepts IP addresses')
  if (!isHost(text)) return new InvalidValue('is not a host name without a port, such as gateway.internal')
  return text.toLowerCase().replace(/\.$/, '')
}

/** A host of a table or of the built-in endpoints, in canonical form. `*.` stands for exactly one label. */
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

/** Whether a listener accepts connections on all addresses of the machine. */
export function isEveryAddress({ host }: Address): boolean {
  return ['0.0.0.0', '[::]'].includes(comparable(host))
}

/** Whether a valid CIDR block contains all addresses of its family. */
export function isEveryone(text: string): boolean {
  return text.endsWith('/0')
}

/** Whether two listeners cannot bind both addresses at the same time. */
export function addressesConflict(a: Address, b: Address): boolean {
  if (a.port !== b.port || a.port === 0) return false
  const [one, two] = [comparable(a.host), comparable(b.host)]
  if (one === two || one === '[::]' || two === '[::]') return true
  return (one === '0.0.0.0' && !two.startsWith('[')) || (two === '0.0.0.0' && !one.startsWith('['))
}

function comparable(host: string): string {
  if (host.toLowerCase() === 'localhost') return '127.0.0.1'
  if (!isIPv6(host)) return host.toLowerCase()
  return host.includes('%') ? `[${host}]` : new URL(`http://[${host}]`).hostname
}

/** An origin (RFC 6454): `http://host` or `https://host`, with an optional port. */
export function origin(text: string): URL | InvalidValue {
  if (!/^https?:\/\//i.test(text)) return new InvalidValue('does not begin with http:// or https://')
  const rest = text.slice(text.indexOf('//') + 2)
  if (rest.includes('@'))
    return new InvalidValue('has a user name or a password, which is not allowed here: remove it')
  if (/[/?#\\]/.test(rest))
    return new InvalidValue('must have scheme, host and port only, without a trailing slash, path or query')
  const parts = /^(\[[^[\]]*\]|[^:]*)(?::([^:]*))?$/.exec(rest)
  const [, host = '', port = '1'] = parts ?? []
  const valid = host.startsWith('[') ? isIPv6(host.slice(1, -1)) && !host.includes('%') : isHost(host)
  if (!valid) return new InvalidValue(NO_HOST, false, asciiForm(host))
  if (!PORT.test(port) || port === '0' || Number(port) > 65535)
    return new InvalidValue('has a port that is not from 1 to 65535')
  return new URL(text)
}

/** The {@link origin} of a service. The path is another key, base_path. */
export function targetOrigin(text: string): URL | InvalidValue {
  const url = origin(text)
  if (!(url instanceof InvalidValue) || !/^https?:\/\/[^/?#\\@]+\/[^/?#\\@]/i.test(text)) return url
  return new InvalidValue(`${url.message}: base_path of the upstream stands before the path of each request`)
}

/** An {@link origin} that leads to one machine, in the form that browsers write. */
export function reachableOrigin(text: string): string | InvalidValue {
  const url = origin(text)
  // The value may contain a password: the message does not show it.
  if (url instanceof InvalidValue) return new InvalidValue(url.message, text.includes('@'), url.correction)
  return ['0.0.0.0', '[::]'].includes(url.hostname)
    ? new InvalidValue('names no machine: write the address or the host name of this instance')
    : url.origin
}

/** `10.0.0.0/8`, `::1/128`, or a single IP address. */
export function cidr(text: string): string | InvalidValue {
  const [base = '', prefix, ...more] = text.split('/')
  const version = base.includes('%') ? 0 : isIP(base)
  if (version === 0 || more.length > 0)
    return new InvalidValue('is not a CIDR such as 10.0.0.0/8, or an IP address')
  const bits = version === 4 ? 32 : 128
  if (prefix === undefined) return text
  if (/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits) return text
  return new InvalidValue(`does not end with a prefix length from 0 to ${bits}`)
}

/** Whether a name or an address is a loopback one (RFC 6761, section 6.3; RFC 1122; RFC 4291). */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]|::1)$/i.test(host)
}
