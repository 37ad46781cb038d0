/**
 * Why a gateway answered 503, by its log. On a machine of any speed the store may miss a timeout of the gateway: the
 * request is refused then, which is never a decision on an old state. Any other cause is a fault.
 */

import { randomUUID } from 'node:crypto'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import type { FleetGateway } from './gateway.ts'

/**
 * The store, or the gateway itself, was too slow for a timeout of a call, a login, a lock, a statement or an idle
 * transaction. The driver has its own words for a session that the server has ended.
 */
const LATE = [
  /the store did not respond within \d+ ms/,
  /the store responded too late/,
  /the store responds too slowly/,
  /no (?:response|connection) within \d+ ms/,
  /the server does not complete the login|the login to the store took too long/,
  /a read of the store waited more than \d+ ms for its turn/,
  /due to (?:lock|statement|idle-in-transaction) timeout/,
  /Connection terminated|connection error and is not queryable|ECONNRESET/,
  /the primary does not respond/,
]

/** Distinct causes other than a late store. @param from where the log begins, in characters */
export async function otherCauses(gateway: FleetGateway, from: number): Promise<string[]> {
  if (gateway.awake) await written(gateway)
  // A line may be cut, where the process was killed.
  const lines = gateway.log.slice(from).matchAll(/"code":"unavailable".*"cause":("(?:[^"\\]|\\.)*")/g)
  const causes = new Set([...lines].map(([, cause = '']) => String(JSON.parse(cause))))
  return [...causes].filter((cause) => !LATE.some((late) => late.test(cause)))
}

/** Resolves when all lines of earlier requests are in the log. */
async function written(gateway: FleetGateway): Promise<void> {
  const path = `/last/${randomUUID()}`
  const client = new Client(gateway.port)
  await client.send('GET', path)
  client.close()
  await until(() => gateway.log.includes(path), 'the line of a request', { pause: 50 })
}
