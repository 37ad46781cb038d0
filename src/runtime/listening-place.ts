/** Where a gateway listens, so that the gateway after it at the same place proves that it has ended. */

import { readFileSync, readlinkSync } from 'node:fs'
import type { AddressInfo } from 'node:net'

/**
 * One process at a time listens at a place, unless it shares its port with others. The address is one of a network
 * namespace since a start of the machine: host names may be equal.
 *
 * @returns null where the kernel does not tell, as on other systems than Linux
 */
export function listeningPlace({ address, port }: AddressInfo): string | null {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${start} ${readlinkSync('/proc/self/ns/net')} ${address} ${port}`
  } catch {
    return null
  }
}
