/** The X-Forwarded-* and Forwarded fields (RFC 7239), and the trusted proxies whose values they continue. */

import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { FieldLines } from '../http/wire/field-lines.ts'
import { isLongList, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'
import { detachedText } from '../lib/heap-size.ts'
import { RecentValues } from '../lib/recent-values.ts'
import { type ForwardedElement, forwardedElements } from './forwarded-field.ts'

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
 * The address of the peer on the wire: an IPv4-mapped IPv6 address becomes IPv4, and the zone, which is
 * local, is removed.
 */
export function peerAddress(remote: string | undefined): string {
  if (remote === undefined) return 'unknown'
  if (remote.startsWith('::ffff:') && isIPv4(remote.slice(7))) return remote.slice(7)
  const zone = remote.indexOf('%')
  return zone === -1 ? remote : remote.slice(0, zone)
}

/** The canonical form of an address that a proxy has written. An IPv4-mapped one may have any spelling. */
export function writtenAddress(text: string): string {
  const address = peerAddress(text)
  if (!MAPPED.test(address) || !isIPv6(address)) return address
  // The spelling of the operating system.
  return peerAddress(new SocketAddress({ address, family: 'ipv6' }).address)
}

/** Each IPv4-mapped address has this group. The spelling of others need not change, which would take 2 µs. */
const MAPPED = /:ffff:/i

/** An address that a proxy has written, without port and brackets. */
export function hopAddress(hop: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/.exec(hop) ?? []
  return writtenAddress(bracketed ?? plain ?? hop)
}

/** The lists of a trusted proxy as received; '' if absent. */
export class ForwardedContext {
  readonly proxies: TrustedProxies
  for = ''
  proto = ''
  host = ''
  forwarded = ''

  constructor(proxies: TrustedProxies) {
    this.proxies = proxies
  }

  add(name: 'for' | 'proto' | 'host' | 'forwarded', value: string): void {
    this[name] = this[name] === '' ? value : `${this[name]}, ${value}`
  }
}

/** The values of an untrusted peer. */
const NOTHING: Readonly<ForwardedContext> = new ForwardedContext(new TrustedProxies([]))

/** `reg-name`, IPv4 or `[IPv6]`, and a port. */
const HOST = /^(?:[\w.~-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/**
 * What `ws` and `wss` stand for (RFC 6455, section 3) is what services know. Schemes have no case (RFC 3986,
 * section 3.1).
 */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['http', 'http'],
  ['ws', 'http'],
  ['https', 'https'],
  ['wss', 'https'],
])

/**
 * What the proxy says whose peer is the client: the proxies after it are trusted, so their elements name
 * trusted proxies. The elements before it may be the client's own.
 */
export function clientElement(
  elements: readonly ForwardedElement[],
  proxies: TrustedProxies,
): ForwardedElement | undefined {
  const at = elements.findLastIndex((element) => !proxies.has(hopAddress(element.for)))
  return elements[Math.max(0, at)]
}

/**
 * The fields of the gateway: name, value, … `forwardedContext` is null for an untrusted peer. A malformed
 * value of a trusted proxy is dropped, not repaired: the chain then begins with the peer.
 */
export function forwardedFields(
  forwardedContext: ForwardedContext | null,
  peer: string,
  proto: string,
  host: string,
): string[] {
  const before = forwardedContext ?? NOTHING
  const elements = forwardedElements(before.forwarded) ?? []
  const stated = statedBy(before, elements)
  const chain = [...hopsOf(stated.for), peer].join(', ')
  const originalHost = hostOf(stated.host) ?? host
  const headers = ['x-forwarded-for', chain, 'x-forwarded-proto', schemeOf(stated.proto) ?? proto]
  if (originalHost !== '') headers.push('x-forwarded-host', originalHost)
  if (elements.length > 0) {
    const own = `for=${isIPv6(peer) ? `"[${peer}]"` : peer}`
    headers.push('forwarded', [...elements.map(({ text }) => text), own].join(', '))
  }
  return headers
}

/** X-Forwarded-* count where there is one of them. */
function statedBy(
  context: Readonly<ForwardedContext>,
  elements: readonly ForwardedElement[],
): Pick<ForwardedContext, 'for' | 'proto' | 'host'> {
  const client = clientElement(elements, context.proxies)
  if (client === undefined || context.for !== '' || context.proto !== '' || context.host !== '')
    return context
  const hops = elements.map((element) => (element.for === '' ? 'unknown' : element.for))
  return { for: hops.join(', '), proto: client.proto, host: client.host }
}

/**
 * The scheme; null if there is none, or the list is malformed. If proxies disagree, it is `http`, which
 * promises less.
 */
function schemeOf(list: string): string | null {
  const schemes = elementsOf(list).map((each) => SCHEMES.get(each.toLowerCase()))
  if (schemes.length === 0 || schemes.includes(undefined)) return null
  return schemes.includes('http') ? 'http' : 'https'
}

/** The last host, which the nearest proxy has added: the client may have sent the others. Null as above. */
function hostOf(list: string): string | null {
  const hosts = elementsOf(list)
  return hosts.every((each) => HOST.test(each)) ? (hosts.at(-1) ?? null) : null
}

/**
 * Without the empty ones (RFC 9110, section 5.6.1). A list that is longer than any chain of proxies counts as
 * malformed.
 */
function elementsOf(list: string): string[] {
  if (list === '' || isLongList(list)) return []
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

interface DirectLines {
  readonly host: string
  readonly lines: FieldLines
}

/** The lines of the latest request of a connection, as the next one is mostly for the same host. */
const latest = new RecentValues<object, DirectLines>()
/** Characters: longer ones are no host names. */
const MAX_HOST = 255

/**
 * The lines of {@link forwardedFields} for an untrusted peer.
 *
 * @param connection its peer and protocol stay the same
 */
export function directLines(connection: object, peer: string, proto: string, host: string): FieldLines {
  const previous = latest.get(connection)
  if (previous?.host === host) return previous.lines
  const lines = FieldLines.of(forwardedFields(null, peer, proto, host))
  // A slice of the request would retain the whole request with its credentials. The check has made a flat
  // text of the lines.
  if (lines.writable && host.length <= MAX_HOST) latest.set(connection, { host: detachedText(host), lines })
  return lines
}

/**
 * The last hops, which proxies added; none if they are malformed. The client controls the earlier ones and
 * their number.
 */
function hopsOf(list: string): readonly string[] {
  let at = list.length
  if (!isLongList(list)) at = -1
  else for (let hops = 0; hops < MAX_LIST_ELEMENTS; hops++) at = list.lastIndexOf(',', at - 1)
  const hops = elementsOf(list.slice(at + 1))
  return hops.every(isHop) ? hops : []
}

/** An address with an optional port, or an obfuscated identifier (RFC 7239, section 6). */
function isHop(hop: string): boolean {
  if (isIP(hop) !== 0 || /^(?:unknown|_[\w.-]+)$/.test(hop)) return true
  const port = /^(?:\[(.+)\]|([^:]+))(?::\d{1,5})?$/.exec(hop)
  return port !== null && (isIPv6(port[1] ?? '') || isIPv4(port[2] ?? ''))
}
