/**
 * By what the connections and requests of one client are counted: its address, or for IPv6 the network of 64 bits that
 * it is in, all of which one client may have.
 */

import { isIP, isIPv6 } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import { peerAddress, type TrustedProxies } from './forwarded.ts'

/** Elements of X-Forwarded-For that are looked at, from the last one on. */
const MAX_HOPS = 32
/** Characters that an address with brackets and a port may have. */
const MAX_HOP_LENGTH = 64

/** @param address as `peerAddress` gives it */
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

/** Of a connection's other end; null for a proxy that is trusted: it comes with the requests of many. */
export function clientNetwork(peer: string | undefined, proxies: TrustedProxies): string | null {
  const address = peerAddress(peer)
  return proxies.has(address) ? null : networkOf(address)
}

/**
 * Of the client of a proxy that is trusted: the last address in X-Forwarded-For that is no such proxy's. Null where the
 * request came from no such proxy, or none of them says.
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

/** From the last to the first, no more of them than are looked at. */
function* lastHops(rawHeaders: readonly string[]): Generator<string> {
  let left = MAX_HOPS
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'x-forwarded-for') continue
    const list = rawHeaders[i + 1] ?? ''
    for (let end = list.length; end >= 0 && left-- > 0;) {
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
