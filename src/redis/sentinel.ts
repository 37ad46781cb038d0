/** The master that sentinels name. What they say is checked: an address that is none would end ioredis' attempts. */

import type { ConnectionOptions } from 'node:tls'
import { Redis } from 'ioredis'
import type { RedisConfig } from '../config/config.ts'
import { CONNECT_TIMEOUT, connectorTo, ownServer, type Route } from './connectors.ts'
import { addressOf } from './expected.ts'
import type { NodeAddress } from './nodes.ts'

/** Asks the sentinels of the configuration, first the one that answered last. */
export function masterOf(config: RedisConfig, tls: ConnectionOptions | null): Route {
  const { nodes } = config
  let turn = 0
  return {
    async next() {
      let last: unknown = new Error('no sentinel is known')
      for (let tries = 0; tries < nodes.length; tries++) {
        const sentinel = nodes[turn % nodes.length] as NodeAddress
        try {
          return await ask(sentinel, config, tls)
        } catch (cause) {
          last = cause
          turn++
        }
      }
      throw last
    },
    check({ role }) {
      const right = role === undefined || role === 'master'
      // This sentinel has not heard of the failover yet.
      if (!right) turn++
      return right
    },
  }
}

async function ask(
  { host, port }: NodeAddress,
  config: RedisConfig,
  tls: ConnectionOptions | null,
): Promise<NodeAddress> {
  const client = new Redis({
    host,
    port,
    Connector: connectorTo(ownServer, tls),
    protocol: 2,
    username: config.sentinelUsername ?? undefined,
    password: config.sentinelPassword ?? undefined,
    commandTimeout: CONNECT_TIMEOUT,
    socketTimeout: CONNECT_TIMEOUT,
    retryStrategy: () => null,
    enableReadyCheck: false,
  })
  client.on('error', () => {})
  try {
    return addressIn(await client.call('SENTINEL', 'get-master-addr-by-name', config.master ?? ''))
  } finally {
    client.disconnect()
  }
}

/** @param reply of two strings */
function addressIn(reply: unknown): NodeAddress {
  const [host, port] = Array.isArray(reply) ? reply : []
  const address = addressOf(String(host), /^[0-9]{1,5}$/.test(String(port)) ? Number(port) : 0)
  if (address === null) throw new Error('the sentinel does not name a master')
  return address
}
