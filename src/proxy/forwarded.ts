/** The X-Forwarded-* and Forwarded fields (RFC 7239), and the trusted proxies whose values they continue. */

import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { FieldLines } from '../http/wire/field-lines.ts'
import { isLongList, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'
import { detachedText } from '../lib/heap-size.ts'
import { RecentValues } from '../lib/recent-values.ts'

/** The peers whose X-Forwarded-* are continued. The values of all other peers are dropped. */
export class TrustedProxies {
  readonly #list: BlockList | null

  /** @param cidrs `10.0.0.0/8`, `fd00::/8`, or single addresses. Throws on anything else */
  constructor(cidrs: readonly string[]) {
    this.#list = cidrs.length === 0 ? null : new BlockList()
    for (const cidr of cidrs) this.#add(cidr)
  }

  #add(cidr: string): void {
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr) ?? []
    if (isIP(address) === 0) throw new Error(`not an IP address or CIDR block: ${cidr}`)
    const bits = isIPv6(address) ? 128 : 32
    this.#list?.addSubnet(address, Number(prefix ?? bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  /** @param address from {@link peerAddress} */
  has(address: string): boolean {
    if (this.#list === null || isIP(address) === 0) return false
    return this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
}

/**
 * The address of the peer on the wire: an IPv4-mapped IPv6 address becomes IPv4, and the zone, which is local, is
 * removed.
 */
export function peerAddress(remote: string | undefined): string {
  if (remote === undefined) return 'unknown'
  if (remote.startsWith('::ffff:') && isIPv4(remote.slice(7))) return remote.slice(7)
  const zone = remote.indexOf('%')
  return zone === -1 ? remote : remote.slice(0, zone)
}

/** As `peerAddress`, of an address that a proxy has written: an IPv4-mapped one may have any spelling. */
export function writtenAddress(text: string): string {
  const address = peerAddress(text)
  if (!MAPPED.test(address) || !isIPv6(address)) return address
  // The spelling of the operating system.
  return peerAddress(new SocketAddress({ address, family: 'ipv6' }).address)
}

/** Each IPv4-mapped address has this group. The spelling of others need not change, which would take 2 µs. */
const MAPPED = /:ffff:/i

/** The values of a trusted proxy as received; '' if absent. */
export class ForwardedContext {
  for = ''
  proto = ''
  host = ''
  forwarded = ''

  addFor(value: string): void {
    this.for = this.for === '' ? value : `${this.for}, ${value}`
  }

  addProto(value: string): void {
    this.proto = this.proto === '' ? value : MALFORMED
  }

  addHost(value: string): void {
    this.host = this.host === '' ? value : MALFORMED
  }

  addForwarded(value: string): void {
    this.forwarded = this.forwarded === '' ? value : `${this.forwarded}, ${value}`
  }
}

/** The values of an untrusted peer. */
const NOTHING: Readonly<ForwardedContext> = new ForwardedContext()

/** In place of a repeated value that is not a list: {@link forwardedFields} drops it. */
const MALFORMED = ','

/** RFC 7239, section 4: pairs `token=token` or `token="quoted"`, separated by `;`, in elements separated by `,`. */
const FORWARDED = (() => {
  const token = "[\\w!#$%&'*+.^`|~-]+"
  const pair = `${token}=(?:${token}|"[\\t !#-\\[\\]-~]*")`
  const element = `${pair}(?:;${pair})*`
  return new RegExp(`^${element}(?:[ \\t]*,[ \\t]*${element})*$`)
})()

/** `reg-name`, IPv4 or `[IPv6]`, and a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/**
 * The fields of the gateway: name, value, … `forwardedContext` is null for an untrusted peer. A malformed value of a
 * trusted proxy is dropped, not repaired: the chain then begins with the peer.
 */
export function forwardedFields(
  forwardedContext: ForwardedContext | null,
  peer: string,
  proto: string,
  host: string,
): string[] {
  const before = forwardedContext ?? NOTHING
  const hops = lastHops(before.for)
  const chain = isChain(hops) ? `${hops}, ${peer}` : peer
  const originalProto = /^https?$/.test(before.proto) ? before.proto : proto
  const originalHost = HOST.test(before.host) ? before.host : host
  const headers = ['x-forwarded-for', chain, 'x-forwarded-proto', originalProto]
  if (originalHost !== '') headers.push('x-forwarded-host', originalHost)
  if (!isLongList(before.forwarded) && FORWARDED.test(before.forwarded))
    headers.push('forwarded', `${before.forwarded}, for=${isIPv6(peer) ? `"[${peer}]"` : peer}`)
  return headers
}

interface DirectLines {
  readonly host: string
  readonly lines: FieldLines
}

/** Of the latest request of a connection, as the next one is mostly for the same host. */
const latest = new RecentValues<object, DirectLines>()
/** Characters: longer ones are no host names. */
const MAX_HOST = 255

/** The lines of {@link forwardedFields} for an untrusted peer. @param connection its peer and protocol stay the same */
export function directLines(connection: object, peer: string, proto: string, host: string): FieldLines {
  const known = latest.get(connection)
  if (known?.host === host) return known.lines
  const lines = FieldLines.of(forwardedFields(null, peer, proto, host))
  // A slice of the request would retain the whole request with its credentials. The check has made a flat text of the lines.
  if (lines.writable && host.length <= MAX_HOST) latest.set(connection, { host: detachedText(host), lines })
  return lines
}

/** The last elements, which proxies added. The client controls the earlier ones and their number. */
function lastHops(list: string): string {
  if (!isLongList(list)) return list
  let at = list.length
  for (let hops = 0; hops < MAX_LIST_ELEMENTS; hops++) at = list.lastIndexOf(',', at - 1)
  return list.slice(at + 1).trimStart()
}

function isChain(list: string): boolean {
  return list !== '' && list.split(',').every((hop) => isHop(hop.trim()))
}

/** An address with an optional port, or an obfuscated identifier (RFC 7239, section 6). */
function isHop(hop: string): boolean {
  if (isIP(hop) !== 0 || /^(?:unknown|_[\w.-]+)$/.test(hop)) return true
  const port = /^(?:\[(.+)\]|([^:]+))(?::\d{1,5})?$/.exec(hop)
  return port !== null && (isIPv6(port[1] ?? '') || isIPv4(port[2] ?? ''))
}
