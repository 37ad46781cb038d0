/**
 * The key by which connections and requests of one client are counted: its IPv4 address, or its IPv6 /64 network, as
 * one client may own all of that.
 */

import { isIP, isIPv6 } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import { peerAddress, type TrustedProxies } from './forwarded.ts'

/** Elements of X-Forwarded-For that are read, from the last one. */
const MAX_HOPS = 32
/** The length of an address with brackets and port. */
const MAX_HOP_LENGTH = 64

/** @param address from `peerAddress` */
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

/**
 * The network of the client behind a trusted proxy: the last address in X-Forwarded-For that is not a trusted proxy.
 * Null without a trusted proxy, or if none of them names the client.
 */
export function forwardedNetwork(
  { socket, rawHeaders }: ClientRequest,
  proxies: TrustedProxies,
): string | null {
  if (clientNetwork(socket.remoteAddress, proxies) !== null) return null
  for (const hop of lastHops(rawHeaders)) {
    const address = hostOf(hop)
    if (isIP(address) === 0) return null
    if (!proxies.has(address)) return networkOf(address)
  }
  return null
}

/** The last hops, from last to first, at most `MAX_HOPS`. */
function* lastHops(rawHeaders: readonly string[]): Generator<string> {
  let remaining = MAX_HOPS
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'x-forwarded-for') continue
    const list = rawHeaders[i + 1] ?? ''
    for (let end = list.length; end >= 0 && remaining-- > 0;) {
      const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1)
      yield end - comma > MAX_HOP_LENGTH ? '' : list.slice(comma + 1, end).trim()
      end = comma
    }
  }
}

/** Without port and brackets. */
function hostOf(hop: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/.exec(hop) ?? []
  return peerAddress(bracketed ?? plain ?? hop)
}
