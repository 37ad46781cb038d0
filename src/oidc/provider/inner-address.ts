/**
 * Recognizes inner IP addresses: loopback, private, link-local, shared (CGNAT), metadata services, and everything else
 * that is not global unicast (IANA's special-purpose address registries).
 */

import { BlockList, isIPv4, isIPv6 } from 'node:net'

const INNER_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's metadata and platform services, at a public address.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  // Multicast, reserved, broadcast.
  '224.0.0.0/3',
]

/** Exceptions within 2000::/3, the global unicast range. */
const INNER_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20']

const inner4 = listOf(INNER_V4, 'ipv4')
const inner6 = listOf(INNER_V6, 'ipv6')
const global6 = listOf(['2000::/3'], 'ipv6')

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [base = '', prefix] = network.split('/')
    list.addSubnet(base, Number(prefix), family)
  }
  return list
}

/** True also for text that is not an IP address, so that it is refused. */
export function isInnerAddress(address: string): boolean {
  if (isIPv4(address)) return inner4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return true
  const embedded = embeddedV4(groupsOf(address))
  if (embedded !== null) return inner4.check(embedded, 'ipv4')
  return !global6.check(address, 'ipv6') || inner6.check(address, 'ipv6')
}

/**
 * The IPv4 address embedded in an IPv6 address: mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96, RFC 6052) or 6to4
 * (2002::/16, RFC 3056). Null for other addresses.
 */
function embeddedV4(groups: readonly number[]): string | null {
  const [first, second = 0, third = 0, ...rest] = groups
  const prefix = groups.slice(0, 6).join(' ')
  if (first === 0x2002) return dotted(second, third)
  if (prefix !== '0 0 0 0 0 65535' && prefix !== `${0x64} ${0xff9b} 0 0 0 0`) return null
  return dotted(rest[3] ?? 0, rest[4] ?? 0)
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight 16-bit groups. The URL parser gives the canonical form, without dotted quads. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}
