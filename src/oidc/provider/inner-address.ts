/**
 * Recognizes inner IP addresses: loopback, private, link-local, shared (CGNAT), metadata services, and
 * everything else that is not global unicast (IANA's special-purpose address registries).
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

/**
 * The global unicast range, and IPv6 addresses that contain an IPv4 address: mapped and NAT64 (RFC 6052).
 */
const GLOBAL_V6 = ['2000::/3', '::ffff:0:0/96', '64:ff9b::/96']

const embeddedV4 = INNER_V4.flatMap((network) => {
  const [base = '', prefix] = network.split('/')
  const long = 96 + Number(prefix)
  return [
    `::ffff:${base}/${long}`,
    `64:ff9b::${base}/${long}`,
    `2002:${groupsOf(base)}::/${16 + Number(prefix)}`,
  ]
})
const inner4 = listOf(INNER_V4, 'ipv4')
const inner6 = listOf([...INNER_V6, ...embeddedV4], 'ipv6')
const global6 = listOf(GLOBAL_V6, 'ipv6')

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
  return !global6.check(address, 'ipv6') || inner6.check(address, 'ipv6')
}

/** An IPv4 address as two groups of an IPv6 address. */
function groupsOf(address: string): string {
  const hex = Buffer.from(address.split('.').map(Number)).toString('hex')
  return `${hex.slice(0, 4)}:${hex.slice(4)}`
}
