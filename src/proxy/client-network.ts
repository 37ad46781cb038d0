/**
 * The key by which connections and requests of one client are counted: its IPv4 address, or its IPv6 /64
 * network, as one client may own all of that.
 */

import { isIP, isIPv6 } from 'node:net'
import type { RequestOwner } from '../http/client/upstream-request.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { clientElement, hopAddress, peerAddress, type TrustedProxies } from './forwarded.ts'
import { forwardedElements } from './forwarded-field.ts'

const FORWARDED = fieldName('forwarded')
const FORWARDED_FOR = fieldName('x-forwarded-for')
const X_FORWARDED = [FORWARDED_FOR, fieldName('x-forwarded-proto'), fieldName('x-forwarded-host')]
/** Elements of X-Forwarded-For that are read, from the last one. */
const MAX_HOPS = 32
/** The length of an address with brackets and port. */
const MAX_HOP_LENGTH = 64

/** @param address from `peerAddress` or `writtenAddress` */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('::')
  const first = groupsOf(before)
  const last = after === undefined ? [] : groupsOf(after)
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

function groupsOf(text: string): string[] {
  // An IPv4 address at the end stands for two groups.
  return text === ''
    ? []
    : text.split(':').flatMap((group) => (group.includes('.') ? [group, group] : [group]))
}

/** The network of a peer; null for a trusted proxy, which carries requests of many clients. */
export function clientNetwork(peer: string | undefined, proxies: TrustedProxies): string | null {
  const address = peerAddress(peer)
  return proxies.has(address) ? null : networkOf(address)
}

/** The network of the client that a trusted proxy names; null if the peer is none, or names no client. */
export function forwardedNetwork(request: ClientRequest, proxies: TrustedProxies): string | null {
  if (clientNetwork(request.socket.remoteAddress, proxies) !== null) return null
  const address = namedAddress(request, proxies)
  return address === null ? null : networkOf(address)
}

/** The client that a trusted proxy names, in Forwarded (RFC 7239) if that is alone; null if there is none. */
function namedAddress(request: ClientRequest, proxies: TrustedProxies): string | null {
  const { fields } = request.section
  const lines = fields.values(FORWARDED)
  const isAlone = X_FORWARDED.every((name) => fields.values(name).every((value) => value === ''))
  if (lines.length === 0 || !isAlone) return forwardedAddress(request, proxies)
  const elements = forwardedElements(lines.join(', ')) ?? []
  const address = hopAddress(clientElement(elements, proxies)?.for ?? '')
  return isIP(address) === 0 || proxies.has(address) ? null : address
}

/**
 * The last address in X-Forwarded-For that is not a trusted proxy. The caller trusts the peer.
 *
 * @returns null where there is none
 */
export function forwardedAddress({ section }: ClientRequest, proxies: TrustedProxies): string | null {
  for (const hop of lastHops(section.fields.values(FORWARDED_FOR))) {
    const address = hopAddress(hop)
    if (isIP(address) === 0) return null
    if (!proxies.has(address)) return address
  }
  return null
}

/** The client's address: the peer's, unless a trusted proxy names another. Null once it is disconnected. */
export function clientAddress(request: ClientRequest, proxies: TrustedProxies): string | null {
  const peer = request.socket.remoteAddress ?? null
  if (peer === null || !proxies.has(peerAddress(peer))) return peer
  return namedAddress(request, proxies) ?? peer
}

/** The network of the client; null where a trusted proxy does not name it. */
export function knownNetwork(request: ClientRequest, proxies: TrustedProxies): string | null {
  return clientNetwork(request.socket.remoteAddress, proxies) ?? forwardedNetwork(request, proxies)
}

/** The network of the client: of the peer, unless a trusted proxy names the client. */
export function networkOfClient(request: ClientRequest, proxies: TrustedProxies): string {
  return knownNetwork(request, proxies) ?? networkOf(peerAddress(request.socket.remoteAddress))
}

/** The last hops, last first, at most `MAX_HOPS`. Empty elements are none (RFC 9110, section 5.6.1). */
function* lastHops(lines: readonly string[]): Generator<string> {
  let remaining = MAX_HOPS
  for (const list of lines.toReversed()) {
    for (let end = list.length; end >= 0 && remaining-- > 0;) {
      const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1)
      const isLong = end - comma > MAX_HOP_LENGTH
      const hop = isLong ? '' : list.slice(comma + 1, end).trim()
      if (hop !== '' || isLong) yield hop
      end = comma
    }
  }
}

/**
 * The owner of a request. Owners share the slots at an upstream. For a public route the owner is the client
 * network. Requests of a trusted proxy that names no client have one common owner.
 */
export function ownerOf({ request, evaluation }: Exchange, proxies: TrustedProxies): RequestOwner {
  const principal = evaluation?.decision.principal ?? null
  if (principal !== null) return [principal.tenant, principal.user]
  return ['', knownNetwork(request, proxies) ?? '']
}
