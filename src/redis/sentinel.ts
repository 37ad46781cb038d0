/** Finds the master through sentinels. The address is validated, because an invalid one stops ioredis' retries. */

import type { ConnectionOptions } from 'node:tls'
import { Redis } from 'ioredis'
import type { RedisConfig } from '../config/config.ts'
import { CONNECT_TIMEOUT, connectorTo, ownServer, type Route } from './connectors.ts'
import { addressOf } from './reply-validator.ts'
import type { NodeAddress } from './nodes.ts'

/** Queries the configured sentinels, beginning with the last one that replied. */
export function masterOf(config: RedisConfig, tls: ConnectionOptions | null): Route {
  const { nodes } = config
  let current = 0
  return {
    async next() {
      let last: unknown = new Error('no sentinel is known')
      for (let tried = 0; tried < nodes.length; tried++) {
        const sentinel = nodes[current % nodes.length] as NodeAddress
        try {
          return await queryMaster(sentinel, config, tls)
        } catch (cause) {
          last = cause
          current++
        }
      }
      throw last
    },
    check({ role }) {
      const isMaster = role === undefined || role === 'master'
      // This sentinel does not know of the failover yet.
      if (!isMaster) current++
      return isMaster
    },
  }
}

async function queryMaster(
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
  let lost: unknown = null
  client.on('error', (cause) => (lost = cause))
  try {
    return parseMaster(await client.call('SENTINEL', 'get-master-addr-by-name', config.master ?? ''))
  } catch (cause) {
    // The command's own error says only that the connection is closed.
    throw lost ?? cause
  } finally {
    client.disconnect()
  }
}

/** @param reply host and port as strings */
function parseMaster(reply: unknown): NodeAddress {
  const [host, port] = Array.isArray(reply) ? reply : []
  const address = addressOf(String(host), /^[0-9]{1,5}$/.test(String(port)) ? Number(port) : 0)
  if (address === null) throw new Error('the sentinel names no master')
  return address
}
